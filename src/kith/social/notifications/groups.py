"""Somebody's notifications by groups. A group stands where its newest notification does, and is shown once.

A page is two lists of rows: the newest notification of each group, and then the members of the groups.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Select, and_, bindparam, case, delete, func, literal_column, null, or_, select

from kith.base.caches import UntilWritten
from kith.base.db import Session, any_of, any_row, command, query, rows_as_json
from kith.base.paging import Cursor
from kith.base.work import Work
from kith.social.accounts.access import is_there
from kith.social.accounts.tables import accounts
from kith.social.id_lists import IdList
from kith.social.ids import AccountId, StatusId
from kith.social.notifications.reading import KEY_BYTES, MINE, ROW, SOURCE, NotificationRow
from kith.social.notifications.tables import IS_GROUPABLE, notifications
from kith.social.statuses import access
from kith.social.statuses.lines import StatusRow

SAMPLES = 8
UNGROUPED = "ungrouped-"
N = notifications
_newer = N.alias("newer")
_newer_from = accounts.alias("newer_from")
_member = N.alias("member")
_member_from = accounts.alias("member_from")


class GroupHead(NamedTuple):
    """The newest notification of a group, as a `NotificationRow` has it. `group_key` is None where it stands alone."""

    id: int
    filtered: int
    from_id: AccountId
    from_version: int
    status_id: StatusId | None
    status_version: int | None
    author_version: int | None
    subject_id: StatusId | None
    subject_version: int | None
    subject_author_version: int | None
    about_id: int | None
    group_key: str | None

    @property
    def status(self) -> StatusRow | None:
        return NotificationRow(*self[:11]).status

    @property
    def is_shown(self) -> bool:
        return self.status_id is None or self.status_version is not None


class GroupMember(NamedTuple):
    """One of the newest of a group. `total` is of the whole group, `least_id` of what is within the page."""

    group_key: str
    id: int
    from_id: AccountId
    from_version: int
    total: int
    least_id: int | None


class NotificationSelection(msgspec.Struct, frozen=True, kw_only=True):
    """Which notifications; `types` is None for all, `grouped` are the types that are grouped."""

    types: tuple[str, ...] | None
    grouped: tuple[str, ...]
    from_id: AccountId | None = None
    filtered: bool = False


_is_grouped = any_of(N.c.type, "grouped")
_key = case((_is_grouped, N.c.group_key), else_=null()).label("group_key")


def _is_newest(*, of_one: bool) -> Any:
    """There is no newer one of its group."""
    clauses = [
        _newer.c.account_id == access.ME,
        _newer.c.group_key == N.c.group_key,
        _newer.c.id > N.c.id,
        literal_column(f"newer.{IS_GROUPABLE}"),
        is_there(_newer_from),
    ]
    if of_one:
        clauses.append(_newer.c.from_id == bindparam("from_id"))
    return or_(~_is_grouped, ~any_row(_newer.join(_newer_from, _newer_from.c.id == _newer.c.from_id), and_(*clauses)))


def _clauses(*, filtered: bool, of_one: bool, of_types: bool) -> list[Any]:
    clauses = [MINE, _is_newest(of_one=of_one)]
    if of_types:
        clauses.append(any_of(N.c.type, "types"))
    if not filtered:
        clauses.append(~N.c.filtered)
    if of_one:
        clauses.append(N.c.from_id == bindparam("from_id"))
    return clauses


@lru_cache(8)
def _heads(*, filtered: bool, of_one: bool, of_types: bool) -> IdList:
    clauses = _clauses(filtered=filtered, of_one=of_one, of_types=of_types)
    return IdList(lambda: select(*ROW, _key).select_from(SOURCE).where(and_(*clauses)), N.c.id, row=GroupHead)


@lru_cache(4)
def _count(*, of_one: bool, of_types: bool) -> Any:
    clauses = _clauses(filtered=of_one, of_one=of_one, of_types=of_types)
    newer = (
        select(N.c.id)
        .select_from(SOURCE)
        .where(and_(*clauses, N.c.id > bindparam("since")))
        .limit(bindparam("most"))
        .subquery()
    )
    return query(select(func.count()).select_from(newer), int)


def _members(*, of_one: bool) -> Select[Any]:
    least = func.min(case((_member.c.id >= bindparam("low"), _member.c.id), else_=null()))
    rank = func.row_number().over(partition_by=_member.c.group_key, order_by=_member.c.id.desc())
    clauses = [
        _member.c.account_id == access.ME,
        any_of(_member.c.group_key, "keys"),
        literal_column(f"member.{IS_GROUPABLE}"),
        is_there(_member_from),
    ]
    if of_one:
        clauses.append(_member.c.from_id == bindparam("from_id"))
    ranked = (
        select(
            _member.c.group_key,
            _member.c.id,
            _member.c.from_id,
            _member_from.c.version.label("from_version"),
            func.count().over(partition_by=_member.c.group_key).label("total"),
            least.over(partition_by=_member.c.group_key).label("least_id"),
            rank.label("rank"),
        )
        .select_from(_member.join(_member_from, _member_from.c.id == _member.c.from_id))
        .where(and_(*clauses))
        .subquery("ranked")
    )
    newest = select(*(ranked.c[name] for name in GroupMember._fields)).where(ranked.c.rank <= SAMPLES)
    page = newest.order_by(ranked.c.id.desc()).subquery("page")
    return select(rows_as_json(page)).select_from(page)


_members_of = {of_one: query(lambda of_one=of_one: _members(of_one=of_one), tuple) for of_one in (False, True)}  # type: ignore[misc]
_read_heads = msgspec.json.Decoder(list[GroupHead])


class GroupPage(NamedTuple):
    """Rows as JSON; None where there are none."""

    heads: str | None
    members: str | None


async def page_of(work: Work, me: AccountId, cursor: Cursor, asked: NotificationSelection) -> GroupPage:
    """Kept while nobody writes, as a page of single notifications is."""
    kept, place = work.find(UntilWritten), (cursor.max_id, cursor.since_id, cursor.min_id, cursor.limit)
    key = ("notification_groups", me, place, asked)
    version = kept.now()
    page: GroupPage | None = None if version is None else kept.get(version, key)
    if page is None:
        of_one = asked.from_id is not None
        heads = _heads(filtered=asked.filtered or of_one, of_one=of_one, of_types=asked.types is not None)
        statement, params = heads.page_form(cursor)
        [[rows]] = await work.db.all(
            statement, me=me, types=asked.types and list(asked.types), grouped=list(asked.grouped),
            from_id=asked.from_id, **params,
        )  # fmt: skip
        page = GroupPage(rows, await _members_on(work, me, rows, asked.from_id))
        kept.put(version, key, page, size=len(rows or "") + len(page.members or "") + KEY_BYTES)
    return page


async def _members_on(work: Work, me: AccountId, rows: str | None, from_id: AccountId | None) -> str | None:
    heads = _read_heads.decode(rows) if rows else []
    keys = [head.group_key for head in heads if head.group_key is not None]
    if not keys:
        return None
    low = min(head.id for head in heads)
    [[members]] = await work.db.all(_members_of[from_id is not None], me=me, keys=keys, low=low, from_id=from_id)
    return str(members)


_of_group = select(*ROW, N.c.group_key).select_from(SOURCE).where(and_(MINE, N.c.group_key == bindparam("key")))
_one_group = query(lambda: _of_group.order_by(N.c.id.desc()).limit(1), GroupHead, wire=True)
_one_alone = query(
    lambda: select(*ROW, null().label("group_key")).select_from(SOURCE).where(and_(MINE, N.c.id == bindparam("id"))),
    GroupHead,
    wire=True,
)


def single_id(key: str) -> int | None:
    """What a key of something that stands alone names; -1 where it can be nothing."""
    if not key.startswith(UNGROUPED):
        return None
    number = key.removeprefix(UNGROUPED)
    return int(number) if number.isascii() and number.isdigit() and len(number) < 19 else -1


async def find(work: Work, me: AccountId, key: str) -> tuple[GroupHead | None, str | None]:
    """The newest of a group, and its members as JSON."""
    id = single_id(key)
    if id is not None:
        return await work.db.one(_one_alone, me=me, id=id), None
    head = await work.db.one(_one_group, me=me, key=key)
    if head is None:
        return None, None
    [[members]] = await work.db.all(_members_of[False], me=me, keys=[key], low=0, from_id=None)
    return head, members


class GroupSender(NamedTuple):
    id: int
    from_id: AccountId
    from_version: int


def _senders(*, alone: bool) -> IdList:
    sender = accounts.alias("f")
    which = N.c.id == bindparam("id") if alone else N.c.group_key == bindparam("key")
    return IdList(
        select(N.c.id, N.c.from_id, sender.c.version.label("from_version"))
        .select_from(N.join(sender, sender.c.id == N.c.from_id))
        .where(and_(N.c.account_id == access.ME, is_there(sender), which)),
        N.c.id,
        row=GroupSender,
    )


_senders_of = {alone: _senders(alone=alone) for alone in (False, True)}
_dismiss_group = command(delete(N).where(and_(N.c.account_id == access.ME, N.c.group_key == bindparam("key"))))
_dismiss_one = command(delete(N).where(and_(N.c.account_id == access.ME, N.c.id == bindparam("id"))))


async def senders(db: Session, me: AccountId, key: str, cursor: Cursor) -> list[GroupSender]:
    """Who a group is from, newest first."""
    id = single_id(key)
    statement, params = _senders_of[id is not None].form(cursor)
    found: list[GroupSender] = await db.all(statement, me=me, id=id, key=key, **params)
    return cursor.newest_first(found)


async def dismiss(db: Session, me: AccountId, key: str) -> None:
    id = single_id(key)
    if id is None:
        await db.run(_dismiss_group, me=me, key=key)
    else:
        await db.run(_dismiss_one, me=me, id=id)


async def count_since(db: Session, me: AccountId, since: int, asked: NotificationSelection, *, most: int) -> int:
    statement = _count(of_one=asked.from_id is not None, of_types=asked.types is not None)
    found = await db.one(
        statement, me=me, since=since, types=asked.types and list(asked.types), grouped=list(asked.grouped),
        from_id=asked.from_id, most=most,
    )  # fmt: skip
    return found or 0
