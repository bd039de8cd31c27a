"""What the viewer has to do with others, as clauses: one per rule, for every query that shows people or their posts.

`me` is the viewer's account, bound under that name; `now` is bound for mutes that end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    FromClause,
    Table,
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

Clause = ColumnElement[bool]
ME: BindParameter[Any] = bindparam("me")
_now = bindparam("now", type_=Instant())


def any_row(table: FromClause, clause: Clause) -> Clause:
    """Looks at a table of its own, whatever the statement around it is about."""
    return exists(select(literal_column("1")).select_from(table).where(clause).correlate_except(table))


def _any_of_mine(
    table: Table, mine: str, theirs: str, other: ColumnElement[Any], *more: Callable[[Any], Clause]
) -> Clause:
    """A row of mine (by the column `mine`) about `other`. Most people have none at all, which is asked only once."""
    any_own, own = table.alias(), table.alias()
    about = and_(own.c[mine] == ME, own.c[theirs] == other, *(clause(own) for clause in more))
    return and_(any_row(any_own, any_own.c[mine] == ME), any_row(own, about))


def _lasts(mute: FromClause) -> Clause:
    return or_(mute.c.expires_at.is_(None), mute.c.expires_at > _now)


def blocks_me(account: ColumnElement[Any]) -> Clause:
    return _any_of_mine(blocks, "target_id", "account_id", account)


def i_block(account: ColumnElement[Any]) -> Clause:
    return _any_of_mine(blocks, "account_id", "target_id", account)


def i_mute(account: ColumnElement[Any]) -> Clause:
    return _any_of_mine(mutes, "account_id", "target_id", account, _lasts)


def i_block_domain(domain: ColumnElement[Any]) -> Clause:
    return and_(domain != literal_column("''"), _any_of_mine(domain_blocks, "account_id", "domain", domain))


def i_follow(account: ColumnElement[Any]) -> Clause:
    own = follows.alias()
    return any_row(own, and_(own.c.account_id == ME, own.c.target_id == account))


def kept_apart(person: FromClause) -> Clause:
    """Blocked either way, or muted: left out of lists of people, unless the list is one's own."""
    return or_(i_block(person.c.id), blocks_me(person.c.id), i_mute(person.c.id))


def in_my_way(author: FromClause) -> Clause:
    """Whose posts and faces are left out of every list I look at."""
    return or_(kept_apart(author), i_block_domain(author.c.domain))


def welcome(author: FromClause, *, anonymous: bool) -> Clause:
    return true() if anonymous else ~in_my_way(author)


def is_there(person: FromClause) -> Clause:
    """Neither suspended, nor gone, nor waiting to be let in."""
    return and_(person.c.suspended_at.is_(None), person.c.deleted_at.is_(None), person.c.is_listed)
