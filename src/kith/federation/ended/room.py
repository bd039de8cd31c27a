"""What has ended elsewhere."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.jobs import JobKind, Periodic
from kith.base.rooms import Room
from kith.base.work import Work
from kith.federation.ended import store


class ForgetEnded(msgspec.Struct):
    """Whatever is remembered for longer than anything is late."""


async def forget(work: Work, _payload: ForgetEnded) -> None:
    await store.forget(work.db, work.now)


FORGET: JobKind[ForgetEnded] = JobKind(
    name="federation_ended.forget", payload=ForgetEnded, handler=forget, is_harmless=True
)

ROOM = Room(
    name="federation ended",
    jobs=(FORGET,),
    periodic=(Periodic(kind=FORGET, every=timedelta(hours=1), payload=ForgetEnded()),),
)
