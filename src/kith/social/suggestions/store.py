from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, and_, bindparam, case, delete, func, literal_column, or_, select, tuple_

from kith.base.db import Instant, Session, add_once, alias_of, any_of, command, query, upsert
from kith.social.accounts.access import is_there
from kith.social.accounts.lines import A, AccountRow, lines
from kith.social.ids import AccountId, StatusId
from kith.social.relationships import rules
from kith.social.statuses.tables import statuses
from kith.social.suggestions.tables import interactions, removed_suggestions, staff_picks

MOST_KEPT = 80  # of those whom somebody had most to do with
REPLIED, FAVOURITED, REBLOGGED = 1, 10, 20  # what an act counts

_me: BindParameter[Any] = bindparam("me")
_target: BindParameter[Any] = bindparam("target")
_now = bindparam("now", type_=Instant())


class Interaction(NamedTuple):
    account_id: AccountId
    target_id: AccountId
    score: int


_boosted = alias_of(statuses, "boosted")
_to = func.coalesce(_boosted.c.account_id, statuses.c.in_reply_to_account_id)
_score = case((_boosted.c.id.is_not(None), literal_column(str(REBLOGGED))), else_=literal_column(str(REPLIED)))
_posted = query(
    lambda: (
        select(
            statuses.c.account_id,
            _to.label("target_id"),
            _score.label("score"),
        )
        .select_from(statuses.outerjoin(_boosted, _boosted.c.id == statuses.c.reblog_of_id))
        .where(
            and_(
                any_of(statuses.c.id, "ids"),
                statuses.c.local,
                or_(statuses.c.reblog_of_id.is_not(None), statuses.c.in_reply_to_account_id.is_not(None)),
                _to != statuses.c.account_id,
                ~rules.follows(statuses.c.account_id, _to),
            )
        )
    ),
    Interaction,
)
_favourited = query(
    lambda: select(statuses.c.account_id).where(
        and_(
            statuses.c.id == bindparam("status"),
            statuses.c.account_id != _me,
            ~rules.follows(_me, statuses.c.account_id),
        )
    ),
    AccountId,
)
_new = upsert(interactions).values(account_id=_me, target_id=_target, score=bindparam("score"), updated_at=_now)
_count = command(
    lambda: _new.on_conflict_do_update(
        index_elements=[interactions.c.account_id, interactions.c.target_id],
        set_={"score": interactions.c.score + _new.excluded.score, "updated_at": _new.excluded.updated_at},
    ).inline()
)
_forget = command(
    lambda: delete(interactions).where(and_(interactions.c.account_id == _me, interactions.c.target_id == _target))
)
_forget_old = command(lambda: delete(interactions).where(interactions.c.updated_at < _now))
_place = func.row_number().over(
    partition_by=interactions.c.account_id,
    order_by=(interactions.c.score.desc(), interactions.c.updated_at.desc(), interactions.c.target_id),
)
_ranked = select(interactions.c.account_id, interactions.c.target_id, _place.label("place")).subquery("ranked")
_beyond = select(_ranked.c.account_id, _ranked.c.target_id).where(_ranked.c.place > literal_column(str(MOST_KEPT)))
_forget_beyond = command(
    lambda: delete(interactions).where(tuple_(interactions.c.account_id, interactions.c.target_id).in_(_beyond))
)
_remove = command(lambda: add_once(removed_suggestions))
_pick = command(lambda: add_once(staff_picks))
_unpick = command(lambda: delete(staff_picks).where(staff_picks.c.account_id == _target))
_picked = query(
    lambda: (
        lines(staff_picks.join(A, A.c.id == staff_picks.c.account_id))
        .where(and_(is_there(A), A.c.id.in_(select(staff_picks.c.account_id))))  # so SQLite begins with the few
        .order_by(staff_picks.c.created_at)
    ),
    AccountRow,
)
_forget_account = [
    command(delete(table).where(column == _target))
    for table in (interactions, removed_suggestions, staff_picks)
    for column in (table.c.account_id, table.c.get("target_id"))
    if column is not None
]


async def acts_of_posts(db: Session, ids: Sequence[StatusId]) -> list[Interaction]:
    """Replies and boosts among these posts, to people whom their authors do not follow."""
    return await db.all(_posted, ids=list(ids))


async def author_not_followed(db: Session, me: AccountId, status_id: StatusId) -> AccountId | None:
    return await db.one(_favourited, me=me, status=status_id)


async def count(db: Session, acts: Sequence[Interaction], now: datetime) -> None:
    rows = [{"me": act.account_id, "target": act.target_id, "score": act.score, "now": now} for act in sorted(acts)]
    if rows:
        await db.many(_count, rows)


async def forget(db: Session, me: AccountId, target_id: AccountId) -> None:
    await db.run(_forget, me=me, target=target_id)


async def forget_before(db: Session, at: datetime) -> None:
    """And of each person what is beyond so many."""
    await db.run(_forget_old, now=at)
    await db.run(_forget_beyond)


async def remove(db: Session, me: AccountId, target_id: AccountId, now: datetime) -> None:
    await db.run(_remove, account_id=me, target_id=target_id, created_at=now)
    await forget(db, me, target_id)


async def pick(db: Session, account_id: AccountId, now: datetime) -> bool:
    """False where it was picked already."""
    return await db.run(_pick, account_id=account_id, created_at=now) == 1


async def unpick(db: Session, account_id: AccountId) -> bool:
    return await db.run(_unpick, target=account_id) == 1


async def picked(db: Session) -> list[AccountRow]:
    return await db.all(_picked)


async def forget_account(db: Session, account_id: AccountId) -> None:
    for statement in _forget_account:
        await db.run(statement, target=account_id)
