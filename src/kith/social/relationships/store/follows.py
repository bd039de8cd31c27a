"""Follows, and requests to follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Table, and_, bindparam, func, literal_column, select, update

from kith.base.db import Command, Query, Session, add_once, alias_of, any_of, command, query
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId
from kith.social.relationships.store.common import ME, drop, pair
from kith.social.relationships.tables import Follow, follow_requests, follows

_following = query(lambda: select(follows.c.id).where(pair(follows)), int)
_find_follow = query(lambda: select(follows).where(pair(follows)), Follow)
_find_request = query(lambda: select(follow_requests).where(pair(follow_requests)), Follow)
_add_follow = command(lambda: add_once(follows))
_add_request = command(lambda: add_once(follow_requests))
_drop_follow = drop(follows, Follow)
_drop_request = drop(follow_requests, Follow)


def _set_options(table: Table) -> Command:
    names = ("reblogs", "notify", "languages")
    values = {name: bindparam(name, type_=table.c[name].type) for name in names}
    return command(update(table).where(table.c.id == bindparam("row")).values(values))


def _set_uri(table: Table) -> Command:
    return command(update(table).where(table.c.id == bindparam("row")).values(uri=bindparam("new_uri")))


def _called(table: Table) -> Query[Follow]:
    """By who has it, of all that they have towards somebody."""
    return query(select(table).where(and_(table.c.account_id == ME, table.c.uri == bindparam("uri"))).limit(1), Follow)


_name_follow, _name_request = _set_uri(follows), _set_uri(follow_requests)
_follow_called, _request_called = _called(follows), _called(follow_requests)
_answered_request = query(
    lambda: (
        select(follow_requests)
        .where(and_(follow_requests.c.target_id == ME, follow_requests.c.uri == bindparam("uri")))
        .limit(1)
    ),
    Follow,
)
_answered_follow = query(
    lambda: select(follows).where(and_(follows.c.target_id == ME, follows.c.uri == bindparam("uri"))).limit(1), Follow
)
_change_follow = _set_options(follows)
_change_request = _set_options(follow_requests)
_requests_to = query(
    lambda: (
        select(follow_requests.c.account_id)
        .join(accounts, accounts.c.id == follow_requests.c.account_id)
        .where(
            and_(
                follow_requests.c.target_id == ME,
                accounts.c.silenced_at.is_(None),
                accounts.c.suspended_at.is_(None),
                accounts.c.deleted_at.is_(None),
            )
        )
        .order_by(follow_requests.c.id)
        .limit(bindparam("most"))
    ),
    AccountId,
)


def requests_to(account_id: Any) -> Any:
    """How many ask to follow somebody, as far as forty, as part of a statement."""
    asker = alias_of(accounts)
    asking = (
        select(literal_column("1"))
        .select_from(follow_requests.join(asker, asker.c.id == follow_requests.c.account_id))
        .where(
            and_(
                follow_requests.c.target_id == account_id,
                asker.c.suspended_at.is_(None),
                asker.c.deleted_at.is_(None),
            )
        )
        .limit(40)
        .correlate_except(follow_requests, asker)
        .subquery()
    )
    return select(func.count()).select_from(asking).scalar_subquery()


_count_requests = query(lambda: select(requests_to(ME)), int)


async def is_following(db: Session, me: AccountId, other: AccountId) -> bool:
    return await db.one(_following, me=me, other=other) is not None


async def find_follow(db: Session, me: AccountId, other: AccountId) -> Follow | None:
    return await db.one(_find_follow, me=me, other=other)


async def find_request(db: Session, me: AccountId, other: AccountId) -> Follow | None:
    return await db.one(_find_request, me=me, other=other)


async def add_follow(db: Session, follow: Follow) -> bool:
    """False when it was there already."""
    return await db.run(_add_follow, **{name: getattr(follow, name) for name in Follow.__struct_fields__}) == 1


async def add_request(db: Session, request: Follow) -> bool:
    return await db.run(_add_request, **{name: getattr(request, name) for name in Follow.__struct_fields__}) == 1


async def drop_follow(db: Session, me: AccountId, other: AccountId) -> Follow | None:
    """What was there."""
    found: Follow | None = await db.one(_drop_follow, me=me, other=other)
    return found


async def drop_request(db: Session, me: AccountId, other: AccountId) -> Follow | None:
    found: Follow | None = await db.one(_drop_request, me=me, other=other)
    return found


async def change_follow(db: Session, follow: Follow) -> None:
    await db.run(
        _change_follow, row=follow.id, reblogs=follow.reblogs, notify=follow.notify, languages=follow.languages
    )


async def change_request(db: Session, request: Follow) -> None:
    await db.run(
        _change_request, row=request.id, reblogs=request.reblogs, notify=request.notify, languages=request.languages
    )


async def name_follow(db: Session, follow: Follow, uri: str) -> None:
    """What the follower's own server calls it."""
    await db.run(_name_follow, row=follow.id, new_uri=uri)


async def name_request(db: Session, request: Follow, uri: str) -> None:
    await db.run(_name_request, row=request.id, new_uri=uri)


async def follow_called(db: Session, me: AccountId, uri: str) -> Follow | None:
    """A follow or a request of mine, by what it is called."""
    found = await db.one(_follow_called, me=me, uri=uri)
    if found is None:
        found = await db.one(_request_called, me=me, uri=uri)
    return found


async def answered_by(db: Session, me: AccountId, uri: str) -> Follow | None:
    """A request to follow me, or a follow of me, by what it is called."""
    found = await db.one(_answered_request, me=me, uri=uri)
    if found is None:
        found = await db.one(_answered_follow, me=me, uri=uri)
    return found


async def welcome_requests(db: Session, me: AccountId, most: int) -> list[AccountId]:
    """Who asks to follow, oldest first, without those whom the team has limited."""
    return await db.all(_requests_to, me=me, most=most)


async def count_requests(db: Session, me: AccountId) -> int:
    """How many ask to follow, as far as forty."""
    return await db.one(_count_requests, me=me) or 0


# Whom somebody follows or asked to, and who follows somebody


def _among(table: Table) -> Query[AccountId]:
    return query(
        select(table.c.target_id).where(and_(table.c.account_id == ME, any_of(table.c.target_id, "ids"))), AccountId
    )


_followed_among, _requested_among = _among(follows), _among(follow_requests)


def _among_those_who_want(table: Table) -> Query[AccountId]:
    clause = and_(table.c.target_id == ME, any_of(table.c.account_id, "ids"))
    return query(select(table.c.account_id).where(clause), AccountId)


_following_among, _requesting_among = _among_those_who_want(follows), _among_those_who_want(follow_requests)
_count_following = query(lambda: select(func.count()).select_from(follows).where(follows.c.account_id == ME), int)
_here = alias_of(accounts)
_is_local = follows.c.account_id.in_(
    select(_here.c.id).where(and_(_here.c.domain == "", _here.c.id == follows.c.account_id)).correlate_except(_here)
)
_observers = query(
    lambda: (
        select(follows.c.account_id, follows.c.id)
        .where(
            and_(
                follows.c.target_id == ME,
                follows.c.notify,
                follows.c.id > bindparam("after"),
                follows.c.id < bindparam("before"),
                _is_local,
            )
        )
        .order_by(follows.c.id)
        .limit(bindparam("most"))
    ),
    tuple,
)


_reader = query(
    lambda: (
        select(follows.c.account_id)
        .join(_here, _here.c.id == follows.c.account_id)
        .where(and_(follows.c.target_id == ME, _here.c.domain == "", _here.c.suspended_at.is_(None)))
        .order_by(follows.c.id)
        .limit(1)
    ),
    AccountId,
)


async def a_follower_here(db: Session, followed: AccountId) -> AccountId | None:
    """Somebody who lives here and follows an account, if there is one."""
    return await db.one(_reader, me=followed)


async def wanted_among(db: Session, me: AccountId, ids: Sequence[AccountId]) -> set[AccountId]:
    """Whom of these I follow, or asked to; and myself."""
    wanted = list(ids)
    followed = await db.all(_followed_among, me=me, ids=wanted)
    requested = await db.all(_requested_among, me=me, ids=wanted)
    return {*followed, *requested} | ({me} & set(ids))


async def wanting_among(db: Session, me: AccountId, ids: Sequence[AccountId]) -> set[AccountId]:
    """Who of these follows me, or asked to."""
    wanted = list(ids)
    return {
        *await db.all(_following_among, me=me, ids=wanted),
        *await db.all(_requesting_among, me=me, ids=wanted),
    }


async def count_following(db: Session, me: AccountId) -> int:
    return await db.one(_count_following, me=me) or 0


async def observers(
    db: Session, author_id: AccountId, after: int, most: int, *, before: int
) -> list[tuple[AccountId, int]]:
    """Those here who want to hear of everything an author posts, and did so before an id: account and place."""
    return await db.all(_observers, me=author_id, after=after, most=most, before=before)
