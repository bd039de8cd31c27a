"""What clients make up leaves nothing behind: no label, no key, no fault."""

from __future__ import annotations

import asyncio
import re

import pytest

from kith.base.caches import UntilWritten
from kith.base.limits import MOST_COUNTS, Limiter, LimitRule
from tests.conftest import TownBuilder
from tests.town import Town
from tests.town.ports import ReservedPort

METHODS = [f"M{word}" for word in ("abc", "def", "x-y", "ZZ")] + ["PROPFIND", "TRACE", "MKCOL", "SEARCH"]


async def _raw(town: Town, line: str) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", town.port)
    writer.write(f"{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode("latin-1"))
    answer = await reader.read()
    writer.close()
    return int(answer.split(b" ", 2)[1])


async def test_invented_methods_are_refused_and_make_no_numbers_of_their_own(
    new_town: TownBuilder, metrics_port: ReservedPort
) -> None:
    port = metrics_port.number
    town = await new_town(metrics_bind=f"127.0.0.1:{port}")

    refused = {await _raw(town, f"{method} {path}") for method in METHODS for path in ("/nothing-here", "/health")}
    for number in range(30):
        await _raw(town, f"GET /nothing-here/{number}")
    numbers = (await town.http.get(f"http://127.0.0.1:{port}/metrics")).text

    assert refused == {405, 501}
    counted = re.findall(r'kith_request_seconds_count\{method="(\w+)",route="([^"]*)"', numbers)
    assert {method for method, _ in counted} <= {"GET", "POST", "other"}
    assert [route for method, route in counted if method == "GET" and "nothing" in route] == []
    assert 'kith_connections_cut_total{reason="unknown_method"}' in numbers


async def test_who_asks_for_what_is_not_here_again_and_again_is_told_to_wait(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    strays = ("/nothing-here", "/api/v1/nothing", "/api/v2/core/nothing/", "/media/attachments/none.png")

    answers = []
    for _ in range(2):  # a window may end within the first round, and not again within the second
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(town.http.get(f"{strays[number % 4]}")) for number in range(640)]
        answers += [task.result() for task in asked]
        if any(answer.status_code == 429 for answer in answers):
            break
    here = await town.http.get("/health")

    assert {answer.status_code for answer in answers} == {404, 429}
    refused = [answer for answer in answers if answer.status_code == 429]
    assert all(int(answer.headers["retry-after"]) > 0 for answer in refused)
    assert here.status_code == 200


FILE_PATHS = [
    "/media/attachments/{name}/x", "/media/attachments/{name}/x/y", "/media/attachments/{name}%2fx",
    "/media/attachments/..%2f..%2fkith.sqlite3", "/media/../kith.sqlite3", "/media/attachments/%2e%2e/%2e%2e/x",
    "/media/attachments", "/media/attachments/", "/media/", "/media", "/media//attachments//{name}",
    "/media/attachments/a%00b", "/media/%00", "/media/attachments/%ff%fe", "/media/attachments/.hidden",
    "/media/attachments/" + "a" * 250, "/media/attachments/" + "a" * 3900, "/media/attachments/" + "a/" * 1500,
    "/media/attachments/{name}%0d%0aSet-Cookie:%20a=b", "/media/health/trial", "/media/avatars/x/y", "/media/headers/x/y",
    "/media/emojis/a%2f..%2f..%2fx.png", "/media_proxy/1/original/x", "/media_proxy/%00/original",
    "/media_proxy/1/%00", "/media_proxy/" + "9" * 3000 + "/small", "/media_proxy/../1/small", "/media_proxy/1/",
    "/static/../health.py", "/static/kith.css/x", "/static/%2e%2e%2fpages.py", "/static/%00", "/static/" + "a" * 3900,
]  # fmt: skip


@pytest.mark.parametrize("path", FILE_PATHS)
async def test_no_path_of_a_file_is_a_fault(town: Town, path: str) -> None:
    folder = town.folder / "media" / "attachments"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kept.png").write_bytes(b"\x89PNG")

    status = await _raw(town, f"GET {path.format(name='kept.png')}")

    # A path that cannot be read, that leads nowhere, or that takes other methods.
    assert status in (400, 404, 405) or (status == 200 and path.endswith("{name}")), status


async def test_a_path_too_long_for_any_file_is_told_so(town: Town) -> None:
    assert await _raw(town, "GET /media/attachments/" + "a" * 5000) == 414


async def test_keys_made_of_clients_words_are_weighed(town: Town) -> None:
    async with town.house() as house:
        memo = UntilWritten("tried", house.database)
        version = memo.now()
        for number in range(1000):
            memo.put(version, ("login", f"{number:05}" + "x" * 60_000), None)
        kept = sum(memo._kept.get(("login", f"{number:05}" + "x" * 60_000), 0) is None for number in range(1000))
    assert kept * 60_000 < UntilWritten.MOST_BYTES
    assert (kept == 0) is (town.engine == "postgresql")  # where nothing is kept at all


async def test_counts_are_kept_of_so_many_and_no_more(town: Town) -> None:
    async with town.house() as house:
        limiter, rule = Limiter(house.database), LimitRule("many", most=5, seconds=3600)
        for number in range(MOST_COUNTS + 100):
            limiter.spend(rule, str(number))
        assert len(limiter._counts) <= MOST_COUNTS


async def test_a_long_name_is_counted_like_a_short_one(town: Town) -> None:
    async with town.house() as house:
        limiter, rule = Limiter(house.database), LimitRule("long", most=5, seconds=3600)
        for name in ("ä" * 5000, "\ud800" * 300, "x" * 5000):
            spent = await limiter.spend_strictly(rule, name)
            assert spent is not None
            assert spent.remaining == 4
