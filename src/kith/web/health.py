"""Is the server alive, and is it of use?

Ready means that what a request may need has just been done: something was written to the database and to the place
for files, the schema is ours, and a worker was heard of lately. Where only room was missing for that, which is told as
`room`, people can still sign in and read. However often it is asked, that is tried about once a second, one try at a
time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta

import msgspec
import structlog

from kith.base import asking
from kith.base.blobs import Blobs
from kith.base.clocks import is_recent
from kith.base.errors import NoSpace
from kith.base.exchange import JSON, Answer, Exchange
from kith.base.jobs import store as jobs
from kith.base.limits import Limiter
from kith.base.routing import get
from kith.base.watchdog import Watchdog
from kith.base.work import Works
from kith.migrations import HEAD

__all__ = ["Readiness", "routes"]

WORKER_SILENCE = timedelta(seconds=30)
PATIENCE_SECONDS = 5.0
TEXT = ((b"content-type", b"text/plain; charset=utf-8"),)

_log = structlog.get_logger()


class Trial:
    """One thing that must work, tried at most every `seconds`; what takes too long does not work."""

    def __init__(self, name: str, attempt: Callable[[], Awaitable[bool]], seconds: float = 1.0) -> None:
        self.name = name
        self._attempt = attempt
        self._seconds = seconds
        self._task: asyncio.Task[bool] | None = None
        self._tried_at = 0.0
        self._works: bool | None = None
        self.has_room = True

    async def works(self) -> bool:
        if self._works is not None and time.monotonic() - self._tried_at < self._seconds:
            return self._works
        if self._task is None:
            self._task = asking.begin_for_everybody(self._try())
        # It goes on if it takes longer: another try would only wait behind it.
        done, _ = await asyncio.wait({self._task}, timeout=PATIENCE_SECONDS)
        return bool(done) and self._works is True

    async def _try(self) -> bool:
        did, had_room = False, self.has_room
        try:
            did = await self._attempt()
            self.has_room = True
        except NoSpace:
            did, self.has_room = True, False
            if had_room:
                _log.warning("health.no_room", what=self.name)
        except Exception as error:  # noqa: BLE001 - whatever is the matter, it does not work
            if self._works is not False:
                _log.warning("health.not_ready", what=self.name, cause=repr(error))
        if did and self._works is False:
            _log.info("health.ready_again", what=self.name)
        self._works, self._tried_at, self._task = did, time.monotonic(), None
        return did


class Readiness:
    def __init__(self, works: Works, limiter: Limiter, blobs: Blobs) -> None:
        self._works = works
        self._limiter = limiter
        self._blobs = blobs
        self._trials = (
            Trial("database", self._write),
            Trial("migrations", self._is_current),
            Trial("worker", self._has_worker),
            Trial("media", self._store, seconds=blobs.TRY_SECONDS),
        )

    async def checks(self) -> dict[str, bool]:
        found = await asyncio.gather(*(trial.works() for trial in self._trials))
        checks = {trial.name: works for trial, works in zip(self._trials, found, strict=True)}
        return checks | {"room": all(trial.has_room for trial in self._trials)}

    async def _write(self) -> bool:
        await self._limiter.try_writing()
        return True

    async def _is_current(self) -> bool:
        return await self._works.database.revision() == HEAD

    async def _has_worker(self) -> bool:
        async with self._works.begin() as work:
            seen = await jobs.last_beat(work.db)
            return seen is not None and is_recent(seen, work.now, WORKER_SILENCE)

    async def _store(self) -> bool:
        await self._blobs.try_writing()
        return True


@get("/health")
async def alive(exchange: Exchange) -> Answer:
    """A word as Mastodon says it; JSON for whoever asks for that."""
    if b"application/json" in exchange.header(b"accept"):
        return Answer(200, JSON, b'{"status":"ok"}')
    return Answer(200, TEXT, b"OK")


@get("/health/ready")
async def ready(exchange: Exchange) -> Answer:
    """With `?without=worker,room` the answer does not depend on these. A balancer asks so, else all servers would be
    taken away at once while people can be served: where no worker is beside them, or their disk is full."""
    checks = await exchange.find(Readiness).checks() | {"loop": exchange.find(Watchdog).is_turning}
    left_out = exchange.query("without").split(",")
    fine = all(works for name, works in checks.items() if name not in left_out)
    told = {"status": "ok" if fine else "not ready", **checks}
    return Answer(200 if fine else 503, JSON, msgspec.json.encode(told))


routes = [alive, ready]
