"""What is counted from day to day: what is said here, and who comes."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.jobs import Kind
from kith.base.work import Work
from kith.social.guards import MemberSeen
from kith.social.instance import store
from kith.social.statuses import store as statuses
from kith.social.statuses.facts import StatusPosted
from kith.social.statuses.tables import PUBLIC, UNLISTED

KEPT = timedelta(weeks=26)


class Forget(msgspec.Struct):
    """Days so long ago that nobody is told of them."""


async def count_posted(work: Work, fact: StatusPosted) -> None:
    """What is not for everybody is not counted for everybody."""
    status = await statuses.find(work.db, fact.status_id)
    if status is not None and status.local and status.visibility in (PUBLIC, UNLISTED):
        await store.count(work.db, "statuses", status.created_at.date().isoformat())


async def note_presence(work: Work, fact: MemberSeen) -> None:
    await store.note_presence(work.db, fact.user_id, fact.day)


async def forget(work: Work, _payload: Forget) -> None:
    await store.forget(work.db, (work.now - KEPT).date().isoformat())


COUNT: Kind[StatusPosted] = Kind(name="instance.count", payload=StatusPosted, handler=count_posted)
NOTE_PRESENCE: Kind[MemberSeen] = Kind(name="instance.note_presence", payload=MemberSeen, handler=note_presence)
FORGET: Kind[Forget] = Kind(name="instance.forget", payload=Forget, handler=forget)
