"""Names of groups, and when two are the same: LDAP, services and people see no difference of case, form or spaces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from sqlalchemy import bindparam, select

from kith.base.db import Session, query
from kith.base.unicode import normal_form
from kith.identity.groups.tables import groups

ALIKE = "There is a group whose name differs from this one by case or spaces only."
AT_ONCE = 1000

_after = query(
    select(groups.c.name, groups.c.group_uuid)
    .where(groups.c.name > bindparam("after"))
    .order_by(groups.c.name)
    .limit(AT_ONCE),
    tuple,
)


def group_key(name: str) -> str:
    """The normal form, of which there is one group."""
    return " ".join(normal_form("NFKC", normal_form("NFKC", name).casefold()).split())


async def groups_alike(db: Session, names: Iterable[str] | None = None) -> dict[str, list[tuple[str, str]]]:
    """Names and ids of all groups whose names are the same as one of these, by the normal form; None means all.

    Databases cannot compare so, and all names are read. Whoever writes a name after that holds the names before.
    """
    wanted = None if names is None else set(map(group_key, names))
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    after, page = "", await db.all(_after, after="")
    while page:
        for name, group_uuid in page:
            key = group_key(name)
            if wanted is None or key in wanted:
                found[key].append((name, group_uuid))
        after = page[-1][0]
        page = await db.all(_after, after=after) if len(page) == AT_ONCE else []
    return found


async def is_like_another(db: Session, name: str, group_uuid: str | None = None) -> bool:
    """Whether another group has a name that is the same, and locks the names until this work ends."""
    await hold(db)
    return any(other != group_uuid for _, other in (await groups_alike(db, [name])).get(group_key(name), ()))


async def hold(db: Session) -> None:
    await db.hold("identity.group_names")
