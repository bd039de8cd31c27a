"""Who may see which status: one clause per rule, used by every query that can show one.

`me` is the viewer's account, bound under that name; anonymous visitors have clauses of their own. A clause is made
for a given alias of the statuses and of their authors, so that a boost and what it boosts are both asked.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    FromClause,
    and_,
    bindparam,
    exists,
    literal_column,
    or_,
    select,
    true,
)

from kith.base.db import Instant
from kith.social.relationships.tables import blocks, domain_blocks, follows, mutes
from kith.social.statuses.tables import DIRECT, LIMITED, PRIVATE, PUBLIC, UNLISTED, mentions

Clause = ColumnElement[bool]
ME: BindParameter[Any] = bindparam("me")
_now = bindparam("now", type_=Instant())
_OPEN = (PUBLIC, UNLISTED)


def is_there(status: FromClause, author: FromClause) -> Clause:
    """Not deleted, by somebody who is neither suspended nor waiting to be let in."""
    return and_(
        status.c.deleted_at.is_(None),
        author.c.suspended_at.is_(None),
        author.c.deleted_at.is_(None),
        author.c.is_listed,
    )


def visible_to_anyone(status: FromClause, author: FromClause) -> Clause:
    return and_(is_there(status, author), status.c.visibility.in_(_OPEN))


def visible(status: FromClause, author: FromClause) -> Clause:
    """Own ones; open ones unless the author blocks me; followers' ones if I follow; any that mention me."""
    mine: Any = status.c.account_id == ME
    reaches = or_(status.c.visibility.in_(_OPEN), and_(status.c.visibility == PRIVATE, i_follow(status.c.account_id)))
    addressed = and_(status.c.visibility.in_((PRIVATE, DIRECT, LIMITED)), mentions_me(status.c.id))
    return and_(is_there(status, author), or_(mine, and_(~blocks_me(status.c.account_id), or_(reaches, addressed))))


def visible_for(status: FromClause, author: FromClause, *, anonymous: bool) -> Clause:
    return visible_to_anyone(status, author) if anonymous else visible(status, author)


# Every clause looks at tables of its own, whatever the statement around it is about.


def _any(table: FromClause, clause: Clause) -> Clause:
    return exists(select(literal_column("1")).select_from(table).where(clause).correlate_except(table))


def blocks_me(account: ColumnElement[Any]) -> Clause:
    own = blocks.alias()
    return _any(own, and_(own.c.account_id == account, own.c.target_id == ME))


def i_block(account: ColumnElement[Any]) -> Clause:
    own = blocks.alias()
    return _any(own, and_(own.c.account_id == ME, own.c.target_id == account))


def i_mute(account: ColumnElement[Any]) -> Clause:
    own = mutes.alias()
    lasting = or_(own.c.expires_at.is_(None), own.c.expires_at > _now)
    return _any(own, and_(own.c.account_id == ME, own.c.target_id == account, lasting))


def i_block_domain(domain: ColumnElement[Any]) -> Clause:
    own = domain_blocks.alias()
    return and_(domain != "", _any(own, and_(own.c.account_id == ME, own.c.domain == domain)))


def i_follow(account: ColumnElement[Any]) -> Clause:
    own = follows.alias()
    return _any(own, and_(own.c.account_id == ME, own.c.target_id == account))


def mentions_me(status_id: ColumnElement[Any]) -> Clause:
    own = mentions.alias()
    return _any(own, and_(own.c.status_id == status_id, own.c.account_id == ME))


def in_my_way(author: FromClause) -> Clause:
    """Whose posts and faces are left out of every list I look at (`now` is bound, for mutes that end)."""
    return or_(i_block(author.c.id), blocks_me(author.c.id), i_mute(author.c.id), i_block_domain(author.c.domain))


def welcome(author: FromClause, *, anonymous: bool) -> Clause:
    return true() if anonymous else ~in_my_way(author)
