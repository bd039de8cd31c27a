"""Everything between one account and others, in one query."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Integer,
    Select,
    Table,
    Text,
    and_,
    cast,
    literal_column,
    null,
    or_,
    select,
    union_all,
)

from kith.base.db import Document, Instant, Session, any_of, query
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId
from kith.social.relationships.rules import lasts
from kith.social.relationships.store.common import ME
from kith.social.relationships.tables import (
    account_notes,
    blocks,
    domain_blocks,
    endorsements,
    follow_requests,
    follows,
    mutes,
)
from kith.social.remote_servers import is_of_server

(
    KNOWN,
    FOLLOWING,
    FOLLOWED_BY,
    REQUESTED,
    REQUESTED_BY,
    BLOCKING,
    BLOCKED_BY,
    MUTING,
    DOMAIN_BLOCKING,
    ENDORSED,
    NOTED,
) = range(11)


def _tie(
    flag: int,
    other: ColumnElement[Any],
    clause: ColumnElement[bool],
    *,
    first: ColumnElement[Any] | None = None,
    second: ColumnElement[Any] | None = None,
    languages: ColumnElement[Any] | None = None,
    comment: ColumnElement[Any] | None = None,
    until: ColumnElement[Any] | None = None,
) -> Select[Any]:
    return select(
        literal_column(str(flag), Integer).label("flag"),
        cast(other, BigInteger).label("id"),
        (cast(null(), Boolean) if first is None else first).label("first"),
        (cast(null(), Boolean) if second is None else second).label("second"),
        (cast(null(), Document()) if languages is None else languages).label("languages"),
        (cast(null(), Text) if comment is None else comment).label("comment"),
        (cast(null(), Instant()) if until is None else until).label("until"),
    ).where(clause)


def _mine(table: Table) -> tuple[ColumnElement[Any], ColumnElement[bool]]:
    return table.c.target_id, and_(table.c.account_id == ME, any_of(table.c.target_id, "ids"))


def _theirs(table: Table) -> tuple[ColumnElement[Any], ColumnElement[bool]]:
    return table.c.account_id, and_(table.c.target_id == ME, any_of(table.c.account_id, "ids"))


def _wants(flag: int, table: Table) -> Select[Any]:
    return _tie(flag, *_mine(table), first=table.c.reblogs, second=table.c.notify, languages=table.c.languages)


_is_gone = or_(accounts.c.suspended_at.is_not(None), accounts.c.deleted_at.is_not(None))
_muted, _is_mine = _mine(mutes)
_ties = query(
    union_all(
        _tie(KNOWN, accounts.c.id, any_of(accounts.c.id, "ids"), first=_is_gone),
        _wants(FOLLOWING, follows),
        _tie(FOLLOWED_BY, *_theirs(follows)),
        _wants(REQUESTED, follow_requests),
        _tie(REQUESTED_BY, *_theirs(follow_requests)),
        _tie(BLOCKING, *_mine(blocks)),
        _tie(BLOCKED_BY, *_theirs(blocks)),
        _tie(MUTING, _muted, and_(_is_mine, lasts(mutes)), first=mutes.c.hide_notifications, until=mutes.c.expires_at),
        _tie(
            DOMAIN_BLOCKING,
            accounts.c.id,
            and_(
                any_of(accounts.c.id, "ids"),
                is_of_server(accounts.c.domain, domain_blocks.c.domain),
                domain_blocks.c.account_id == ME,
            ),
        ),
        _tie(ENDORSED, *_mine(endorsements)),
        _tie(NOTED, *_mine(account_notes), comment=account_notes.c.comment),
    ),
    tuple,
)


async def ties(
    db: Session, me: AccountId, ids: Sequence[int], now: datetime
) -> list[tuple[int, int, Any, Any, Any, str | None, datetime | None]]:
    """What there is, by flag and account: two switches, languages, a comment, an end, where the flag has them."""
    return await db.all(_ties, me=me, ids=list(ids), now=now)
