"""A clock that was ahead for a moment and is right again: what it wrote down opens nothing, and stops nothing for long."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

import kith
from kith.base.backups import store as backup_runs
from kith.base.backups.schedule import Schedule, is_due
from kith.base.backups.tables import BACKUP, BackupRun
from kith.base.clocks import SLACK, is_ahead, is_recent
from kith.base.jobs import JobKind, Periodic
from kith.base.jobs import store as jobs
from kith.base.settings import Settings
from kith.base.work import Work
from tests.base.foundation import Foundation, at_work, lay_foundation

NOW = datetime(2030, 5, 17, 12, tzinfo=UTC)
HOUR, YEAR = timedelta(hours=1), timedelta(days=365)
# By how much a clock was ahead, and for whom that is too much.
JUMPS = [timedelta(hours=3), timedelta(days=40), YEAR, 40 * YEAR]


@pytest.mark.parametrize(
    ("ago", "recent"),
    [
        (timedelta(0), True),
        (HOUR - timedelta(seconds=1), True),
        (HOUR, False),
        (YEAR, False),
        (-SLACK, True),  # by another machine's clock
        (-SLACK - timedelta(seconds=1), False),
        *((-jump, False) for jump in JUMPS),
    ],
)
def test_what_has_not_come_yet_was_not_lately(ago: timedelta, recent: bool) -> None:
    assert is_recent(NOW - ago, NOW, HOUR) is recent
    assert is_ahead(NOW - ago, NOW) is (ago < -SLACK)


class Note(msgspec.Struct):
    text: str = ""


class Doing:
    """Counts what is done, and fails as often as it is told to."""

    def __init__(self, *, failures: int = 0) -> None:
        self._failures = failures
        self.done = 0
        self.changed = asyncio.Event()

    async def __call__(self, _work: Work, _payload: Note) -> None:
        self.changed.set()
        if self._failures:
            self._failures -= 1
            raise ValueError("not yet")
        self.done += 1

    async def again(self) -> None:
        self.changed.clear()
        await self.changed.wait()


def kind_of(handler: Callable[[Work, Note], Awaitable[None]]) -> JobKind[Note]:
    return JobKind(name="test.note", payload=Note, handler=handler)


@pytest.mark.parametrize("restarts", [False, True])
async def test_periodic_work_and_retries_go_on_when_the_clock_is_set_right(base: Foundation, restarts: bool) -> None:
    periodic, failing = Doing(), Doing(failures=2)  # together with others, then alone
    often: JobKind[Note] = JobKind(name="test.often", payload=Note, handler=periodic)
    every_minute = Periodic(kind=often, every=timedelta(minutes=1), payload=Note())
    right = base.works.clock
    base.works.clock = lambda: right() + YEAR

    async def until_it_is_tried_soon() -> None:
        while not all(job.run_at < right() + timedelta(minutes=5) for job in await base.jobs()):
            await asyncio.sleep(0.05)

    async with base.works.begin() as work:
        work.enqueue(kind_of(failing), Note())
    async with at_work(base.worker(often, kind_of(failing), periodic=[every_minute])), asyncio.timeout(30):
        await periodic.changed.wait()
        while not any(job.error for job in await base.jobs()):
            await asyncio.sleep(0.02)
        if not restarts:
            base.works.clock = right
            await asyncio.gather(periodic.again(), until_it_is_tried_soon())
    base.works.clock = right
    if restarts:
        async with at_work(base.worker(often, kind_of(failing), periodic=[every_minute])), asyncio.timeout(30):
            await asyncio.gather(periodic.again(), until_it_is_tried_soon())
    async with base.works.begin() as work:
        assert not await jobs.due(work.db, work.now, {"test.often": every_minute.every}), "it is planned, and once"
    assert {job.kind for job in await base.jobs()} <= {"test.note"}


@pytest.mark.parametrize("every", [timedelta(minutes=1), HOUR, timedelta(days=1)])
async def test_nothing_is_planned_further_away_than_it_can_be(base: Foundation, every: timedelta) -> None:
    """Clocks that differ a little have nothing done twice."""
    for ahead, is_too_far in [
        (timedelta(seconds=2), False),
        (SLACK, False),
        *((jump, jump > every + SLACK) for jump in JUMPS),
    ]:
        name = f"test.{ahead}"
        async with base.works.begin() as work:
            await jobs.plan(work.db, name, work.now + ahead + every)
            assert (name in await jobs.due(work.db, work.now, {name: every})) is is_too_far
            assert await jobs.tick(work.db, name, now=work.now, every=every) is is_too_far
            assert not await jobs.tick(work.db, name, now=work.now, every=every)


async def test_jobs_of_a_worker_that_died_while_its_clock_was_ahead_are_taken_over(settings: Settings) -> None:
    async with lay_foundation(settings) as base:
        handler = Doing()
        async with base.works.begin() as work:
            for _ in range(2):
                work.enqueue(kind_of(handler), Note())
        async with base.works.begin() as work:
            for until in (work.now + timedelta(seconds=15), work.now + YEAR):
                await jobs.claim(work.db, "quick", most=1, worker=base.ids._holder, now=work.now, until=until)
        async with base.works.begin() as work:
            taken = await jobs.take_over(work.db, work.now)
        assert len(taken) == 1, "whoever holds the other one may be alive"


async def test_a_backup_of_next_year_is_not_the_last_one(base: Foundation) -> None:
    daily = Schedule(every=timedelta(days=1))

    def run(started_at: datetime, id: int, *, succeeded: bool) -> BackupRun:
        return BackupRun(id, BACKUP, started_at, started_at, succeeded, "", "", False, 0, 0, "")

    async with base.works.begin() as work:
        now = work.now
        for id, (at, succeeded) in enumerate(
            [(now - 3 * YEAR / 365, True), (now - HOUR, False), (now + YEAR, True), (now + 2 * YEAR, False)]
        ):
            await backup_runs.add(work.db, run(at, id + 1, succeeded=succeeded))
        good, tried = await backup_runs.last_success(work.db, BACKUP, now), await backup_runs.last(work.db, BACKUP, now)
    assert good is not None
    assert tried is not None
    assert (good.id, tried.id) == (1, 2)
    assert is_due(daily, now, succeeded_at=good.started_at, tried_at=tried.started_at)


# Whoever compares how long ago something was does it by `is_recent`, or says here why not.
ONLY_SHOWN = "a mark of the last use, which decides nothing"
ENDS = "whether it is over: what has not begun is not"
OWN = "two readings of one clock that never goes back"
ALLOWED = {
    "base/clocks.py": "it is the rule",
    "base/backups/schedule.py": "of runs that are not ahead",
    "base/backups/tasks.py": "of runs that are not ahead",
    "base/caches.py": OWN,
    "base/server/connections.py": OWN,
    "base/server/timed_connection.py": OWN,
    "base/server/websocket.py": OWN,
    "federation/people/new_hosts.py": OWN,
    "identity/locations/service.py": OWN,
    "base/jobs/worker.py": "a beat that was late lets one round go by",
    "base/relay.py": "a look more or less: what is heard is told at once",
    "cli/check/backups.py": "of runs that are not ahead",
    "identity/caller_authentication.py": ONLY_SHOWN,
    "identity/providers/oauth2/authentication/bearers.py": ONLY_SHOWN,
    "federation/delivery/host_states.py": ONLY_SHOWN,
    "identity/providers/oauth2/authorize/stored_requests.py": "one ahead asks for a later sign-in",
    "identity/providers/oauth2/device/codes.py": "the next poll is written down by the right clock",
    "identity/sources/oauth/logout.py": ENDS,
    "social/moderation/appeals.py": ENDS,
    "social/notification_emails/service.py": "a mail less",
    "base/counted_log.py": "by a clock that no one sets",
    "social/notifications/policy.py": "who is new is filtered",
    "cli/check/database.py": "which tells of beats that are ahead, too",
    "federation/posts/rows.py": "posts from tomorrow are of now",
    "federation/posts/storing.py": "posts from tomorrow are of now",
    "federation/posts/linking.py": "posts from tomorrow are of now",
    "web/admin/first_steps.py": "of runs that are not ahead",
}


def _is_now(node: ast.expr) -> bool:
    match node:
        case ast.Name(id="now") | ast.Attribute(attr="now"):
            return True
        case ast.Call(func=ast.Attribute(attr="now" | "clock" | "timestamp", value=value)):
            return isinstance(value, ast.Name) or _is_now(value)
    return False


def _elapsed(tree: ast.AST) -> Iterator[int]:
    """Lines with `now - moment < while`, or the other way about."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Sub) and _is_now(side.left):
                    other = side.right
                    is_while = (
                        isinstance(other, ast.Name) and other.id.isupper()
                    )  # `moment > now - WHILE`, in SQL mostly
                    if not is_while:
                        yield node.lineno


def test_how_long_ago_something_was_is_asked_in_one_way() -> None:
    root = Path(kith.__file__).parent
    found: dict[str, list[int]] = {}
    for path in sorted(root.rglob("*.py")):
        text = path.read_text()
        if "now - " in text or "() - " in text:
            lines = sorted(set(_elapsed(ast.parse(text))))
            if lines:
                found[str(path.relative_to(root))] = lines
    assert {name: lines for name, lines in found.items() if name not in ALLOWED} == {}
    assert sorted(set(ALLOWED) - set(found)) == [], "nothing is compared there any more"
