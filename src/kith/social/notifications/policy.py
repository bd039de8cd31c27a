"""What becomes of a notification from somebody its reader has little to do with: accepted, filtered or dropped."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import FromClause, Integer, and_, bindparam, case, exists, func, literal, literal_column, select

from kith.base.db import Session, alias_of, any_row, query
from kith.social.ids import AccountId, StatusId
from kith.social.notifications.tables import NotificationPolicy, permissions, policies
from kith.social.relationships import rules
from kith.social.statuses.tables import DIRECT, mentions, statuses

FILTERABLE = frozenset({"mention", "reblog", "follow", "follow_request", "favourite", "quote", "added_to_collection"})
REQUESTED = frozenset({"mention", "quote"})  # of these, what is held back becomes a request
NEW_ACCOUNT = timedelta(days=30)
NEW_FOLLOWER = timedelta(days=3)
MOST_ANCESTORS = 100
ACCEPT, FILTER, DROP = "accept", "filter", "drop"
CHOICES = (ACCEPT, FILTER, DROP)
DEFAULTS = NotificationPolicy()
RULES = NotificationPolicy.__struct_fields__


class Acquaintance(NamedTuple):
    """What a recipient has to do with a sender, and how they want such people treated."""

    recipient_id: AccountId
    is_permitted: bool
    is_following: bool
    followed_since: datetime | None  # since when the sender follows the recipient
    sender_since: datetime
    is_limited: bool
    is_bot: bool
    for_not_following: str
    for_not_followers: str
    for_new_accounts: str
    for_private_mentions: str
    for_limited_accounts: str
    for_bots: str


def acquaintance(recipient: FromClause, sender: FromClause) -> tuple[Any, ...]:
    """Its columns, in a statement that has joined the recipient's `policies` from outside."""
    allowed = alias_of(permissions)
    is_allowed = and_(allowed.c.account_id == recipient.c.id, allowed.c.from_id == sender.c.id)
    return (
        recipient.c.id.label("recipient_id"),
        any_row(allowed, is_allowed).label("is_permitted"),
        rules.follows(recipient.c.id, sender.c.id).label("is_following"),
        rules.follows_since(sender.c.id, recipient.c.id).label("followed_since"),
        sender.c.created_at.label("sender_since"),
        sender.c.silenced_at.is_not(None).label("is_limited"),
        sender.c.actor_type.in_(("Service", "Application")).label("is_bot"),
        *(func.coalesce(policies.c[name], literal(getattr(DEFAULTS, name))).label(name) for name in RULES),
    )


def decide(known: Acquaintance, now: datetime, *, private: bool) -> str:
    """The strictest of the rules that apply. `private`: a direct mention that nobody has asked for."""
    if known.is_permitted:
        return ACCEPT
    is_new_follower = known.followed_since is None or now - known.followed_since < NEW_FOLLOWER
    applying = [known.for_not_followers] if is_new_follower else []
    if not known.is_following:
        applying.append(known.for_not_following)
        if now - known.sender_since < NEW_ACCOUNT:
            applying.append(known.for_new_accounts)
        if known.is_limited:
            applying.append(known.for_limited_accounts)
        if known.is_bot:
            applying.append(known.for_bots)
        if private:
            applying.append(known.for_private_mentions)
    return max(applying, key=CHOICES.index, default=ACCEPT)


# Whether a direct post answers, at whatever distance, a direct post in which the recipient mentioned the sender.
_parent = alias_of(statuses, "parent")
_above = (
    select(statuses.c.id, statuses.c.in_reply_to_id, literal_column("0", Integer).label("distance"))
    .where(statuses.c.id == bindparam("status"))
    .cte("above", recursive=True)
)
_above = _above.union_all(
    select(_parent.c.id, _parent.c.in_reply_to_id, _above.c.distance + literal_column("1", Integer))
    .join(_above, _parent.c.id == _above.c.in_reply_to_id)
    .where(_above.c.distance < literal_column(str(MOST_ANCESTORS), Integer))
)
_asked = alias_of(statuses, "asked")
_to_sender = and_(
    mentions.c.status_id == _asked.c.id, mentions.c.account_id == bindparam("from_id"), ~mentions.c.silent
)
_invited = query(
    select(_asked.c.id)
    .select_from(_above.join(_asked, _asked.c.id == _above.c.id))
    .where(
        and_(
            _above.c.distance > 0,
            _asked.c.account_id == bindparam("me"),
            _asked.c.visibility == DIRECT,
            exists(select(mentions.c.status_id).where(_to_sender)),
        )
    )
    .limit(1),
    StatusId,
)
_is_direct = query(
    select(case((statuses.c.visibility == DIRECT, literal_column("1")), else_=literal_column("0"))).where(
        statuses.c.id == bindparam("status")
    ),
    int,
)


async def is_direct(db: Session, status_id: StatusId) -> bool:
    return await db.one(_is_direct, status=status_id) == 1


async def is_invited(db: Session, me: AccountId, from_id: AccountId, status_id: StatusId) -> bool:
    return await db.one(_invited, me=me, from_id=from_id, status=status_id) is not None
