"""Statements about policies, permissions and requests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from msgspec.structs import asdict
from sqlalchemy import BindParameter, and_, bindparam, delete, func, literal_column, or_, select, update

from kith.base.db import Session, alias_of, any_of, any_row, command, query, upsert
from kith.base.paging import Cursor
from kith.social.accounts.access import is_there
from kith.social.accounts.tables import accounts
from kith.social.id_lists import IdList
from kith.social.ids import AccountId
from kith.social.notifications.tables import (
    NotificationPolicy,
    NotificationRequest,
    notifications,
    permissions,
    policies,
    requests,
)

MOST_COUNTED = 100
N, P, R = notifications, permissions, requests
_me: BindParameter[Any] = bindparam("me")
_from: BindParameter[Any] = bindparam("from_id")
_held = alias_of(N, "held")
_sender = alias_of(accounts, "sender")


# Policies

_policy = query(
    select(*(policies.c[name] for name in NotificationPolicy.__struct_fields__)).where(policies.c.account_id == _me),
    NotificationPolicy,
)
_new_policy = upsert(policies).values({column.name: bindparam(column.name) for column in policies.columns})
_set_policy = command(
    _new_policy.on_conflict_do_update(
        index_elements=["account_id"],
        set_={name: _new_policy.excluded[name] for name in NotificationPolicy.__struct_fields__},
    ).inline()
)


async def policy_of(db: Session, me: AccountId) -> NotificationPolicy:
    return await db.one(_policy, me=me) or NotificationPolicy()


async def set_policy(db: Session, me: AccountId, policy: NotificationPolicy) -> None:
    await db.run(_set_policy, account_id=me, **asdict(policy))


# Requests. One is there while anything it is about is: a deleted post, or an account that goes, ends it.


def _of_sender(own: Any) -> Any:
    return and_(
        own.c.account_id == R.c.account_id,
        own.c.from_id == R.c.from_id,
        own.c.filtered,
        own.c.type.in_(("mention", "quote")),
    )


def _counted() -> Any:
    some = select(_held.c.id).where(_of_sender(_held)).limit(MOST_COUNTED).correlate(R).subquery("some")
    return select(func.count()).select_from(some).scalar_subquery()


def _newest() -> Any:
    own = alias_of(N)
    return select(own.c.status_id).where(_of_sender(own)).order_by(own.c.id.desc()).limit(1).scalar_subquery()


_any = alias_of(N, "any_held")
_is_pending = and_(R.c.account_id == _me, is_there(_sender), any_row(_any, _of_sender(_any)))
_pending = R.join(_sender, _sender.c.id == R.c.from_id)


def _select() -> Any:
    return (
        select(
            R.c.id, R.c.account_id, R.c.from_id, R.c.created_at, R.c.updated_at, _counted().label("count"),
            _newest().label("last_status_id"),
        )
        .select_from(_pending)
        .where(_is_pending)
    )  # fmt: skip


_list = IdList(_select, R.c.id, row=NotificationRequest)
_one = query(lambda: _select().where(R.c.id == bindparam("id")), NotificationRequest)
_senders = query(select(R.c.from_id).where(and_(R.c.account_id == _me, any_of(R.c.id, "ids"))), AccountId)
_drop = command(delete(R).where(and_(R.c.account_id == _me, any_of(R.c.id, "ids"))))
_new = upsert(R).values({column.name: bindparam(column.name, type_=column.type) for column in R.columns})
_note = command(
    _new.on_conflict_do_update(
        index_elements=["account_id", "from_id"], set_={"updated_at": _new.excluded.updated_at}
    ).inline()
)
_between = command(delete(R).where(and_(R.c.account_id == _me, R.c.from_id == bindparam("other"))))
_drop_all = command(delete(R).where(R.c.account_id == _me))
_of_account = command(delete(R).where(or_(R.c.account_id == _me, R.c.from_id == _me)))


class PendingSummary(NamedTuple):
    requests: int
    notifications: int


def _summary() -> Any:
    some = (
        select(_counted().label("count")).select_from(_pending).where(_is_pending).limit(MOST_COUNTED).subquery("few")
    )
    total = func.coalesce(func.sum(some.c.count), literal_column("0"))
    return select(func.count().label("requests"), total.label("notifications")).select_from(some)


_summarized = query(_summary, PendingSummary)


async def page(db: Session, me: AccountId, cursor: Cursor) -> list[NotificationRequest]:
    statement, values = _list.form(cursor)
    found: list[NotificationRequest] = await db.all(statement, me=me, **values)
    return cursor.newest_first(found)


async def find(db: Session, me: AccountId, id: int) -> NotificationRequest | None:
    return await db.one(_one, me=me, id=id)


async def senders(db: Session, me: AccountId, ids: Sequence[int]) -> list[AccountId]:
    """Who they are from."""
    return await db.all(_senders, me=me, ids=list(ids))


async def note(db: Session, id: int, me: AccountId, from_id: AccountId, now: datetime) -> None:
    """Somebody's first notification that is held back makes a request, a further one refreshes it."""
    await db.run(_note, id=id, account_id=me, from_id=from_id, created_at=now, updated_at=now)


async def drop(db: Session, me: AccountId, ids: Sequence[int]) -> None:
    await db.run(_drop, me=me, ids=list(ids))


async def drop_between(db: Session, me: AccountId, other: AccountId) -> None:
    await db.run(_between, me=me, other=other)


async def drop_all(db: Session, me: AccountId) -> None:
    await db.run(_drop_all, me=me)


async def forget_account(db: Session, account_id: AccountId) -> None:
    """Their own, and those about them."""
    await db.run(_of_account, me=account_id)
    await db.run(_no_permissions, me=account_id)


async def summary(db: Session, me: AccountId) -> PendingSummary:
    """Of a hundred requests at most."""
    [found] = await db.all(_summarized, me=me)
    return PendingSummary(int(found.requests), int(found.notifications))


# Permissions, and what was held back before they were given

_permit_new = upsert(P).values({column.name: bindparam(column.name, type_=column.type) for column in P.columns})
_permit = command(
    _permit_new.on_conflict_do_update(index_elements=["account_id", "from_id"], set_={"merging": True}).inline()
)
_no_permissions = command(delete(P).where(or_(P.c.account_id == _me, P.c.from_id == _me)))
_merging = query(select(P.c.from_id).where(and_(P.c.account_id == _me, P.c.merging)).limit(1), AccountId)
_merged = command(update(P).where(and_(P.c.account_id == _me, P.c.from_id == _from)).values(merging=False))
_filtered = and_(N.c.account_id == _me, N.c.from_id == _from, N.c.filtered)
_held_back = query(
    select(N.c.id, N.c.type).where(_filtered).order_by(N.c.id).limit(bindparam("most")),
    tuple,
)
_let_through = command(update(N).where(any_of(N.c.id, "ids")).values(filtered=False))
_forget_held = command(delete(N).where(and_(N.c.account_id == _me, any_of(N.c.from_id, "senders"), N.c.filtered)))


async def permit(db: Session, me: AccountId, from_id: AccountId) -> None:
    await db.run(_permit, account_id=me, from_id=from_id, merging=True)


async def is_merging(db: Session, me: AccountId) -> bool:
    return await db.one(_merging, me=me) is not None


async def end_merging(db: Session, me: AccountId, from_id: AccountId) -> None:
    await db.run(_merged, me=me, from_id=from_id)


async def held_back(db: Session, me: AccountId, from_id: AccountId, most: int) -> list[tuple[int, str]]:
    """Id and type, oldest first."""
    return await db.all(_held_back, me=me, from_id=from_id, most=most)


async def let_through(db: Session, ids: Sequence[int]) -> None:
    await db.run(_let_through, ids=list(ids))


async def forget_held(db: Session, me: AccountId, senders: Sequence[AccountId]) -> None:
    await db.run(_forget_held, me=me, senders=list(senders))
