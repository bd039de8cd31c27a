"""Who is told: of those a thing concerns, everybody but those who do not want to hear of it from its author."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, and_, bindparam, case, false, literal_column, or_, select, true

from kith.base.db import alias_of, any_of, any_row, query
from kith.social.accounts.tables import accounts
from kith.social.notifications.policy import acquaintance
from kith.social.notifications.tables import policies
from kith.social.relationships import rules
from kith.social.statuses.tables import conversation_mutes, favourites, mentions, statuses

Clause = ColumnElement[bool]
_R = alias_of(accounts, "r")  # who would be told
_F = alias_of(accounts, "f")  # whom it is from
_from: BindParameter[Any] = bindparam("from_id")
_status: BindParameter[Any] = bindparam("status")

RANKS = ("user", "moderator", "administrator", "owner")


def _muted_thread(status_id: ColumnElement[Any]) -> Clause:
    own, about = alias_of(conversation_mutes), alias_of(statuses)
    return any_row(
        own.join(about, about.c.conversation_id == own.c.conversation_id),
        and_(own.c.account_id == _R.c.id, about.c.id == status_id),
    )


def _can_be_told() -> Clause:
    """A member who is here, of somebody who is."""
    return and_(
        _R.c.domain == "",
        _R.c.user_id.is_not(None),
        _R.c.suspended_at.is_(None),
        _R.c.deleted_at.is_(None),
        _F.c.suspended_at.is_(None),
        _F.c.deleted_at.is_(None),
    )


def _names_the_hidden() -> Clause:
    """It also mentions, or answers, somebody the recipient does not want to hear of."""
    named, about = alias_of(mentions), alias_of(statuses)
    return or_(
        any_row(named, and_(named.c.status_id == _status, rules.hides_notices_about(_R.c.id, named.c.account_id))),
        any_row(
            about,
            and_(
                about.c.id == _status,
                about.c.in_reply_to_account_id.is_not(None),
                rules.hides_notices_about(_R.c.id, about.c.in_reply_to_account_id),
            ),
        ),
    )


@lru_cache(4)
def who_is_told(*, mention: bool, own: bool) -> Any:
    """`own`: also whoever it is from. The team's mentions reach those whom they outrank in any case.

    Rows: 1 if that is so, else 0; and the columns of an `Acquaintance`.
    """
    hidden = _names_the_hidden() if mention else false()
    unwanted = or_(rules.hides_notices_from(_R.c.id, _F), _muted_thread(_status), hidden)
    is_below = case((any_of(_R.c.role, "below"), literal_column("1")), else_=literal_column("0"))
    return query(
        select(is_below if mention else literal_column("0"), *acquaintance(_R, _F))
        .select_from(_R.join(_F, _F.c.id == _from).outerjoin(policies, policies.c.account_id == _R.c.id))
        .where(
            and_(
                any_of(_R.c.id, "ids"),
                _can_be_told(),
                true() if own else _R.c.id != _F.c.id,
                or_(any_of(_R.c.role, "below"), ~unwanted) if mention else ~unwanted,
            )
        ),
        tuple,
    )


def _told_of_favourites() -> Any:
    mark, about = alias_of(favourites), alias_of(statuses)
    return (
        select(mark.c.account_id, mark.c.status_id, *acquaintance(_R, _F))
        .select_from(
            mark.join(about, about.c.id == mark.c.status_id)
            .join(_R, _R.c.id == about.c.account_id)
            .join(_F, _F.c.id == mark.c.account_id)
            .outerjoin(policies, policies.c.account_id == _R.c.id)
        )
        .where(
            and_(
                any_of(mark.c.status_id, "statuses"),
                any_of(mark.c.account_id, "accounts"),
                about.c.deleted_at.is_(None),
                _can_be_told(),
                _R.c.id != _F.c.id,
                ~or_(rules.hides_notices_from(_R.c.id, _F), _muted_thread(about.c.id)),
            )
        )
    )


# Favourites of these accounts among these statuses that are still there, with the authors who hear of them.
told_of_favourites = query(_told_of_favourites, tuple)


def below(role: str) -> list[str]:
    """The roles that a member of the team outranks."""
    return list(RANKS[: RANKS.index(role)]) if role in RANKS else []
