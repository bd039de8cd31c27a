from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, and_, bindparam, delete, or_, select, update

from kith.base.db import Instant, Session, command, insert_into, query
from kith.social.accounts.tables import accounts
from kith.social.notifications.tables import Notification, notifications
from kith.social.push.tables import PushSubscription, subscriptions
from kith.social.relationships import rules

_id: BindParameter[Any] = bindparam("subscription")
_hash: BindParameter[Any] = bindparam("hash")
_of_token = or_(
    subscriptions.c.oauth_hash == _hash, subscriptions.c.personal_hash == _hash, subscriptions.c.session_hash == _hash
)
_by_token = query(select(subscriptions).where(_of_token), PushSubscription)
_by_id = query(select(subscriptions).where(subscriptions.c.id == _id), PushSubscription)
_any_of = query(select(subscriptions.c.id).where(subscriptions.c.account_id == bindparam("account")).limit(1), int)
_insert = query(insert_into(subscriptions, without=["id"]).returning(subscriptions.c.id), int)
_change = command(
    update(subscriptions)
    .where(subscriptions.c.id == _id)
    .values(alerts=bindparam("new_alerts", type_=subscriptions.c.alerts.type), policy=bindparam("new_policy"))
)
# SQLite may give the number of the newest one to the next one, so the moment is asked for as well.
_remove = command(
    delete(subscriptions).where(
        and_(subscriptions.c.id == _id, subscriptions.c.created_at == bindparam("made_at", type_=Instant()))
    )
)
_remove_by_token = command(delete(subscriptions).where(_of_token))
_move = command(
    update(subscriptions).where(subscriptions.c.session_hash == bindparam("old")).values(session_hash=bindparam("new"))
)
_remove_of_account = command(delete(subscriptions).where(subscriptions.c.account_id == bindparam("account")))
_newest = (
    select(subscriptions.c.id)
    .where(subscriptions.c.account_id == bindparam("account"))
    .order_by(subscriptions.c.created_at.desc(), subscriptions.c.id.desc())
    .limit(bindparam("most"))
)
_remove_oldest = command(
    delete(subscriptions).where(
        and_(subscriptions.c.account_id == bindparam("account"), subscriptions.c.id.not_in(_newest))
    )
)

# A notification, and a subscription of the one it is for that takes it, but for its type.
_taken = and_(
    ~notifications.c.filtered,
    notifications.c.created_at > bindparam("after", type_=Instant()),
    accounts.c.suspended_at.is_(None),
    accounts.c.deleted_at.is_(None),
    or_(
        subscriptions.c.policy == "all",
        and_(
            subscriptions.c.policy == "followed",
            rules.follows(notifications.c.account_id, notifications.c.from_id),
        ),
        and_(
            subscriptions.c.policy == "follower",
            rules.follows(notifications.c.from_id, notifications.c.account_id),
        ),
    ),
)
_both = notifications.join(subscriptions, subscriptions.c.account_id == notifications.c.account_id).join(
    accounts, accounts.c.id == notifications.c.account_id
)
_this = notifications.c.id == bindparam("notification")
_receivers = query(
    select(subscriptions.c.id, subscriptions.c.alerts, notifications.c.type)
    .select_from(_both)
    .where(and_(_this, _taken))
    .order_by(subscriptions.c.id),
    tuple,
)
_pushed = query(
    select(notifications).select_from(_both).where(and_(_this, subscriptions.c.id == _id, _taken)),
    Notification,
)


async def find(db: Session, subscription_id: int) -> PushSubscription | None:
    return await db.one(_by_id, subscription=subscription_id)


async def has_any(db: Session, account_id: int) -> bool:
    """Whether any device of somebody is told by push."""
    return await db.one(_any_of, account=account_id) is not None


async def find_by_token(db: Session, key_hash: str) -> PushSubscription | None:
    return await db.one(_by_token, hash=key_hash)


async def insert(db: Session, new: PushSubscription) -> int:
    """Its id."""
    values = {name: getattr(new, name) for name in PushSubscription.__struct_fields__ if name != "id"}
    made = await db.one(_insert, **values)
    assert made is not None  # noqa: S101 - an insert gives a row, or raises
    return made


async def change(db: Session, changed: PushSubscription) -> None:
    await db.run(_change, subscription=changed.id, new_alerts=changed.alerts, new_policy=changed.policy)


async def remove(db: Session, one: PushSubscription) -> None:
    """Only this very one: an app may have put another in its place while a message was on its way."""
    await db.run(_remove, subscription=one.id, made_at=one.created_at)


async def remove_by_token(db: Session, key_hash: str) -> None:
    await db.run(_remove_by_token, hash=key_hash)


async def move(db: Session, old: str, new: str) -> None:
    """From one session to another, by the hashes of their keys."""
    await db.run(_move, old=old, new=new)


async def remove_of_account(db: Session, account_id: int) -> None:
    await db.run(_remove_of_account, account=account_id)


async def remove_oldest(db: Session, account_id: int, *, keep: int) -> None:
    await db.run(_remove_oldest, account=account_id, most=keep)


async def receivers(db: Session, notification_id: int, after: datetime) -> list[int]:
    """The subscriptions that a notification is sent to, if it was made later than `after`."""
    found: list[tuple[int, dict[str, bool], str]] = await db.all(_receivers, notification=notification_id, after=after)
    return [id for id, alerts, type in found if alerts.get(type)]


async def find_pushed(
    db: Session, notification_id: int, subscription: PushSubscription, after: datetime
) -> Notification | None:
    """The notification, if it is there and still to be sent to this subscription."""
    found = await db.one(_pushed, notification=notification_id, subscription=subscription.id, after=after)
    return found if found is not None and subscription.alerts.get(found.type) else None
