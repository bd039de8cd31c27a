"""Whom somebody might want to follow, in one statement. Who is left out is decided when it is read."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    and_,
    bindparam,
    case,
    cast,
    false,
    func,
    literal,
    literal_column,
    or_,
    select,
    union_all,
)

from kith.base.db import Instant, alias_of, any_row, query
from kith.base.work import Work
from kith.social.accounts.access import is_there
from kith.social.accounts.lines import COLUMNS, A
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId
from kith.social.moderation.rules import is_in_question
from kith.social.relationships import rules
from kith.social.relationships.follow_source import Following
from kith.social.suggestions.store import MOST_KEPT
from kith.social.suggestions.tables import interactions, removed_suggestions, staff_picks

RECENT = timedelta(days=30)  # who has posted since is preferred
KEPT = timedelta(days=90)  # for so long an act counts
FRIENDS = 50  # whose friends are looked at, the newest
GENERAL = 100  # of those who posted last are looked at

INTERACTION, FEATURED, FRIEND, GLOBAL = 1, 2, 4, 8
_TIER, _PREFERRED = 10**12, 10**9
_recent = bindparam("recent", type_=Instant())


class SuggestionRow(NamedTuple):
    """`sources` are the bits of all the reasons."""

    id: AccountId
    version: int
    sources: int


def _candidates(column: ColumnElement[Any], source: int, tier: int, score: ColumnElement[Any]) -> Select[Any]:
    return select(
        column.label("account_id"),
        literal_column(str(source)).label("source"),
        literal_column(str(tier * _TIER), BigInteger).label("tier"),
        cast(score, BigInteger).label("score"),
    )


def _interacted() -> Select[Any]:
    since = bindparam("since", type_=Instant())
    best = (
        select(interactions.c.target_id, interactions.c.score)
        .where(and_(interactions.c.account_id == rules.ME, interactions.c.updated_at > since))
        .order_by(interactions.c.score.desc(), interactions.c.updated_at.desc())
        .limit(MOST_KEPT)
        .subquery("best")
    )
    return _candidates(best.c.target_id, INTERACTION, 4, best.c.score)


def _friends_of_friends() -> Select[Any]:
    """Whom those follow whom one follows, where they show it."""
    friend, own, theirs = alias_of(accounts, "friend"), Following("own"), Following("theirs")
    newest = (
        select(own.followed.label("id"))
        .select_from(own.source.join(friend, friend.c.id == own.followed))
        .where(and_(own.follower == rules.ME, func.coalesce(friend.c.hide_collections, false()).is_(False)))
        .order_by(own.id.desc())
        .limit(FRIENDS)
        .subquery("friends")
    )
    found = _candidates(theirs.followed, FRIEND, 2, func.count())
    source = theirs.source.join(newest, newest.c.id == theirs.follower)
    return found.select_from(source).group_by(theirs.followed)


def _general() -> Select[Any]:
    active = alias_of(accounts, "active")
    found = (
        select(active.c.id, active.c.followers_count)
        .where(and_(active.c.last_status_at.is_not(None), active.c.discoverable.is_(True)))
        .order_by(active.c.last_status_at.desc())
        .limit(GENERAL)
        .subquery("general")
    )
    return _candidates(found.c.id, GLOBAL, 1, found.c.followers_count)


def _is_suggested() -> ColumnElement[bool]:
    """Neither oneself, nor known already, nor unwanted; nor anybody who would have to be asked, is limited or
    reported, or is not there."""
    removed = alias_of(removed_suggestions)
    return and_(
        is_there(A),
        A.c.id != rules.ME,
        ~A.c.locked,
        ~A.c.memorial,
        A.c.moved_to.is_(None),
        A.c.silenced_at.is_(None),
        ~is_in_question(rules.ME, A.c.id),
        ~rules.follows(rules.ME, A.c.id),
        ~rules.has_asked(rules.ME, A.c.id),
        ~any_row(removed, and_(removed.c.account_id == rules.ME, removed.c.target_id == A.c.id)),
        rules.shows_author(rules.ME, A),
    )


def _statement() -> Select[Any]:
    picks = _candidates(staff_picks.c.account_id, FEATURED, 3, literal(0))
    found = union_all(_interacted(), picks, _friends_of_friends(), _general()).subquery("found")
    is_chosen = or_(found.c.source.in_((INTERACTION, FEATURED)), A.c.discoverable.is_(True))
    is_preferred = and_(found.c.source != INTERACTION, A.c.last_status_at > _recent)
    preferred = case((is_preferred, literal_column(str(_PREFERRED), BigInteger)), else_=literal_column("0", BigInteger))
    rank = func.max(found.c.tier + found.c.score + preferred)
    return (
        select(*COLUMNS, func.sum(found.c.source).label("sources"))
        .select_from(found.join(A, A.c.id == found.c.account_id))
        .where(and_(is_chosen, _is_suggested()))
        .group_by(A.c.id, A.c.version, A.c.last_status_at)
        .order_by(rank.desc(), A.c.last_status_at.desc().nulls_last(), A.c.id.desc())
        .limit(bindparam("limit"))
        .offset(bindparam("offset"))
    )


_suggested = query(_statement, SuggestionRow)


async def read(work: Work, me: AccountId, *, limit: int, offset: int) -> list[SuggestionRow]:
    """Whom one had to do with first, then whom the team picked, friends of friends, and who is much followed.

    Among the latter three those are preferred who have posted of late.
    """
    return await work.db.slow(
        _suggested, me=me, limit=limit, offset=offset, now=work.now, recent=work.now - RECENT, since=work.now - KEPT
    )
