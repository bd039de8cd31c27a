"""What a binding named, written down while it is being deleted.

The binding stays and refuses; whoever looks at it reads what it was about. The rooms of people, groups and bindings
call this or are above, so that their tables are only named here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Integer, String, column, literal, select, table, update

from kith.base.db import UID, Command, Session, any_of, command

_bindings = table(
    "identity_policy_bindings",
    column("group", UID),
    column("user", Integer),
    column("gone_kind", String),
    column("gone_name", String),
)
_groups = table("identity_groups", column("group_uuid", UID), column("name", String))
_users = table("identity_users", column("id", Integer), column("username", String))


def _keep(kind: str, key: Any, name: Any) -> Command:
    named = _bindings.c[kind]
    kept = select(name).where(key == named).scalar_subquery()
    return command(
        update(_bindings).where(any_of(named, "ids")).values(gone_kind=literal(kind, String), gone_name=kept)
    )


_of_groups = _keep("group", _groups.c.group_uuid, _groups.c.name)
_of_people = _keep("user", _users.c.id, _users.c.username)


async def keep_names_of_groups(db: Session, ids: Sequence[str]) -> None:
    """To be called before groups are deleted."""
    await db.run(_of_groups, ids=list(ids))


async def keep_names_of_people(db: Session, ids: Sequence[int]) -> None:
    """To be called before people are deleted: what bindings called them."""
    await db.run(_of_people, ids=list(ids))
