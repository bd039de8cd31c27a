"""The list of people of this server, with what both halves know: searched, narrowed and sorted, also among very many.

First all who fit are looked for, up to a bound. If there are no more than that, they are sorted; else the list is
walked through in its order, where the next who fits is never far.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Select, and_, bindparam, func, literal_column, select

from kith.base.db import Query, any_of, query
from kith.base.work import Work
from kith.identity.for_staff import staff_people
from kith.social.accounts.tables import accounts
from kith.social.roles import store as roles
from kith.social.roles.tables import Role

__all__ = [
    "FEW",
    "LAST_OFFSET",
    "ORDERS",
    "STATES",
    "PeopleFound",
    "PeopleQuery",
    "PersonLine",
    "find_people",
    "people_by_id",
]

FEW = 2_000
LAST_OFFSET = 10_000
MOST_WORDS = 5
LONGEST_SEARCH = 200
_people = staff_people.users
ORDERS = tuple(staff_people.ORDERS)


def _whose(clause: ColumnElement[bool]) -> ColumnElement[bool]:
    return _people.c.id.in_(select(accounts.c.user_id).where(and_(clause, accounts.c.user_id.is_not(None))))


_suspended = _whose(accounts.c.suspended_at.is_not(None))
_CLAUSES: dict[str, ColumnElement[bool]] = {
    **staff_people.STATES,
    "active": and_(staff_people.STATES["active"], ~_suspended),
    "disabled": and_(staff_people.STATES["disabled"], ~_suspended),
    "silenced": _whose(accounts.c.silenced_at.is_not(None)),
    "suspended": _suspended,
    "role": and_(staff_people.has_role(), ~_whose(accounts.c.role_id.is_not(None))),
    "role_id": _whose(accounts.c.role_id == bindparam("role_id")),
    "since": staff_people.seen(since=True),
    "not_since": staff_people.seen(since=False),
    "group": staff_people.in_group(),
    "type": staff_people.is_type(),
}
STATES = ("active", "pending", "unconfirmed", "disabled", "silenced", "suspended")


class PeopleQuery(msgspec.Struct, kw_only=True, frozen=True):
    """What is empty is not asked for. `seen` are days: within so many, or (below nought) not within so many."""

    search: str = ""
    state: str = ""
    role_id: int | None = None
    seen: int = 0
    group: str = ""
    type: str = ""
    order: str = "username"  # with a `-` in front: backwards

    @property
    def is_narrow(self) -> bool:
        return bool(
            self.search.strip() or self.state or self.role_id is not None or self.seen or self.group or self.type
        )


class PersonLine(msgspec.Struct):
    id: int
    username: str
    name: str
    email: str
    role: str
    type: str
    is_active: bool
    expires: datetime | None
    confirmed_at: datetime | None
    approved_at: datetime | None
    created_at: datetime
    last_seen_at: datetime | None
    account_id: int | None
    role_id: int | None
    statuses_count: int | None
    silenced_at: datetime | None
    suspended_at: datetime | None
    role_name: str = ""

    def state(self, now: datetime) -> str:
        if self.suspended_at is not None:
            return "suspended"
        if self.approved_at is None:
            return "pending"
        if not self.is_active or (self.expires is not None and self.expires <= now):
            return "disabled"
        if self.confirmed_at is None:
            return "unconfirmed"
        return "silenced" if self.silenced_at is not None else "active"


class PeopleFound(msgspec.Struct):
    """`count` is None where there are more than FEW of all."""

    lines: list[PersonLine]
    count: int | None
    more: bool


_COLUMNS = (
    *(_people.c[name] for name in PersonLine.__struct_fields__[:12]),
    accounts.c.id.label("account_id"),
    *(accounts.c[name] for name in PersonLine.__struct_fields__[13:17]),
    literal_column("''").label("role_name"),  # worked out below
)
_lines = query(
    select(*_COLUMNS)
    .select_from(_people.outerjoin(accounts, accounts.c.user_id == _people.c.id))
    .where(any_of(_people.c.id, "ids")),
    PersonLine,
)
_count = query(select(func.count()).select_from(_people), int)


async def find_people(work: Work, asked: PeopleQuery, *, offset: int, most: int) -> PeopleFound:
    names, values, known = await _read(work, asked)
    kinds, bound = _words(asked.search)
    few: list[int] | None = None
    count: int | None = None
    if asked.is_narrow:
        few = await _few(work, names, kinds, values | bound)
        count = None if few is None else len(few)
    else:
        [count] = await work.db.slow(_count)
    if few is not None:
        page = await work.db.slow(_sorted(asked.order), ids=few, most=most + 1, skip=offset)
    else:
        walk, skip = _walk(names, kinds, asked.order), min(offset, LAST_OFFSET)
        page = await work.db.slow(walk, most=most + 1, skip=skip, **values, **bound)
    return PeopleFound(await _shown(work, page[:most], known), count, len(page) > most)


async def _few(work: Work, names: frozenset[str], kinds: tuple[str, ...], values: dict[str, Any]) -> list[int] | None:
    """All who fit, None where they are too many to sort."""
    indexed = tuple(f"word{number}" for number, kind in enumerate(kinds) if kind == "indexed")
    found: list[int] | None = None
    if indexed:
        with_words = _with_words(indexed, is_sqlite=work.settings.is_sqlite)
        found = await work.db.slow(with_words, most=FEW + 1, **values)
        found = found if len(found) <= FEW else None
        if not names and len(indexed) == len(kinds):
            return found
    some = await work.db.slow(_some(names, kinds, of_these=found is not None), most=FEW + 1, ids=found, **values)
    return some if len(some) <= FEW else None


async def people_by_id(work: Work, ids: Sequence[int]) -> list[PersonLine]:
    """Those who are there, in the order they were named."""
    return await _shown(work, list(ids), await roles.load(work.db))


async def _read(work: Work, asked: PeopleQuery) -> tuple[frozenset[str], dict[str, Any], roles.Roles]:
    known = await roles.load(work.db)
    names = {asked.state} & set(STATES)
    values: dict[str, Any] = {}
    role = None if asked.role_id is None else known.find(asked.role_id)
    if role is not None:
        names.add("role" if role.is_shipped else "role_id")
        values |= {"base": role.base or "user"} if role.is_shipped else {"role_id": role.id}
    if asked.seen:
        names.add("since" if asked.seen > 0 else "not_since")
        values["seen_at"] = work.now - timedelta(days=abs(asked.seen))
    if asked.group:
        names.add("group")
        values["group"] = asked.group
    if asked.type:
        names.add("type")
        values["type"] = asked.type
    return frozenset(names), values, known


def _words(search: str) -> tuple[tuple[str, ...], dict[str, str]]:
    kinds, values = [], dict[str, str]()
    for number, word in enumerate(search[:LONGEST_SEARCH].replace("\0", "").split()[:MOST_WORDS]):
        kind, bound = staff_people.word_values(f"word{number}", word)
        kinds.append(kind)
        values |= bound
    return tuple(kinds), values


def _narrowed(names: frozenset[str], kinds: tuple[str, ...], *, but: str = "") -> Select[Any]:
    clauses = [_CLAUSES[name] for name in sorted(names)]
    clauses += [staff_people.has_word(f"word{number}", kind) for number, kind in enumerate(kinds) if kind != but]
    return select(_people.c.id).where(*clauses)


def _in_order(order: str) -> list[ColumnElement[Any]]:
    """Whoever was never seen comes first where the longest ago comes first."""
    column = staff_people.ORDERS.get(order.lstrip("-"), _people.c.username)
    is_back = order.startswith("-")
    first: ColumnElement[Any] = column.desc() if is_back else column.asc()
    if column.nullable:
        first = first.nulls_last() if is_back else first.nulls_first()
    return [first, _people.c.id.desc() if is_back else _people.c.id.asc()]


def _page(statement: Select[Any], order: str) -> Query[int]:
    return query(statement.order_by(*_in_order(order)).limit(bindparam("most")).offset(bindparam("skip")), int)


@lru_cache(512)
def _some(names: frozenset[str], kinds: tuple[str, ...], *, of_these: bool) -> Query[int]:
    """`of_these`: of the people `ids`, who have the indexed words."""
    statement = _narrowed(names, kinds, but="indexed" if of_these else "")
    if of_these:
        statement = statement.where(any_of(_people.c.id, "ids"))
    return query(statement.limit(bindparam("most")), int)


@lru_cache(16)
def _with_words(words: tuple[str, ...], *, is_sqlite: bool) -> Query[int]:
    return query(staff_people.rows_with(words, is_sqlite=is_sqlite).limit(bindparam("most")), int)


@lru_cache(512)
def _walk(names: frozenset[str], kinds: tuple[str, ...], order: str) -> Query[int]:
    """The indexed words are looked up once for all: those who have them may stand together far along the order."""
    statement = _narrowed(names, kinds, but="indexed")
    indexed = [f"word{number}" for number, kind in enumerate(kinds) if kind == "indexed"]
    return _page(statement.where(staff_people.has_words(indexed)) if indexed else statement, order)


@lru_cache(32)
def _sorted(order: str) -> Query[int]:
    return _page(select(_people.c.id).where(any_of(_people.c.id, "ids")), order)


async def _shown(work: Work, ids: list[int], known: roles.Roles) -> list[PersonLine]:
    found = {line.id: line for line in await work.db.all(_lines, ids=ids)}
    for line in found.values():
        role: Role = known.of(line.role, line.role_id)
        line.role_name = role.name if role.id != known.everyone.id else ""
    return [found[id] for id in ids if id in found]
