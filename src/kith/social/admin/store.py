"""Accounts as the team lists them: which filters there are, and one statement for each set of them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import Boolean, ColumnElement, Text, and_, bindparam, false, func, literal_column, or_, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from kith.base.db import Session, any_of
from kith.base.paging import Cursor
from kith.identity.for_social import TEAM
from kith.identity.for_staff import staff_view
from kith.social.accounts.tables import Account, accounts
from kith.social.id_lists import IdList


class _NameBegins(ColumnElement[bool]):
    """Whether a name begins as `username` says: SQLite finds such names in its index, which has them in this order."""

    inherit_cache = True
    type = Boolean()

    def __init__(self) -> None:
        self.pattern = bindparam("username", type_=Text())
        self.first = bindparam("username_first", type_=Text())


@compiles(_NameBegins, "sqlite")
def _in_index(element: _NameBegins, compiler: SQLCompiler, **options: object) -> str:
    name, first = "social_accounts.username_key", compiler.process(element.first, **options)
    return f"({name} >= {first} AND {name} < {first} || char(1114111))"


@compiles(_NameBegins, "postgresql")
def _by_pattern(element: _NameBegins, compiler: SQLCompiler, **options: object) -> str:
    return f"social_accounts.username_key LIKE {compiler.process(element.pattern, **options)} ESCAPE '!'"


_person: ColumnElement[Any] = accounts.c.user_id
_local = accounts.c.domain == ""

_CLAUSES: dict[str, ColumnElement[bool]] = {
    "local": _local,
    "remote": literal_column("social_accounts.domain != ''", type_=Boolean()),  # as its index says it
    "active": and_(accounts.c.suspended_at.is_(None), or_(~_local, staff_view.is_person(_person, "active"))),
    "pending": staff_view.is_person(_person, "pending"),
    "disabled": staff_view.is_person(_person, "disabled"),
    "silenced": accounts.c.silenced_at.is_not(None),
    "suspended": accounts.c.suspended_at.is_not(None),
    "sensitized": accounts.c.sensitized_at.is_not(None),
    "staff": and_(_local, or_(accounts.c.role_id.is_not(None), accounts.c.role.in_(TEAM))),
    "username": _NameBegins(),
    "display_name": func.lower(accounts.c.display_name).like(bindparam("display_name"), escape="!"),
    "by_domain": accounts.c.domain == bindparam("by_domain"),
    "email": staff_view.has_email(_person, "email"),
    "ip": staff_view.came_from(_person, "ips"),
    "roles": and_(
        _local,
        or_(
            any_of(accounts.c.role_id, "role_ids"), and_(accounts.c.role_id.is_(None), any_of(accounts.c.role, "bases"))
        ),
    ),
    "invited_by": staff_view.is_invited_by(_person, "invited_by"),
    "nobody": false(),
}
STATES = ("active", "pending", "disabled", "silenced", "suspended", "sensitized")


class AccountQuery(msgspec.Struct, kw_only=True):
    """What is empty is not asked for. `flags` are names of clauses without a value."""

    flags: frozenset[str] = frozenset()
    username: str = ""
    display_name: str = ""
    by_domain: str = ""
    email: str = ""
    ip: str = ""
    invited_by: int | None = None
    role_ids: list[int] | None = None
    bases: list[str] = []


@lru_cache(512)
def _walk(names: frozenset[str]) -> IdList:
    clauses = [_CLAUSES[name] for name in sorted(names)]
    statement = select(accounts).where(and_(accounts.c.deleted_at.is_(None), *clauses))
    return IdList(statement, accounts.c.id, row=Account)


async def page_of(db: Session, wanted: AccountQuery, cursor: Cursor) -> list[Account]:
    names, values = set(wanted.flags), {}
    for name in ("username", "display_name"):
        if getattr(wanted, name):
            names.add(name)
            values[name] = _beginning(getattr(wanted, name))
    if wanted.username:
        values["username_first"] = wanted.username.lower()
    if wanted.by_domain:
        names.add("by_domain")
        values["by_domain"] = wanted.by_domain.lower()
    if wanted.email:
        names.add("email")
        values["email"] = staff_view.email_pattern(wanted.email)
    if wanted.role_ids is not None:
        names.add("roles")
        values |= {"role_ids": wanted.role_ids, "bases": wanted.bases}
    if wanted.invited_by is not None:
        names.add("invited_by")
        values["invited_by"] = wanted.invited_by
    if wanted.ip:
        names.add("ip")
        values["ips"] = await staff_view.addresses_in(db, wanted.ip)
    statement, more = _walk(frozenset(names)).form(cursor)
    rows: list[Account] = await db.all(statement, **values, **more)
    return rows[::-1] if cursor.is_ascending else rows


def _beginning(text: str) -> Any:
    escaped = text.lower().replace("!", "!!").replace("_", "!_").replace("%", "!%")
    return f"{escaped}%"
