"""Where something is told: inboxes as statements, the shared one where a server has one, each once.

Whoever was suspended here or is gone is told nothing. What is not for everybody goes to whom it is addressed to, and
to nobody else, whoever was answered or quoted by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, TypeVar

from sqlalchemy import BindParameter, ColumnElement, FromClause, Select, and_, bindparam, func, or_, select, true, union

from kith.base.db import Query, Session, alias_of, any_of, any_row, query
from kith.base.ids import id_at
from kith.base.work import Work
from kith.federation.people.tables import actors
from kith.social.accounts.tables import Account, accounts
from kith.social.ids import AccountId, StatusId
from kith.social.moderation.tables import reports
from kith.social.relationships import reach, rules
from kith.social.relationships.follow_source import Following
from kith.social.statuses.tables import PRIVATE, UNLISTED, favourites, mentions, statuses, votes

__all__ = [
    "after",
    "at_domains",
    "followers",
    "followers_and_blockers",
    "inbox_of",
    "of_boosters",
    "of_changed_posts",
    "of_deleted_posts",
    "of_new_posts",
    "of_profile",
]

RECENT = timedelta(days=2)
MOST_RECENT = 200  # posts whose mentions are looked at
MANY = 2000  # followers to look through beside the loop
Clause = ColumnElement[bool]
Value = ColumnElement[Any]
Row = TypeVar("Row")

_inbox = func.coalesce(actors.c.shared_inbox, actors.c.inbox).label("inbox")
_S, _A, _T = alias_of(statuses, "s"), alias_of(accounts, "author"), alias_of(accounts, "told")
_is_there = and_(_T.c.suspended_at.is_(None), _T.c.deleted_at.is_(None))
_is_open = _S.c.visibility <= UNLISTED
# Asked once in a statement: as long as nobody elsewhere is known, no list of followers is looked through.
_knows_anybody = any_row(alias_of(actors), true())


# Posts, several at once: rows of a post and an inbox


def _reached(person: Value, source: FromClause, *clauses: Clause) -> Select[Any]:
    """`person` is a column of `source`, in which the post is `_S`."""
    return (
        select(_S.c.id.label("status_id"), _inbox)
        .select_from(source.join(actors, actors.c.account_id == person).join(_T, _T.c.id == person))
        .where(and_(any_of(_S.c.id, "ids"), _S.c.local, _is_there, *clauses))
    )


def _may_be_named(person: Value) -> Clause:
    """Who is limited speaks to those who want to hear them."""
    wants = or_(rules.follows(person, _S.c.account_id), rules.has_asked(person, _S.c.account_id))
    return or_(_A.c.silenced_at.is_(None), wants)


def _addressed() -> list[Select[Any]]:
    """By its visibility and its text."""
    following = Following("following")
    said = _S.join(_A, _A.c.id == _S.c.account_id)
    named = alias_of(mentions, "named")
    return [
        _reached(
            following.follower,
            _S.join(following.source, following.followed == _S.c.account_id),
            _S.c.visibility <= PRIVATE,
            _knows_anybody,
        ),
        _reached(named.c.account_id, said.join(named, named.c.status_id == _S.c.id), _may_be_named(named.c.account_id)),
    ]


def _concerned() -> list[Select[Any]]:
    """Whom an open post answers, quotes or boosts; and who follows whom it answers."""
    said = _S.join(_A, _A.c.id == _S.c.account_id)
    boosted, quoted = alias_of(statuses, "boosted"), alias_of(statuses, "quoted")
    answered, near = alias_of(accounts, "answered"), Following("near")
    by_answered = said.join(answered, answered.c.id == _S.c.in_reply_to_account_id)
    return [
        _reached(_S.c.in_reply_to_account_id, said, _is_open, _may_be_named(_S.c.in_reply_to_account_id)),
        _reached(boosted.c.account_id, _S.join(boosted, boosted.c.id == _S.c.reblog_of_id)),
        _reached(
            quoted.c.account_id,
            _S.join(quoted, quoted.c.id == _S.c.quoted_id),
            _is_open,
            _S.c.quote_state.in_(("accepted", "pending")),
        ),
        _reached(
            near.follower,
            by_answered.join(near.source, near.followed == answered.c.id),
            _is_open,
            _knows_anybody,
            _A.c.silenced_at.is_(None),
            answered.c.domain == "",
            answered.c.suspended_at.is_(None),
            answered.c.deleted_at.is_(None),
            ~rules.blocks_domain(_S.c.account_id, _T.c.domain),
        ),
    ]


def _taken_up(*clauses: Clause) -> list[Select[Any]]:
    """Whoever boosted, quoted or answered a post, made it a favourite, or voted below it."""
    boost, quote, reply = (alias_of(statuses, name) for name in ("boost", "quote", "reply"))
    favourite, vote = alias_of(favourites, "favourite"), alias_of(votes, "vote")
    return [
        _reached(boost.c.account_id, _S.join(boost, boost.c.reblog_of_id == _S.c.id), *clauses),
        _reached(quote.c.account_id, _S.join(quote, quote.c.quoted_id == _S.c.id), *clauses),
        _reached(reply.c.account_id, _S.join(reply, reply.c.in_reply_to_id == _S.c.id), *clauses),
        _reached(favourite.c.account_id, _S.join(favourite, favourite.c.status_id == _S.c.id), *clauses),
        _reached(vote.c.account_id, _S.join(vote, vote.c.poll_id == _S.c.poll_id), *clauses),
    ]


_followed_by = query(
    lambda: (
        select(func.max(_A.c.followers_count))
        .select_from(_S.join(_A, _A.c.id.in_((_S.c.account_id, _S.c.in_reply_to_account_id))))
        .where(any_of(_S.c.id, "ids"))
    ),
    int,
)
_new: Query[Any] = query(lambda: union(*_addressed(), *_concerned()), tuple)
_changed: Query[Any] = query(lambda: union(*_addressed(), *_concerned(), *_taken_up(_is_open)), tuple)
# That a post is gone says nothing of what was in it.
_deleted: Query[Any] = query(lambda: union(*_addressed(), *_concerned(), *_taken_up()), tuple)

ByPost = dict[StatusId, list[str]]


async def of_new_posts(db: Session, ids: Sequence[StatusId]) -> ByPost:
    return await _by_post(db, _new, ids)


async def of_changed_posts(db: Session, ids: Sequence[StatusId]) -> ByPost:
    return await _by_post(db, _changed, ids)


async def of_deleted_posts(db: Session, ids: Sequence[StatusId]) -> ByPost:
    """Everybody who may have them."""
    return await _by_post(db, _deleted, ids)


async def _by_post(db: Session, statement: Query[Any], ids: Sequence[StatusId]) -> ByPost:
    found: ByPost = {}
    if ids:
        most = await db.one(_followed_by, ids=list(ids)) or 0
        for id, inbox in await _read(db, statement, most, ids=list(ids)):
            found.setdefault(id, []).append(inbox)
    return found


async def _read(db: Session, statement: Query[Row], followers: int, **params: Any) -> list[Row]:
    """What is told has been committed, so that it can be looked for beside the loop where that takes long."""
    return await db.slow(statement, **params) if followers > MANY else await db.all(statement, **params)


# What was said elsewhere, and boosted here: rows of a booster and an inbox


def _beyond() -> Query[Any]:
    """Those who follow the boosters, but for people of the server it comes from, which knows."""
    boost, booster, near = alias_of(statuses, "boost"), alias_of(accounts, "booster"), Following("near")
    source = (
        _S.join(_A, _A.c.id == _S.c.account_id)
        .join(boost, boost.c.reblog_of_id == _S.c.id)
        .join(booster, booster.c.id == boost.c.account_id)
        .join(near.source, near.followed == booster.c.id)
        .join(actors, actors.c.account_id == near.follower)
        .join(_T, _T.c.id == near.follower)
    )
    is_here = and_(boost.c.local, booster.c.suspended_at.is_(None), booster.c.deleted_at.is_(None))
    clauses = (_S.c.id == bindparam("status"), is_here, _is_there, _T.c.domain != _A.c.domain)
    return query(select(booster.c.id, _inbox).select_from(source).where(and_(*clauses)).distinct(), tuple)


_of_boosters = _beyond()


async def of_boosters(db: Session, id: StatusId) -> tuple[AccountId | None, list[str]]:
    """One of those here who boosted a post, in whose name it can be told, and where all their boosts have gone."""
    found = await db.slow(_of_boosters, status=id)
    return (
        (min(booster for booster, _ in found), list(dict.fromkeys(inbox for _, inbox in found)))
        if found
        else (None, [])
    )


# People: inboxes alone

_account: BindParameter[Any] = bindparam("account")
_since: BindParameter[Any] = bindparam("since")


def _inboxes(*people: Select[Any]) -> Query[str]:
    def of(ids: Select[Any]) -> Select[Any]:
        joined = actors.join(_T, _T.c.id == actors.c.account_id)
        return select(_inbox).select_from(joined).where(and_(actors.c.account_id.in_(ids), _is_there))

    return query(union(*(of(ids) for ids in people)), str)


_recent = (
    select(statuses.c.id)
    .where(and_(statuses.c.account_id == _account, statuses.c.id > _since))
    .order_by(statuses.c.id.desc())
    .limit(MOST_RECENT)
)
_followers = reach.followers_of(_account)
_of_followers = _inboxes(_followers)
_of_followers_and_blockers = _inboxes(_followers, reach.blockers_of(_account))
_of_profile = _inboxes(
    _followers,
    select(reports.c.account_id).where(reports.c.target_id == _account),
    select(mentions.c.account_id).where(mentions.c.status_id.in_(_recent)),
    reach.followed_since(_account, _since),
    reach.asked_since(_account, _since),
)
_at_domains = query(
    lambda: (
        select(_inbox)
        .select_from(actors.join(_T, _T.c.id == actors.c.account_id))
        .where(and_(any_of(_T.c.domain, "domains"), any_of(_T.c.id, "ids"), _is_there))
        .distinct()
    ),
    str,
)
_after = query(
    lambda: select(_inbox).where(_inbox > bindparam("last")).distinct().order_by(_inbox).limit(bindparam("most")), str
)
_shared = query(lambda: select(_inbox).where(actors.c.account_id == _account), str)
_own = query(lambda: select(actors.c.inbox).where(actors.c.account_id == _account), str)


async def followers(db: Session, account: Account) -> list[str]:
    return await _read(db, _of_followers, account.followers_count, account=account.id)


async def followers_and_blockers(db: Session, account: Account) -> list[str]:
    return await _read(db, _of_followers_and_blockers, account.followers_count, account=account.id)


async def of_profile(work: Work, account: Account) -> list[str]:
    """Who follows somebody, has reported them, or was mentioned or followed by them lately."""
    since = id_at(work.now - RECENT)
    return await _read(work.db, _of_profile, account.followers_count, account=account.id, since=since)


async def at_domains(db: Session, domains: Sequence[str], ids: Sequence[AccountId]) -> list[str]:
    """Of these people, as far as they live at these domains."""
    return await db.all(_at_domains, domains=list(domains), ids=list(ids)) if domains and ids else []


async def after(db: Session, last: str, most: int) -> list[str]:
    """All inboxes that are known, a stretch at a time, in their order."""
    return await db.slow(_after, last=last, most=most)


async def inbox_of(db: Session, account_id: AccountId, *, own: bool = False) -> str | None:
    """Of one person, whoever they are; `own` is the one that only they read."""
    return await db.one(_own if own else _shared, account=account_id)
