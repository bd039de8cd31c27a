"""What the dashboard shows of the last weeks is noted down by the worker."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.web.levels import store
from kith.web.levels.reading import OWN_JOB, read_levels

__all__ = ["NOTE", "NoteLevels"]

NAMES = ("disk", "memory", "jobs", "jobs_failed", "deliveries")
KEPT = timedelta(weeks=26)


class NoteLevels(msgspec.Struct):
    """How full the server is now."""


async def note(work: Work, _payload: NoteLevels) -> None:
    now = await read_levels(work)
    for name in NAMES:
        await store.note(work.db, work.now.date().isoformat(), name, getattr(now, name))
    await store.forget(work.db, (work.now - KEPT).date().isoformat())


NOTE: JobKind[NoteLevels] = JobKind(name=OWN_JOB, payload=NoteLevels, handler=note, outside=True)
