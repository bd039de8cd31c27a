"""What is over is forgotten."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.admission import store

KEPT = timedelta(days=14)


class Forget(msgspec.Struct):
    """Blocks whose time is over, and tries of long ago."""


async def forget(work: Work, _payload: Forget) -> None:
    await store.forget(work.db, work.now, (work.now - KEPT).date().isoformat())


FORGET: JobKind[Forget] = JobKind(name="admission.forget", payload=Forget, handler=forget)
