"""Lists of people by what they have to do with each other, walked along the records that say so."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, ColumnElement, Select, Table, and_, bindparam, false, func, select, true

from kith.base.db import Query, alias_of, any_of, query
from kith.base.paging import Cursor
from kith.base.work import Work
from kith.social.accounts.access import is_there
from kith.social.accounts.lines import COLUMNS, A, AccountRow, CursorRow
from kith.social.accounts.tables import Account
from kith.social.id_lists import IdList
from kith.social.ids import AccountId
from kith.social.relationships import rules, store
from kith.social.relationships.tables import blocks, domain_blocks, endorsements, follow_requests, follows, mutes


class MutedRow(NamedTuple):
    """Somebody who is muted, until a moment or for good."""

    id: AccountId
    version: int
    cursor: int
    expires_at: datetime | str | None


class DomainRow(NamedTuple):
    domain: str
    id: int


MOST_FAMILIAR = 80

_owner: BindParameter[Any] = bindparam("owner")
_SHOWN = is_there(A)


def _people(
    table: Table, owner: str, person: str, *extra: ColumnElement[Any], cursor: ColumnElement[Any] | None = None
) -> Select[Any]:
    """The accounts on the other side of the owner's records; the id that pages go by comes right after the line."""
    return (
        select(*COLUMNS, (table.c.id if cursor is None else cursor).label("cursor"), *extra)
        .select_from(table.join(A, A.c.id == table.c[person]))
        .where(and_(table.c[owner] == _owner, _SHOWN))
    )


def _walks(table: Table, owner: str, person: str) -> dict[bool, IdList]:
    """As anybody sees it, and as a viewer sees it who keeps apart from some."""
    everybody = _people(table, owner, person)
    return {
        False: IdList(everybody, table.c.id, row=CursorRow),
        True: IdList(everybody.where(~rules.hides_account(rules.ME, A.c.id)), table.c.id, row=CursorRow),
    }


_followers = _walks(follows, "target_id", "account_id")
_following = _walks(follows, "account_id", "target_id")
_asking = IdList(_people(follow_requests, "target_id", "account_id"), follow_requests.c.id, row=CursorRow)
_blocked = IdList(_people(blocks, "account_id", "target_id"), blocks.c.id, row=CursorRow)
_muted = IdList(
    _people(mutes, "account_id", "target_id", mutes.c.expires_at).where(rules.lasts(mutes)), mutes.c.id, row=MutedRow
)
_domains = IdList(
    select(domain_blocks.c.domain, domain_blocks.c.id).where(domain_blocks.c.account_id == _owner),
    domain_blocks.c.id,
    row=DomainRow,
)
# Endorsements are walked along the ids of the endorsed.
_endorsed = {
    apart: IdList(
        _people(endorsements, "account_id", "target_id", cursor=A.c.id).where(
            ~rules.hides_account(rules.ME, A.c.id) if apart else true()
        ),
        A.c.id,
        row=CursorRow,
    )
    for apart in (False, True)
}


def _uris_of(owner: str, person: str) -> Query[str]:
    return query(
        select(A.c.uri)
        .select_from(follows.join(A, A.c.id == follows.c[person]))
        .where(and_(follows.c[owner] == _owner, _SHOWN))
        .order_by(follows.c.id.desc())
        .limit(bindparam("most"))
        .offset(bindparam("offset")),
        str,
    )


_uris = {"followers": _uris_of("target_id", "account_id"), "following": _uris_of("account_id", "target_id")}


async def _walk(work: Work, walk: IdList, cursor: Cursor, owner: int, me: AccountId | None = None) -> list[Any]:
    statement, params = walk.form(cursor)
    return await work.db.all(statement, owner=owner, me=me, now=work.now, **params)


async def followers(work: Work, owner: Account, cursor: Cursor, me: AccountId | None) -> list[CursorRow]:
    return await _collection(work, _followers, owner, cursor, me)


async def following(work: Work, owner: Account, cursor: Cursor, me: AccountId | None) -> list[CursorRow]:
    return await _collection(work, _following, owner, cursor, me)


async def endorsed(work: Work, owner: Account, cursor: Cursor, me: AccountId | None) -> list[CursorRow]:
    if owner.is_gone or await _is_shut_out(work, owner, me):
        return []
    return await _walk(work, _endorsed[me not in (None, owner.id)], cursor, owner.id, me)


async def _collection(
    work: Work, walks: dict[bool, IdList], owner: Account, cursor: Cursor, me: AccountId | None
) -> list[CursorRow]:
    """One's own is whole; of others' lists one sees what they show, without those one keeps apart from."""
    if owner.is_gone or (owner.hide_collections and owner.id != me) or await _is_shut_out(work, owner, me):
        return []
    return await _walk(work, walks[me not in (None, owner.id)], cursor, owner.id, me)


async def follower_uris(work: Work, owner: Account, offset: int, most: int) -> list[str]:
    """Who follows, by the addresses that other servers know them by; newest first."""
    return await work.db.slow(_uris["followers"], owner=owner.id, offset=offset, most=most)


async def followed_uris(work: Work, owner: Account, offset: int, most: int) -> list[str]:
    return await work.db.slow(_uris["following"], owner=owner.id, offset=offset, most=most)


async def _is_shut_out(work: Work, owner: Account, me: AccountId | None) -> bool:
    return me is not None and me != owner.id and bool(await store.blocked_among(work.db, owner.id, [me]))


async def asking(work: Work, me: AccountId, cursor: Cursor) -> list[CursorRow]:
    return await _walk(work, _asking, cursor, me)


async def blocked(work: Work, me: AccountId, cursor: Cursor) -> list[CursorRow]:
    return await _walk(work, _blocked, cursor, me)


async def muted(work: Work, me: AccountId, cursor: Cursor) -> list[MutedRow]:
    return await _walk(work, _muted, cursor, me)


async def domains(work: Work, me: AccountId, cursor: Cursor) -> list[DomainRow]:
    return await _walk(work, _domains, cursor, me)


# Whom one knows among the followers of somebody


class FamiliarRow(NamedTuple):
    """Somebody who follows `of`."""

    of: AccountId
    id: AccountId
    version: int


_mine, _theirs = alias_of(follows, "mine"), alias_of(follows, "theirs")
_ranked = (
    select(
        _theirs.c.target_id.label("of"),
        *COLUMNS,
        func.row_number().over(partition_by=_theirs.c.target_id, order_by=_theirs.c.id.desc()).label("place"),
    )
    .select_from(_mine.join(_theirs, _theirs.c.account_id == _mine.c.target_id).join(A, A.c.id == _theirs.c.account_id))
    .where(
        and_(
            _mine.c.account_id == rules.ME,
            any_of(_theirs.c.target_id, "ids"),
            _SHOWN,
            func.coalesce(A.c.hide_collections, false()).is_(False),
            ~rules.hides_account(rules.ME, A.c.id),
        )
    )
    .subquery()
)
_familiar = query(
    lambda: (
        select(*(column for column in _ranked.c if column.name != "place"))
        .where(_ranked.c.place <= bindparam("most"))
        .order_by(_ranked.c.of, _ranked.c.place)
    ),
    FamiliarRow,
    wire=True,
)


async def familiar(
    work: Work, me: AccountId, ids: Sequence[int], *, most: int = MOST_FAMILIAR
) -> dict[int, list[AccountRow]]:
    """Whom I follow among the followers of each, up to `most`; nobody where followers are not shown."""
    found: dict[int, list[AccountRow]] = {id: [] for id in ids}
    for row in await work.db.all(_familiar, me=me, ids=list(ids), most=most, now=work.now):
        found[row.of].append(AccountRow(row.id, row.version))
    return found
