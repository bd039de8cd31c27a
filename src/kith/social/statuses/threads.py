"""What a status answers, and what answers it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sqlalchemy import Integer, and_, bindparam, literal_column, select

from kith.base.db import Query, alias_of, query
from kith.base.work import Work
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId, StatusId
from kith.social.relationships import rules
from kith.social.statuses import access
from kith.social.statuses.tables import Status, statuses

# How much of a thread is shown to whom: ancestors, descendants, how deep.
FOR_STRANGERS = (40, 60, 20)
FOR_MEMBERS = (4096, 4096, 4096)
# And how many below a status are looked at for that, level by level, the oldest answers first: anybody may add to a
# thread without end, also what is not shown.
LOOKED_AT = 20_000
LOOKED_AT_FOR_STRANGERS = 5_000

_parent = alias_of(statuses, "parent")
_up = (
    select(statuses.c.id, statuses.c.in_reply_to_id, literal_column("0", Integer).label("distance"))
    .where(statuses.c.id == bindparam("status"))
    .cte("up", recursive=True)
)
_up = _up.union_all(
    select(_parent.c.id, _parent.c.in_reply_to_id, _up.c.distance + literal_column("1", Integer))
    .join(_up, _parent.c.id == _up.c.in_reply_to_id)
    .where(_up.c.distance < bindparam("most"))
)

_child = alias_of(statuses, "child")
_start = (
    select(statuses.c.id, literal_column("0", Integer).label("depth"))
    .where(statuses.c.id == bindparam("status"))
    .cte("down", recursive=True)
)
_down = _start.union_all(
    select(_child.c.id, _start.c.depth + literal_column("1", Integer))
    .join(_start, _child.c.in_reply_to_id == _start.c.id)
    .where(and_(_start.c.depth < bindparam("deep"), _child.c.deleted_at.is_(None), _child.c.reblog_of_id.is_(None)))
)
_looked_at = select(_down.c.id, _down.c.depth).limit(bindparam("looked_at")).subquery("looked_at")
_above, _found = alias_of(statuses, "above"), alias_of(statuses, "found")
_author = alias_of(accounts, "author")


def _wanted(*, anonymous: bool) -> access.Clause:
    """Whose posts are shown around one that is looked at."""
    return and_(
        rules.shows_author(None if anonymous else rules.ME, _author), access.is_heard(_author, anonymous=anonymous)
    )


@lru_cache(2)
def _ancestors(*, anonymous: bool) -> Query[StatusId]:
    return query(
        select(_above.c.id)
        .select_from(_up.join(_above, _above.c.id == _up.c.id).join(_author, _author.c.id == _above.c.account_id))
        .where(and_(_up.c.distance > 0, _wanted(anonymous=anonymous)))
        .order_by(_up.c.distance.desc()),
        StatusId,
    )


@lru_cache(2)
def _descendants(*, anonymous: bool) -> Query[Any]:
    return query(
        select(_looked_at.c.id, _found.c.in_reply_to_id, _found.c.account_id)
        .distinct()  # where a thread goes in a circle, the same ones are found again and again
        .select_from(
            _looked_at.join(_found, _found.c.id == _looked_at.c.id).join(_author, _author.c.id == _found.c.account_id)
        )
        .where(
            and_(
                _looked_at.c.depth > 0,
                access.visible_for(_found, _author, anonymous=anonymous),
                _wanted(anonymous=anonymous),
            )
        )
        .order_by(_looked_at.c.id)  # not by `_found`: SQLite would walk every status there is to have them in order
        .limit(bindparam("most")),
        tuple,
    )


async def ancestors(work: Work, status: Status, me: AccountId | None) -> list[StatusId]:
    """Root first. What may not be seen is left out where it is shown."""
    most, _, _ = FOR_STRANGERS if me is None else FOR_MEMBERS
    found = await work.db.all(_ancestors(anonymous=me is None), status=status.id, me=me, now=work.now, most=most)
    return [id for id in dict.fromkeys(found) if id != status.id]  # each once, also where a thread goes in a circle


async def descendants(work: Work, status: Status, me: AccountId | None) -> list[StatusId]:
    """Depth first; what the author says next comes before what others answer.

    What answers something that is not shown stands where that would have begun: right below the status.
    """
    _, most, deep = FOR_STRANGERS if me is None else FOR_MEMBERS
    looked_at = LOOKED_AT_FOR_STRANGERS if me is None else LOOKED_AT
    rows = await work.db.slow(
        _descendants(anonymous=me is None),
        status=status.id, me=me, now=work.now, most=most, deep=deep, looked_at=looked_at,
    )  # fmt: skip
    shown = {id for id, _, _ in rows}
    children: dict[StatusId, list[tuple[StatusId, AccountId]]] = {}
    for id, parent_id, account_id in rows:
        children.setdefault(parent_id if parent_id in shown else status.id, []).append((id, account_id))
    return _walked(children, status)


def _walked(children: dict[StatusId, list[tuple[StatusId, AccountId]]], status: Status) -> list[StatusId]:
    """Each once: posts that came with a backup or from another server may answer each other in a circle."""
    ordered: dict[StatusId, None] = {}
    waiting = [(status.id, status.account_id)]
    while waiting:
        id, _ = waiting.pop()
        if id in ordered:
            continue
        ordered[id] = None
        below = sorted(children.get(id, []), key=lambda child: (child[1] != status.account_id, child[0]))
        waiting.extend(reversed(below))
    return [id for id in ordered if id != status.id]
