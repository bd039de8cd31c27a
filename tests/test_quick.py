"""`scripts/test --quick` knows tests for every room, and does not choose too many."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.quick import MOST_FILES, ROOT, near
from tests.room_tests import EVERYWHERE, LONG, LONGEST, TESTED_BY

SOURCES = ROOT / "src" / "kith"


def rooms() -> dict[str, Path]:
    """Every room with one of its files; what stands beside the layers is a room of its own."""
    found: dict[str, Path] = {}
    for path in sorted(SOURCES.rglob("*.py")):
        parts = path.relative_to(SOURCES.parent).with_suffix("").parts
        found.setdefault(".".join([part for part in parts if part != "__init__"][:3]), path)
    return found


def test_every_room_has_tests_that_are_run_when_it_changes() -> None:
    without = [room for room, path in rooms().items() if not near([path.relative_to(ROOT).as_posix()])]
    assert without == [], "name a test after these rooms, or add them to tests/room_tests.py"


def test_the_tests_that_are_named_exist() -> None:
    named = {name for names in TESTED_BY.values() for name in names} | {*EVERYWHERE, *LONG, *LONGEST}
    assert sorted(name for name in named if not (ROOT / "tests" / name).is_file()) == []


@pytest.mark.parametrize(
    "changed",
    [
        ["src/kith/base/errors.py"],
        ["src/kith/base/db/session.py", "src/kith/base/work.py"],
        ["pyproject.toml"],
        ["tests/conftest.py"],
        ["src/kith/web/templates/base.html"],
        ["src/kith/locale/de/LC_MESSAGES/pages.po"],
        [path.relative_to(ROOT).as_posix() for path in sorted(SOURCES.rglob("*.py"))],
    ],
    ids=lambda changed: changed[0] if len(changed) < 3 else "all",
)
def test_what_is_used_everywhere_selects_a_bounded_number(changed: list[str]) -> None:
    assert 0 < len(near(changed)) <= MOST_FILES


def test_a_change_of_everything_tries_a_little_of_every_layer() -> None:
    everything = [path.relative_to(ROOT).as_posix() for path in sorted(SOURCES.rglob("*.py"))]
    layers = {path.split("/")[1] for path in near(everything)}
    assert {"base", "cli", "identity", "social", "web"} <= layers


def test_a_rooms_own_tests_come_first() -> None:
    chosen = near(["src/kith/social/lists/service.py"])
    assert chosen[0] == "tests/social/test_lists.py" or "tests/social/test_lists.py" in chosen[:4]
    assert near(["src/kith/web/health.py"])[:1] == ["tests/base/test_readiness.py"]
    assert near(["tests/social/test_lists.py"])[0] == "tests/social/test_lists.py"


@pytest.mark.parametrize(
    ("changed", "chosen"),
    [
        ("social/relationships/store/follows.py", {"social/test_relationships.py", "social/test_timelines.py"}),
        ("social/relationships/store/domains.py", {"social/test_collections.py"}),
        ("social/statuses/store/viewing.py", {"social/test_statuses.py", "social/test_quotes.py"}),
        (
            "identity/providers/oauth2/authorize/approval.py",
            {"identity/test_authorize.py", "identity/test_oauth_token.py"},
        ),
        ("base/jobs/store.py", {"base/test_jobs.py", "cli/test_jobs.py"}),
    ],
)
def test_what_a_module_is_used_for_is_chosen(changed: str, chosen: set[str]) -> None:
    assert {f"tests/{name}" for name in chosen} <= set(near([f"src/kith/{changed}"]))


def test_what_takes_longest_is_chosen_only_when_it_was_changed_itself() -> None:
    longest = {f"tests/{name}" for name in LONGEST}
    assert not longest & set(near(["src/kith/base/jobs/store.py", "src/kith/web/templates/base.html"]))
    assert "tests/crash/test_kills.py" in near(["tests/crash/test_kills.py"])
