"""Access on request, for the pages."""

from __future__ import annotations

import msgspec

from kith.base.work import Work
from kith.identity.access_requests import offered, service, store
from kith.identity.access_requests.offered import OfferedAccess
from kith.identity.access_requests.resources import REQUESTS
from kith.identity.access_requests.store import ListedRequest
from kith.identity.caller import ApiCaller
from kith.identity.expressions import subjects
from kith.identity.rest.fields import read_uuid
from kith.identity.rest.operations import create
from kith.identity.rest.record_store import RecordStore
from kith.identity.users.tables import User

__all__ = ["AccessPage", "OfferedAccess", "ask", "decide", "end", "is_used", "seconds_of", "show", "withdraw"]

seconds_of = service.seconds_of
_records = RecordStore(REQUESTS)


class AccessPage(msgspec.Struct, frozen=True):
    """What somebody can ask for, what they have asked for, and what waits for their decision."""

    offered: list[OfferedAccess]
    mine: list[ListedRequest]
    to_decide: list[ListedRequest]


async def is_used(work: Work) -> bool:
    """Whether anything is on offer on this server."""
    return await store.has_offers(work.db)


async def show(work: Work, user: User) -> AccessPage:
    person = await subjects.get(work, user.id)
    groups = [group["group_uuid"] for group in person.groups]
    return AccessPage(
        offered=await offered.for_person(work, user.id),
        mine=await store.of_user(work.db, user.id),
        to_decide=await store.to_decide(work.db, user.id, groups, work.now),
    )


async def ask(work: Work, user: User, offer: str, reason: str, duration: str) -> None:
    await create(_records, work, _caller(user), {"offer": offer, "reason": reason, "duration": duration})


async def decide(work: Work, user: User, request: str, *, approve: bool, answer: str) -> None:
    await service.decide(work, _uuid(request), _caller(user), approve=approve, answer=answer)


async def withdraw(work: Work, user: User, request: str) -> None:
    await service.withdraw(work, _uuid(request), _caller(user))


async def end(work: Work, user: User, request: str) -> None:
    await service.end(work, _uuid(request), _caller(user))


def _caller(user: User) -> ApiCaller:
    return ApiCaller(user.id, user.username, user.role, way="session")


def _uuid(text: str) -> str:
    return read_uuid(text) or service.NOBODYS
