"""Somebody's notifications by groups. A group stands where its newest notification does, and is shown once.

A row is the newest notification of a group, with the next newest of it. Who sent them, and how many there are of a
group that is longer, is read for all groups of a page at once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import (
    Boolean,
    ColumnElement,
    and_,
    bindparam,
    case,
    delete,
    func,
    literal_column,
    null,
    or_,
    select,
    tuple_,
)

from kith.base.caches import UntilWritten
from kith.base.db import Session, alias_of, any_of, command, query, rows_as_json
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
LOOKED_AT = 16  # of each group; some senders may be gone
UNGROUPED = "ungrouped-"
N = notifications
_encode = msgspec.json.Encoder().encode
_newer = alias_of(N, "newer")
_sample = alias_of(N, "sample")


GroupSample = tuple[int, AccountId]  # one of the newest of a group, and whom it is from


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
    newest: str | None  # of its group, as JSON

    @property
    def samples(self) -> list[GroupSample]:
        """Newest first, also from senders who are gone; whatever stands alone is its own."""
        found = _read_samples.decode(self.newest) if self.newest else []
        return found or [(self.id, self.from_id)]

    @property
    def status(self) -> StatusRow | None:
        return NotificationRow(*self[:11]).status

    @property
    def is_shown(self) -> bool:
        return self.status_id is None or self.status_version is not None


class LongGroup(NamedTuple):
    """A group of which not all were looked at."""

    group_key: str
    total: int
    least: int | None  # the oldest of it within the page


class GroupRows(NamedTuple):
    """A page as it was read. It tells the version of everything in it, so that what is made of it is kept by it."""

    heads: str  # as JSON
    senders: tuple[tuple[AccountId, int], ...]  # who are there, with their versions
    long: tuple[LongGroup, ...]


class NotificationSelection(msgspec.Struct, frozen=True, kw_only=True):
    """Which notifications; `types` is None for all, `grouped` are the types that are grouped."""

    types: tuple[str, ...] | None
    grouped: tuple[str, ...]
    groups_all: bool = True  # all types that can be grouped are
    from_id: AccountId | None = None
    filtered: bool = False


def _is_grouped(*, all_types: bool) -> ColumnElement[bool]:
    """By all types that can be, or by those that are asked for."""
    return literal_column(f"social_notifications.{IS_GROUPABLE}", Boolean) if all_types else any_of(N.c.type, "grouped")


def _of_group(members: Any, *, of_one: bool) -> Any:
    """The others in the group of a row."""
    clauses = [
        members.c.account_id == access.ME,
        members.c.group_key == N.c.group_key,
        literal_column(f"{members.name}.{IS_GROUPABLE}"),
    ]
    if of_one:
        clauses.append(members.c.from_id == bindparam("from_id"))
    return and_(*clauses)


def _is_newest(*, of_one: bool, all_types: bool) -> Any:
    """There is no newer one of its group: what comes next in the index of groups is of another one.

    Asked whether there is a newer one, PostgreSQL reads along the table until it meets one, for each of the group.
    """
    sender = alias_of(accounts, "newer_from")
    clauses = [
        _newer.c.account_id == access.ME,
        tuple_(_newer.c.group_key, _newer.c.id) > tuple_(N.c.group_key, N.c.id),
        literal_column(f"{_newer.name}.{IS_GROUPABLE}"),
        is_there(sender),
    ]
    if of_one:
        clauses.append(_newer.c.from_id == bindparam("from_id"))
    following = (
        select(_newer.c.group_key)
        .select_from(_newer.join(sender, sender.c.id == _newer.c.from_id))
        .where(and_(*clauses))
        .order_by(_newer.c.group_key, _newer.c.id)
        .limit(1)
        .correlate(N)
        .scalar_subquery()
    )
    return or_(~_is_grouped(all_types=all_types), func.coalesce(following, "") != N.c.group_key)


def _row(*, of_one: bool, all_types: bool) -> tuple[Any, ...]:
    """The columns of a `GroupHead`."""
    some = (
        select(_sample.c.id, _sample.c.from_id)
        .where(_of_group(_sample, of_one=of_one))
        .order_by(_sample.c.id.desc())
        .limit(LOOKED_AT)
        .correlate(N)
        .subquery("some")
    )
    newest = select(rows_as_json(some)).select_from(some).scalar_subquery()
    is_grouped = _is_grouped(all_types=all_types)
    return (
        *ROW,
        case((is_grouped, N.c.group_key), else_=null()).label("group_key"),
        case((is_grouped, newest), else_=null()).label("newest"),
    )


def _clauses(*, filtered: bool, of_one: bool, of_types: bool, all_types: bool) -> list[Any]:
    clauses = [MINE, _is_newest(of_one=of_one, all_types=all_types)]
    if of_types:
        clauses.append(any_of(N.c.type, "types"))
    if not filtered:
        clauses.append(~N.c.filtered)
    if of_one:
        clauses.append(N.c.from_id == bindparam("from_id"))
    return clauses


@lru_cache(16)
def _heads(*, filtered: bool, of_one: bool, of_types: bool, all_types: bool) -> IdList:
    columns = _row(of_one=of_one, all_types=all_types)
    clauses = _clauses(filtered=filtered, of_one=of_one, of_types=of_types, all_types=all_types)
    return IdList(lambda: select(*columns).select_from(SOURCE).where(and_(*clauses)), N.c.id, row=GroupHead)


@lru_cache(8)
def _count(*, of_one: bool, of_types: bool, all_types: bool) -> Any:
    clauses = _clauses(filtered=of_one, of_one=of_one, of_types=of_types, all_types=all_types)
    newer = (
        select(N.c.id)
        .select_from(SOURCE)
        .where(and_(*clauses, N.c.id > bindparam("since")))
        .limit(bindparam("most"))
        .subquery()
    )
    return query(select(func.count()).select_from(newer), int)


_read_samples = msgspec.json.Decoder(list[GroupSample])
read_heads = msgspec.json.Decoder(list[GroupHead]).decode


async def page_of(work: Work, me: AccountId, cursor: Cursor, asked: NotificationSelection) -> GroupRows | None:
    """None where there are none. Kept while nobody writes, as a page of single notifications is."""
    kept, place = work.find(UntilWritten), (cursor.max_id, cursor.since_id, cursor.min_id, cursor.limit)
    key = ("notification_groups", me, place, asked)
    version = kept.now()
    rows: GroupRows | None = None if version is None else kept.get(version, key)
    if rows is None:
        of_one = asked.from_id is not None
        heads = _heads(
            filtered=asked.filtered or of_one, of_one=of_one, of_types=asked.types is not None,
            all_types=asked.groups_all,
        )  # fmt: skip
        statement, params = heads.page_form(cursor)
        [[found]] = await work.db.slow(statement, me=me, **_params(asked), **params)
        if not found:
            return None
        rows = await with_senders(work, me, found)
        kept.put(version, key, rows, size=len(rows.heads) + 100 * len(rows.senders) + KEY_BYTES)
    return rows


async def with_senders(work: Work, me: AccountId, rows: str) -> GroupRows:
    """Heads, and what is read for all of them together."""
    heads = read_heads(rows)
    groups = {head.group_key or "": head.samples for head in heads}
    low = min((head.id for head in heads), default=0)
    long = [key for key, some in groups.items() if len(some) == LOOKED_AT]
    senders = {head.from_id for head in heads}.union(sender for some in groups.values() for _, sender in some)
    return GroupRows(
        rows,
        tuple(await work.db.all(_present, ids=sorted(senders))),
        tuple(await work.db.slow(_long, me=me, keys=long, low=low)) if long else (),
    )


def _params(asked: NotificationSelection) -> dict[str, Any]:
    types = None if asked.types is None else list(asked.types)
    return {"types": types, "grouped": list(asked.grouped), "from_id": asked.from_id}


_sender = alias_of(accounts, "sender")
_present = query(
    lambda: (
        select(_sender.c.id, _sender.c.version)
        .where(and_(any_of(_sender.c.id, "ids"), is_there(_sender)))
        .order_by(_sender.c.id)
    ),
    tuple,
)
_long = query(
    lambda: (
        select(
            N.c.group_key,
            func.count().label("total"),
            func.min(case((N.c.id >= bindparam("low"), N.c.id))).label("least"),
        )
        .where(
            and_(
                N.c.account_id == access.ME,
                any_of(N.c.group_key, "keys"),
                literal_column(f"social_notifications.{IS_GROUPABLE}"),
            )
        )
        .group_by(N.c.group_key)
        .order_by(N.c.group_key)
    ),
    LongGroup,
)


def _one(*, alone: bool) -> Any:
    """The newest of a group; or one notification, which stands alone."""
    key = (null().label(name) for name in ("group_key", "newest"))
    columns = (*ROW, *key) if alone else _row(of_one=False, all_types=True)
    which = N.c.id == bindparam("id") if alone else N.c.group_key == bindparam("key")
    return select(*columns).select_from(SOURCE).where(and_(MINE, which)).order_by(N.c.id.desc()).limit(1)


_one_of = {alone: query(lambda alone=alone: _one(alone=alone), GroupHead, wire=True) for alone in (False, True)}  # type: ignore[misc]


def single_id(key: str) -> int | None:
    """What a key of something that stands alone names; -1 where it can be nothing."""
    if not key.startswith(UNGROUPED):
        return None
    number = key.removeprefix(UNGROUPED)
    return int(number) if number.isascii() and number.isdigit() and len(number) < 19 else -1


async def find(work: Work, me: AccountId, key: str) -> GroupRows | None:
    id = single_id(key)
    head = await work.db.one(_one_of[id is not None], me=me, id=id, key=key)
    return None if head is None else await with_senders(work, me, _encode([head]).decode())


class GroupSender(NamedTuple):
    id: int
    from_id: AccountId
    from_version: int


def _senders(*, alone: bool) -> IdList:
    sender = alias_of(accounts, "f")
    which = N.c.id == bindparam("id") if alone else N.c.group_key == bindparam("key")
    return IdList(
        select(N.c.id, N.c.from_id, sender.c.version.label("from_version"))
        .select_from(N.join(sender, sender.c.id == N.c.from_id))
        .where(and_(N.c.account_id == access.ME, is_there(sender), which)),
        N.c.id,
        row=GroupSender,
    )


_senders_of = {alone: _senders(alone=alone) for alone in (False, True)}
_dismiss_group = command(lambda: delete(N).where(and_(N.c.account_id == access.ME, N.c.group_key == bindparam("key"))))
_dismiss_one = command(lambda: delete(N).where(and_(N.c.account_id == access.ME, N.c.id == bindparam("id"))))


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
    statement = _count(of_one=asked.from_id is not None, of_types=asked.types is not None, all_types=asked.groups_all)
    found: list[int] = await db.slow(statement, me=me, since=since, most=most, **_params(asked))
    return found[0]
