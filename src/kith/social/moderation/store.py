from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import BindParameter, ColumnElement, Table, and_, bindparam, delete, or_, select, update

from kith.base.db import Command, Instant, Query, Session, add_once, alias_of, any_of, command, insert_into, query
from kith.base.paging import Cursor
from kith.social.accounts.tables import accounts
from kith.social.collections.tables import collections
from kith.social.id_lists import IdList
from kith.social.ids import AccountId, StatusId
from kith.social.moderation.tables import (
    Appeal,
    Note,
    Preset,
    Report,
    Severance,
    SeveredFollow,
    Strike,
    appeals,
    deletions,
    notes,
    presets,
    reports,
    severances,
    severed_follows,
    strikes,
)
from kith.social.relationships import rules
from kith.social.statuses import access
from kith.social.statuses.tables import PRIVATE, PUBLIC, UNLISTED, statuses

_id: BindParameter[Any] = bindparam("id")
_target: BindParameter[Any] = bindparam("target")
_now = bindparam("now", type_=Instant())


def _one(table: Table, row: type[Any]) -> Query[Any]:
    return query(select(table).where(table.c.id == _id), row)


_report, _note, _preset = _one(reports, Report), _one(notes, Note), _one(presets, Preset)
_strike, _appeal = _one(strikes, Strike), _one(appeals, Appeal)
_insert = {table: command(insert_into(table)) for table in (reports, notes, presets, strikes, appeals, severances)}
_insert_lost = command(insert_into(severed_follows))
_is_open = and_(reports.c.target_id == _target, reports.c.action_taken_at.is_(None))
_thread = query(select(reports.c.thread_id).where(_is_open).order_by(reports.c.id).limit(1), int)
_open_of = query(select(reports).where(_is_open).order_by(reports.c.id), Report)
_resolve = command(
    update(reports).where(_is_open).values(action_taken_at=_now, action_taken_by_id=bindparam("by"), updated_at=_now)
)


def _reported_statement() -> Any:
    """Those of `ids` that are of the target, and that the reporter may see, or could before they were deleted."""
    author = alias_of(accounts)
    was_seen = or_(
        access.shown_to(statuses, PUBLIC, UNLISTED),
        access.mentions_me(statuses.c.id),
        and_(access.shown_to(statuses, PRIVATE), rules.follows(access.ME, statuses.c.account_id)),
    )
    return (
        select(statuses.c.id)
        .select_from(statuses.join(author, author.c.id == statuses.c.account_id))
        .where(
            and_(
                any_of(statuses.c.id, "ids"),
                statuses.c.account_id == _target,
                or_(access.visible(statuses, author), and_(statuses.c.deleted_at.is_not(None), was_seen)),
            )
        )
    )


_reported = query(_reported_statement, StatusId)
_collected = query(
    select(collections.c.id).where(and_(any_of(collections.c.id, "ids"), collections.c.account_id == _target)), int
)


async def find_report(db: Session, id: int) -> Report | None:
    return await db.one(_report, id=id)


async def find_note(db: Session, id: int) -> Note | None:
    return await db.one(_note, id=id)


async def find_preset(db: Session, id: int) -> Preset | None:
    return await db.one(_preset, id=id)


async def find_strike(db: Session, id: int) -> Strike | None:
    return await db.one(_strike, id=id)


async def find_appeal(db: Session, id: int) -> Appeal | None:
    return await db.one(_appeal, id=id)


async def add_report(db: Session, row: Report) -> None:
    await db.run(_insert[reports], **msgspec.structs.asdict(row))


async def add_note(db: Session, row: Note) -> None:
    await db.run(_insert[notes], **msgspec.structs.asdict(row))


async def add_preset(db: Session, row: Preset) -> None:
    await db.run(_insert[presets], **msgspec.structs.asdict(row))


async def add_strike(db: Session, row: Strike) -> None:
    await db.run(_insert[strikes], **msgspec.structs.asdict(row))


async def add_appeal(db: Session, row: Appeal) -> None:
    """Raises `Taken` where the strike has one already."""
    await db.run(_insert[appeals], **msgspec.structs.asdict(row))


async def add_severance(db: Session, row: Severance, lost: Sequence[SeveredFollow]) -> None:
    await db.run(_insert[severances], **msgspec.structs.asdict(row))
    await db.many(_insert_lost, [msgspec.structs.asdict(one) for one in lost])


async def thread_of(db: Session, target: AccountId) -> int | None:
    """The mails that a report about somebody joins: those about their oldest open one."""
    return await db.one(_thread, target=target)


async def reported_among(db: Session, me: AccountId, target: AccountId, ids: Sequence[int]) -> set[StatusId]:
    return set(await db.all(_reported, me=me, target=target, ids=list(ids))) if ids else set()


async def collections_among(db: Session, target: AccountId, ids: Sequence[int]) -> set[int]:
    """Those of `ids` that the target made."""
    return set(await db.all(_collected, target=target, ids=list(ids))) if ids else set()


async def open_of(db: Session, target: AccountId) -> list[Report]:
    return await db.all(_open_of, target=target)


async def resolve_all(db: Session, target: AccountId, by: AccountId | None, now: datetime) -> None:
    await db.run(_resolve, target=target, by=by, now=now)


# Changing and taking away

_TABLES: dict[str, Table] = {
    "report": reports,
    "preset": presets,
    "strike": strikes,
    "appeal": appeals,
    "note": notes,
}
_delete = {name: command(delete(table).where(table.c.id == _id)) for name, table in _TABLES.items()}


@lru_cache(64)
def _change(kind: str, names: frozenset[str]) -> Command:
    table = _TABLES[kind]
    values = {name: bindparam(f"new_{name}", type_=table.c[name].type) for name in sorted(names)}
    return command(update(table).where(table.c.id == _id).values(values))


async def change(db: Session, kind: str, id: int, changed: Mapping[str, Any]) -> None:
    await db.run(_change(kind, frozenset(changed)), id=id, **{f"new_{name}": v for name, v in changed.items()})


async def remove(db: Session, kind: str, id: int) -> None:
    await db.run(_delete[kind], id=id)


# Lists


@lru_cache(64)
def _report_walk(resolved: bool | None, by: bool, about: bool) -> IdList:
    clauses: list[ColumnElement[bool]] = []
    if resolved is not None:
        taken = reports.c.action_taken_at
        clauses.append(taken.is_not(None) if resolved else taken.is_(None))
    if by:
        clauses.append(reports.c.account_id == bindparam("account"))
    if about:
        clauses.append(reports.c.target_id == _target)
    return IdList(select(reports).where(and_(True, *clauses)), reports.c.id, row=Report)


async def page_of_reports(
    db: Session, cursor: Cursor, *, resolved: bool | None = None, account: int | None = None, target: int | None = None
) -> list[Report]:
    """`resolved` None: whether or not."""
    statement, values = _report_walk(resolved, account is not None, target is not None).form(cursor)
    rows: list[Report] = await db.all(statement, account=account, target=target, **values)
    return rows[::-1] if cursor.is_ascending else rows


_notes_of = query(select(notes).where(notes.c.report_id == _id).order_by(notes.c.id), Note)
_presets = query(select(presets).order_by(presets.c.title, presets.c.id), Preset)
_strikes_by_id = query(select(strikes).where(any_of(strikes.c.id, "ids")), Strike)
_appeals_of = query(select(appeals).where(any_of(appeals.c.strike_id, "ids")), Appeal)
_severances = query(select(severances).where(any_of(severances.c.id, "ids")), Severance)
_reports_by_id = query(select(reports).where(any_of(reports.c.id, "ids")), Report)
_strikes_of = IdList(select(strikes).where(strikes.c.target_id == _target), strikes.c.id, row=Strike)
_appeal_walks = {
    True: IdList(select(appeals).where(appeals.c.state == bindparam("state")), appeals.c.id, row=Appeal),
    False: IdList(select(appeals), appeals.c.id, row=Appeal),
}


async def notes_of(db: Session, report_id: int) -> list[Note]:
    return await db.all(_notes_of, id=report_id)


async def all_presets(db: Session) -> list[Preset]:
    return await db.all(_presets)


async def strikes_by_id(db: Session, ids: Sequence[int]) -> list[Strike]:
    return await db.all(_strikes_by_id, ids=list(ids))


async def reports_by_id(db: Session, ids: Sequence[int]) -> list[Report]:
    return await db.all(_reports_by_id, ids=list(ids))


async def severances_by_id(db: Session, ids: Sequence[int]) -> list[Severance]:
    return await db.all(_severances, ids=list(ids))


_severances_of = IdList(select(severances).where(severances.c.account_id == _target), severances.c.id, row=Severance)
_lost_in = query(
    select(severed_follows)
    .where(and_(severed_follows.c.severance_id == _id, severed_follows.c.following == bindparam("following")))
    .order_by(severed_follows.c.acct),
    SeveredFollow,
)
_remembered = query(
    select(severed_follows.c.severance_id).where(any_of(severed_follows.c.severance_id, "ids")).distinct(), int
)


async def page_of_severances(db: Session, account_id: AccountId, cursor: Cursor) -> list[Severance]:
    statement, values = _severances_of.form(cursor)
    rows: list[Severance] = await db.all(statement, target=account_id, **values)
    return rows[::-1] if cursor.is_ascending else rows


async def lost_in(db: Session, severance_id: int, *, following: bool) -> list[SeveredFollow]:
    """Whom somebody followed, or who followed them, until then."""
    return await db.all(_lost_in, id=severance_id, following=following)


async def remembered_among(db: Session, ids: Sequence[int]) -> set[int]:
    """Those of which it is still known which follows were lost."""
    return set(await db.all(_remembered, ids=list(ids)))


async def appeals_of(db: Session, strike_ids: Sequence[int]) -> dict[int, Appeal]:
    return {one.strike_id: one for one in await db.all(_appeals_of, ids=list(strike_ids))}


async def page_of_strikes(db: Session, target: AccountId, cursor: Cursor) -> list[Strike]:
    statement, values = _strikes_of.form(cursor)
    rows: list[Strike] = await db.all(statement, target=target, **values)
    return rows[::-1] if cursor.is_ascending else rows


async def page_of_appeals(db: Session, state: str, cursor: Cursor) -> list[Appeal]:
    statement, values = _appeal_walks[bool(state)].form(cursor)
    rows: list[Appeal] = await db.all(statement, state=state, **values)
    return rows[::-1] if cursor.is_ascending else rows


# Data that is deleted when its time is over

_plan = command(add_once(deletions))
_unplan = command(delete(deletions).where(deletions.c.account_id == _id))
_was_active = query(select(deletions.c.was_active).where(deletions.c.account_id == _id), bool)
_due = query(
    select(deletions.c.account_id).where(deletions.c.due_at <= _now).order_by(deletions.c.due_at).limit(100), AccountId
)


async def plan_deletion(db: Session, account_id: AccountId, due_at: datetime, *, was_active: bool) -> None:
    await db.run(_plan, account_id=account_id, due_at=due_at, was_active=was_active)


async def unplan_deletion(db: Session, account_id: AccountId) -> bool:
    """Whether the person had been active before they were suspended."""
    was_active = await db.one(_was_active, id=account_id)
    await db.run(_unplan, id=account_id)
    return was_active is not False


async def due_deletions(db: Session, now: datetime) -> list[AccountId]:
    return await db.all(_due, now=now)


_held = query(select(reports.c.status_ids).where(reports.c.action_taken_at.is_(None)).limit(10_000), list)


async def held_statuses(db: Session) -> list[int]:
    """Posts that somebody has reported, while the report is open."""
    return sorted({int(id) for ids in await db.all(_held) for id in ids})
