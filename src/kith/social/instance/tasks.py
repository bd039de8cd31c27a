"""What is counted from day to day: what is said here, and who comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import msgspec
from sqlalchemy import and_, select

from kith.base.db import any_of, query
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.guards import MemberSeen
from kith.social.instance import store
from kith.social.statuses.facts import StatusPosted
from kith.social.statuses.tables import PUBLIC, UNLISTED, statuses

KEPT = timedelta(weeks=26)

_posted_at = query(
    select(statuses.c.created_at).where(
        and_(any_of(statuses.c.id, "ids"), statuses.c.local, statuses.c.visibility.in_((PUBLIC, UNLISTED)))
    ),
    datetime,
)


class ForgetOldDays(msgspec.Struct):
    """Days so long ago that nobody is told of them."""


async def count_posted(work: Work, facts: Sequence[StatusPosted]) -> None:
    """What is not for everybody is not counted for everybody."""
    posted_at = await work.db.all(_posted_at, ids=[fact.status_id for fact in facts])
    for day, count in sorted(Counter(at.date().isoformat() for at in posted_at).items()):
        await store.count(work.db, "statuses", day, count)


async def note_presence(work: Work, fact: MemberSeen) -> None:
    await store.note_presence(work.db, fact.user_id, fact.day)
    await identity.note_seen(work, fact.user_id, datetime.fromisoformat(fact.day).replace(tzinfo=UTC))


async def forget(work: Work, _payload: ForgetOldDays) -> None:
    await store.forget(work.db, (work.now - KEPT).date().isoformat())


COUNT: JobKind[StatusPosted] = JobKind(name="instance.count", payload=StatusPosted, many=count_posted)
NOTE_PRESENCE: JobKind[MemberSeen] = JobKind(name="instance.note_presence", payload=MemberSeen, handler=note_presence)
FORGET: JobKind[ForgetOldDays] = JobKind(name="instance.forget", payload=ForgetOldDays, handler=forget)
