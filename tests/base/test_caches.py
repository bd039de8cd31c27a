"""Caches: what is kept, for how long, and never more than so much."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

import kith
from kith.base import caches
from kith.base.caches import ByVersion, ForAWhile, UntilWritten
from kith.base.limits import Limiter
from tests.sources import tree_of
from tests.town import Town

SOURCES = sorted(Path(kith.__file__).parent.rglob("*.py"))


def test_by_version_holds_no_more_than_its_limit() -> None:
    kept: ByVersion[bytes] = ByVersion("tried_by_version", 100_000)
    for number in range(10_000):
        kept.put((number, 1), b"x", 700)
    assert kept.count() <= 100
    assert kept.get((9_999, 1)) == b"x"
    assert kept.get((0, 1)) is None


def test_what_is_asked_for_stays_longest() -> None:
    kept: ByVersion[int] = ByVersion("tried_use", 100_000)
    for number in range(1_000):
        kept.put(number, number, 700)
        kept.get(0)
    assert kept.get(0) == 0


def test_for_a_while_holds_no_more_than_its_limit() -> None:
    kept: ForAWhile[int] = ForAWhile("tried_most", seconds=1000, most=50)
    for number in range(10_000):
        kept.put(number, number)
    assert kept.count() <= 50
    assert kept.get(9_999) == 9_999
    assert kept.get(0) is None


@pytest.mark.parametrize("seconds", [0, -1])
def test_what_has_ended_is_not_given(seconds: float) -> None:
    kept: ForAWhile[int] = ForAWhile("tried_end", seconds=1000, most=50)
    kept.put("long", 1)
    kept.put("short", 2, seconds=seconds)
    assert (kept.get("long"), kept.get("short")) == (1, None)


def test_nobody_is_kept_longer_than_the_cache_says() -> None:
    kept: ForAWhile[int] = ForAWhile("tried_longest", seconds=0, most=50)
    kept.put("one", 1, seconds=1000)
    assert kept.get("one") is None


async def test_what_was_read_is_kept_until_somebody_writes(town: Town) -> None:
    async with town.house() as house:
        kept = UntilWritten("tried_written", house.database)
        version = kept.now()
        kept.put(version, "key", "value")
        before = kept.get(version, "key")
        await Limiter(house.database).try_writing()
        assert before == (None if town.engine == "postgresql" else "value")
        assert kept.get(kept.now(), "key") is None


def _told(metric: str, name: str) -> float | None:
    return REGISTRY.get_sample_value(metric, {"cache": name})


def test_entries_hits_and_misses_are_told_by_name() -> None:
    kept: ForAWhile[int] = ForAWhile("tried_telling", seconds=1000, most=50)
    kept.put("one", 1)
    for key in ("one", "one", "two"):
        kept.get(key)
    caches.tell()
    kept.get("two")
    caches.tell()
    assert _told("kith_cache_entries", "tried_telling") == 1
    assert _told("kith_cache_hits_total", "tried_telling") == 2
    assert _told("kith_cache_misses_total", "tried_telling") == 2


def test_bytes_are_told_as_they_come_and_go() -> None:
    """Twice the limit is asked for, so that the first entries are forgotten."""
    kept: ByVersion[bytes] = ByVersion("tried_sizes", 40_000)
    for number in range(8):
        kept.put(number, b"", 9_700)
        assert kept.size() == 10_000 * kept.count() <= 40_000
        kept.get(number - 2)  # which moves it from the old generation to the young one
        assert kept.size() == 10_000 * kept.count() <= 40_000
    caches.tell()
    assert _told("kith_cache_bytes", "tried_sizes") == kept.size() > 0


def _decorators() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, ast.expr]]:
    for path in SOURCES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for decorator in node.decorator_list:
                    yield f"{path}:{node.lineno}", node, decorator


def test_every_memory_of_a_function_has_a_size() -> None:
    """`cache` is for functions without parameters; any other has `lru_cache` with a number."""
    endless = []
    for place, function, decorator in _decorators():
        words = ast.unparse(decorator).removeprefix("functools.")
        if words == "cache" and function.args.args + function.args.kwonlyargs:
            endless.append(place)
        if words.startswith("lru_cache") and (words in ("lru_cache", "lru_cache()") or "None" in words):
            endless.append(place)
    assert endless == []
