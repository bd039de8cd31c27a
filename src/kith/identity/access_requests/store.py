from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, delete, func, or_, select, update

from kith.base.db import UID, Instant, Session, any_of, command, query
from kith.identity.access_requests.tables import (
    AccessOffer,
    RequestForAccess,
    approver_groups,
    approvers,
    offers,
    requests,
)
from kith.identity.applications.tables import applications
from kith.identity.groups.tables import groups
from kith.identity.users.tables import users

MOST_LISTED = 200


class ListedRequest(msgspec.Struct):
    """A request as the pages list it."""

    request_uuid: str
    offer_uuid: str
    offer_name: str
    username: str
    reason: str
    duration: str
    state: str
    closes: datetime
    answer: str
    expires: datetime | None
    created_at: datetime


_now = bindparam("now", type_=Instant())
_uuid = bindparam("uuid", type_=UID())
_NAME = func.coalesce(applications.c.name, groups.c.name, "").label("name")
_named = offers.outerjoin(applications, applications.c.pbm_uuid == offers.c.application).outerjoin(
    groups, groups.c.group_uuid == offers.c.group
)
_offer = select(
    *(offers.c[name] for name in AccessOffer.__struct_fields__[:6]), _NAME, applications.c.policy_engine_mode
).select_from(_named)
_find_offer = query(_offer.where(offers.c.offer_uuid == _uuid), AccessOffer)
_offered = query(_offer.where(offers.c.requestable).order_by(_NAME).limit(MOST_LISTED), AccessOffer)
_any_offer = query(select(offers.c.offer_uuid).where(offers.c.requestable).limit(1), str)
_offered_target = query(
    select(offers.c.offer_uuid).where(and_(offers.c.application == _uuid, offers.c.requestable)), str
)
_offer_names = query(
    select(offers.c.offer_uuid, _NAME).select_from(_named).where(any_of(offers.c.offer_uuid, "ids")), tuple
)
_approvers = query(select(approvers.c.other).where(approvers.c.owner == _uuid).order_by(approvers.c.other), int)
_approver_groups = query(select(approver_groups.c.other).where(approver_groups.c.owner == _uuid), str)
_find = query(
    select(*(requests.c[name] for name in RequestForAccess.__struct_fields__)).where(requests.c.request_uuid == _uuid),
    RequestForAccess,
)
_mine_open = and_(requests.c.user == bindparam("user"), requests.c.state == "open", requests.c.closes > _now)
_open_of_user = query(select(requests.c.offer).where(_mine_open), str)
_move = command(
    update(requests)
    .where(and_(requests.c.request_uuid == _uuid, requests.c.state == bindparam("was")))
    .values(
        state=bindparam("new"),
        decided_by=func.coalesce(bindparam("by"), requests.c.decided_by),
        decided=func.coalesce(bindparam("at", type_=Instant()), requests.c.decided),
        answer=func.coalesce(bindparam("said"), requests.c.answer),
        expires=func.coalesce(bindparam("until", type_=Instant()), requests.c.expires),
        updated_at=_now,
    )
)
_columns = [requests.c[name] for name in RequestForAccess.__struct_fields__]
_unanswered = query(
    select(*_columns)
    .where(and_(requests.c.state == "open", requests.c.closes <= _now))
    .order_by(requests.c.closes)
    .limit(bindparam("most")),
    RequestForAccess,
)
_over = query(
    select(*_columns)
    .where(and_(requests.c.state == "approved", requests.c.expires <= _now))
    .order_by(requests.c.expires)
    .limit(bindparam("most")),
    RequestForAccess,
)
_all_open_of = query(
    select(*_columns).where(and_(requests.c.user == bindparam("user"), requests.c.state == "open")), RequestForAccess
)
_forget = command(
    delete(requests).where(
        and_(
            requests.c.state.not_in(("open", "approved")), requests.c.updated_at < bindparam("before", type_=Instant())
        )
    )
)
_listed = (
    select(
        requests.c.request_uuid,
        requests.c.offer.label("offer_uuid"),
        _NAME.label("offer_name"),
        users.c.username,
        *(requests.c[name] for name in ListedRequest.__struct_fields__[4:]),
    )
    .select_from(
        requests.join(_named, offers.c.offer_uuid == requests.c.offer).join(users, users.c.id == requests.c.user)
    )
    .order_by(requests.c.created_at.desc(), requests.c.request_uuid)
    .limit(MOST_LISTED)
)
_of_user = query(_listed.where(requests.c.user == bindparam("user")), ListedRequest)
# What somebody decides about: never their own.
_to_decide = query(
    _listed.where(
        and_(
            requests.c.state == "open",
            requests.c.closes > _now,
            requests.c.user != bindparam("user"),
            or_(
                requests.c.offer.in_(select(approvers.c.owner).where(approvers.c.other == bindparam("user"))),
                requests.c.offer.in_(select(approver_groups.c.owner).where(any_of(approver_groups.c.other, "groups"))),
            ),
        )
    ),
    ListedRequest,
)


async def find_offer(db: Session, offer_uuid: str) -> AccessOffer | None:
    return await db.one(_find_offer, uuid=offer_uuid)


async def offered(db: Session) -> list[AccessOffer]:
    return await db.all(_offered)


async def has_offers(db: Session) -> bool:
    return await db.one(_any_offer) is not None


async def is_offered(db: Session, application: str) -> bool:
    return await db.one(_offered_target, uuid=application) is not None


async def names_of_offers(db: Session, ids: Sequence[str]) -> dict[str, str]:
    return dict(await db.all(_offer_names, ids=list(ids)))


async def approvers_of(db: Session, offer_uuid: str) -> tuple[list[int], list[str]]:
    """The people and the groups that decide about requests for it."""
    return await db.all(_approvers, uuid=offer_uuid), await db.all(_approver_groups, uuid=offer_uuid)


async def find(db: Session, request_uuid: str) -> RequestForAccess | None:
    return await db.one(_find, uuid=request_uuid)


async def open_offers(db: Session, user_id: int, now: datetime) -> list[str]:
    """What somebody has asked for and not been told yet."""
    return await db.all(_open_of_user, user=user_id, now=now)


async def all_open_of(db: Session, user_id: int) -> list[RequestForAccess]:
    return await db.all(_all_open_of, user=user_id)


async def move(
    db: Session,
    request_uuid: str,
    was: str,
    new: str,
    now: datetime,
    *,
    by: int | None = None,
    said: str | None = None,
    until: datetime | None = None,
) -> bool:
    """Give a request its next state; False if somebody else was faster."""
    values: dict[str, Any] = {"by": by, "at": now if by is not None else None, "said": said, "until": until}
    return await db.run(_move, uuid=request_uuid, was=was, new=new, now=now, **values) == 1


async def unanswered(db: Session, now: datetime, most: int) -> list[RequestForAccess]:
    return await db.all(_unanswered, now=now, most=most)


async def over(db: Session, now: datetime, most: int) -> list[RequestForAccess]:
    """Those whose access has ended."""
    return await db.all(_over, now=now, most=most)


async def forget(db: Session, before: datetime) -> None:
    await db.run(_forget, before=before)


async def of_user(db: Session, user_id: int) -> list[ListedRequest]:
    return await db.all(_of_user, user=user_id)


async def to_decide(db: Session, user_id: int, group_uuids: Sequence[str], now: datetime) -> list[ListedRequest]:
    return await db.all(_to_decide, user=user_id, groups=list(group_uuids), now=now)
