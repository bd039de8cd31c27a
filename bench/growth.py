"""Whether a page costs the same when the database has grown a hundredfold: at 10⁵, 10⁶ and 10⁷ statuses.

The community that is asked stays as it is; around it grows what a server gathers over the years: people elsewhere with
their posts, pictures, tags, favourites, notices, follows and feeds. Their posts lie between those of the first in time,
so that public and tagged pages show posts of all of them.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import asyncpg
import msgspec
from rich.console import Console
from rich.progress import Progress, TimeElapsedColumn, TimeRemainingColumn
from sqlalchemy import Table

from bench.community import TAG, Community, Rows, Size, seed_rows
from bench.report import Result, Target, result
from bench.social import Asked, Place, plain_request
from bench.stage import Burst, baseline, open_house_of, until_200
from kith.base.db import command, insert_into
from kith.base.settings import load as load_settings
from kith.social.accounts.tables import accounts
from kith.social.feeds.tables import feeds
from kith.social.media.tables import media
from kith.social.notifications.tables import notifications
from kith.social.relationships.tables import follows
from kith.social.search.tables import status_words
from kith.social.statuses.tables import favourites, statuses
from kith.social.tags.tables import status_tags
from tests.town import Town, build_town
from tests.town.town import Engine

FIRST = Size(members=200, follows=5_000, statuses=100_000)
QUICK = Size(members=50, follows=500, statuses=5_000)
TIMES = (1, 10, 100)
ROUNDS = 5
FLAT = Target(most=1.5, of_ratio=True)
# Between two statuses of the first community lie 77 seconds, in which there is room for a hundred copies.
APART = 700 << 16
COPIED = (accounts, follows, statuses, media, status_tags, status_words, favourites, notifications, feeds)
_ACCOUNTS = {
    accounts.name: ("id",),
    follows.name: ("account_id", "target_id"),
    statuses.name: ("account_id", "in_reply_to_account_id"),
    media.name: ("account_id",),
    status_tags.name: ("account_id",),
    favourites.name: ("account_id",),
    notifications.name: ("account_id", "from_id"),
    feeds.name: ("owner", "author_id"),
}
_STATUSES = {
    follows.name: ("id",),
    statuses.name: ("id", "in_reply_to_id", "conversation_id"),
    media.name: ("id", "status_id"),
    status_tags.name: ("status_id",),
    status_words.name: ("status_id",),
    favourites.name: ("id", "status_id"),
    notifications.name: ("id", "status_id"),
    feeds.name: ("status_id", "original_id"),
}


async def measure(folder: Path, console: Console, *, quick: bool, engines: tuple[Engine, ...]) -> list[Result]:
    found: list[Result] = []
    for engine in engines:
        found += await _grow(folder / f"growth-{engine}", console, engine, quick=quick)
    return found


async def _grow(folder: Path, console: Console, engine: Engine, *, quick: bool) -> list[Result]:
    stages: dict[int, dict[str, list[Burst]]] = {}
    async with build_town(engine, folder, start=False) as town, baseline("bench.bare") as plain:
        async with open_house_of(town) as house:
            community, rows = await seed_rows(house, QUICK if quick else FIRST)
        size = len(rows[statuses.name])
        done = 1
        for times in TIMES[:2] if quick else TIMES:
            await copy_rows(town, console, rows, range(done, times))
            done = times
            await _tidy(town)
            await town.start()
            await until_200(town.http, "/health/ready")
            console.log(f"{engine}: asking among {size * times:,} statuses ...")
            place = Place(engine, town, community)
            bare = Asked("bare", plain.pid, plain.port, [plain_request(plain.port)])
            stages[times] = await _ask(place, bare, seconds=0.5 if quick else 2.0)
            await town.stop()
    return list(_results(engine, size, stages))


async def copy_rows(
    town: Town, console: Console, rows: Rows, numbers: range, tables: tuple[Table, ...] = COPIED
) -> None:
    """Through the driver alone, as fast as the database takes it."""
    if not numbers:
        return
    started_at = time.monotonic()
    patterns = [Pattern(table, rows[table.name], town.engine) for table in tables]
    columns = (*Progress.get_default_columns()[:-1], TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        growing = progress.add_task(f"{town.engine}: growing", total=len(numbers))
        async with _loader(town) as load:
            for number in numbers:
                for pattern in patterns:
                    await load(pattern, list(pattern.copies(number)))
                progress.advance(growing)
    console.log(f"{town.engine}: {len(numbers)} copies after {time.monotonic() - started_at:.0f} s")


class Pattern:
    """The rows of a table as the driver takes them, and where in them ids and names stand."""

    def __init__(self, table: Table, rows: list[dict[str, Any]], engine: Engine) -> None:
        compiled = command(insert_into(table)).compiled(engine)
        empty = {column.name: None for column in table.columns if column.nullable}
        self.table = table
        self.sql = compiled.sql
        self.columns = re.findall(r"\w+", compiled.sql.partition("(")[2].partition(")")[0])
        self._rows = [tuple(compiled.bind(empty | row)) for row in rows]
        self._shifts = [
            (self.columns.index(name), step)
            for names, step in ((_ACCOUNTS, 1), (_STATUSES, APART))
            for name in names.get(table.name, ())
        ]

    def copies(self, number: int) -> Iterator[tuple[Any, ...]]:
        """The same somewhere else: other people, other ids, a moment later."""
        shifts = [(place, step * number) for place, step in self._shifts]
        rename = getattr(self, f"_rename_{self.table.name}", None)
        for row in self._rows:
            made = list(row)
            for place, step in shifts:
                if made[place] is not None:
                    made[place] += step
            if rename is not None:
                rename(made, number)
            yield tuple(made)

    def _rename_social_accounts(self, made: list[Any], number: int) -> None:
        host, name = f"elsewhere{number}.example", made[self._place("username")]
        for column, value in (
            ("domain", host), ("user_id", None), ("uri", f"https://{host}/users/{name}"),
            ("url", f"https://{host}/@{name}"),
        ):  # fmt: skip
            made[self._place(column)] = value

    def _rename_social_statuses(self, made: list[Any], number: int) -> None:
        made[self._place("local")] = False
        for column in ("uri", "url"):
            made[self._place(column)] += f"/{number}"
        pictures = msgspec.json.decode(made[self._place("media_ids")])
        if pictures:
            made[self._place("media_ids")] = msgspec.json.encode([one + APART * number for one in pictures]).decode()

    def _rename_social_notifications(self, made: list[Any], number: int) -> None:
        made[self._place("group_key")] = f"favourite-{made[self._place('status_id')]}"
        made[self._place("once_key")] += f":{number}"

    def _place(self, column: str) -> int:
        return self.columns.index(column)


Load = Callable[[Pattern, list[tuple[Any, ...]]], Awaitable[None]]


@asynccontextmanager
async def _loader(town: Town) -> AsyncIterator[Load]:
    if town.engine == "postgresql":
        connection = await asyncpg.connect(town.database, command_timeout=3600)
        await connection.execute("SET session_replication_role = replica")  # what refers to what is right already

        async def copy(pattern: Pattern, rows: list[tuple[Any, ...]]) -> None:
            await connection.copy_records_to_table(pattern.table.name, records=rows, columns=pattern.columns)

        yield copy
        await connection.close()
        return
    with closing(sqlite3.connect(load_settings(town.environment).sqlite_path, isolation_level=None)) as opened:
        for setting in ("journal_mode=WAL", "synchronous=OFF", "cache_size=-2000000", "wal_autocheckpoint=100000"):
            opened.execute(f"PRAGMA {setting}")

        async def insert(pattern: Pattern, rows: list[tuple[Any, ...]]) -> None:
            opened.execute("BEGIN")
            opened.executemany(pattern.sql, rows)
            opened.execute("COMMIT")

        yield insert
        opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")


async def _tidy(town: Town) -> None:
    """What both databases do by themselves after a while."""
    if town.engine == "postgresql":
        connection = await asyncpg.connect(town.database, command_timeout=3600)
        await connection.execute("VACUUM ANALYZE")
        await connection.close()


async def _ask(place: Place, bare: Asked, *, seconds: float) -> dict[str, list[Burst]]:
    members = place.community.members
    asked = [bare, *(place.get(what, path, members) for what, path in _pages(place.community))]
    bursts: dict[str, list[Burst]] = {one.name: [] for one in asked}
    for one in asked:
        await one.burst(1.0)  # what is read for the first time comes from the disk
    for _ in range(ROUNDS):
        await place.forget()
        for one in asked:
            bursts[one.name].append(await one.burst(seconds))
    return bursts


def _pages(community: Community) -> Iterator[tuple[str, str]]:
    yield "home", "/api/v1/timelines/home?since_id={number}"
    yield "older home", f"/api/v1/timelines/home?max_id={community.public_ids[0]}&since_id={{number}}"
    yield "public", "/api/v1/timelines/public?since_id={number}"
    yield "older public", f"/api/v1/timelines/public?max_id={community.public_ids[0]}&since_id={{number}}"
    yield "tag", f"/api/v1/timelines/tag/{TAG}?since_id={{number}}"
    yield "account", "/api/v1/accounts/{me}/statuses?since_id={number}"
    yield "status", f"/api/v1/statuses/{community.thread_id}"
    yield "context of 50", f"/api/v1/statuses/{community.thread_id}/context"
    yield "notifications", "/api/v1/notifications?since_id={number}"
    yield "local", "/api/v1/timelines/public?local=true&since_id={number}"
    yield "older local", f"/api/v1/timelines/public?local=true&max_id={community.public_ids[0]}&since_id={{number}}"
    yield "search", "/api/v2/search?q=lantern+meadow&type=statuses&min_id={number}"
    yield "search of one", "/api/v2/search?q=lantern+from:me&type=statuses&min_id={number}"


def _results(engine: str, size: int, stages: dict[int, dict[str, list[Burst]]]) -> Iterator[Result]:
    """Each stage beside the first, and each of them beside the plain server in the same minutes."""
    first = stages[1]
    for times, bursts in stages.items():
        pace = [one.p50_ms / other.p50_ms for one, other in zip(bursts["bare"], first["bare"], strict=True)]
        for name, mine in bursts.items():
            if name == "bare":
                continue
            what = name.removeprefix(f"{engine}.")
            p50 = [one.p50_ms / slow for one, slow in zip(mine, pace, strict=True)]
            yield result(
                f"growth.{engine}.{what}.p50 of {size * times:,}", p50, "ms",
                baseline=None if times == 1 else (f"of {size:,}", [one.p50_ms for one in first[name]]),
                target=None if times == 1 else FLAT,
            )  # fmt: skip
            yield result(f"growth.{engine}.{what}.cpu of {size * times:,}", [one.cpu_us for one in mine], "us")
