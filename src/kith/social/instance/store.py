from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, delete, distinct, func, or_, select, update

from kith.base.db import Command, Instant, Session, add_once, command, insert_into, query, upsert
from kith.social.accounts.tables import Account, accounts
from kith.social.ids import UserId
from kith.social.instance.tables import InstancePage, Rule, days, pages, presence, rules

_now = bindparam("now", type_=Instant())
_rules = query(select(rules).where(rules.c.deleted_at.is_(None)).order_by(rules.c.position, rules.c.id), Rule)
_every_rule = query(select(rules), Rule)
_add_rule = command(insert_into(rules))
_remove_rule = command(
    update(rules).where(and_(rules.c.id == bindparam("rule"), rules.c.deleted_at.is_(None))).values(deleted_at=_now)
)
_pages = query(select(pages).where(pages.c.kind == bindparam("kind")).order_by(pages.c.effective_date), InstancePage)
_new_page = insert_into(pages)
_drop_page = command(
    delete(pages).where(and_(pages.c.kind == bindparam("kind"), pages.c.effective_date == bindparam("effective_date")))
)
_add_page = command(_new_page)
_new_day = upsert(days).values(day=bindparam("day"), name=bindparam("name"), count=bindparam("by"))
_count = command(
    _new_day.on_conflict_do_update(
        index_elements=[days.c.day, days.c.name], set_={"count": days.c.count + _new_day.excluded.count}
    ).inline()
)
_counted = query(
    select(days.c.day, days.c.count).where(and_(days.c.name == bindparam("name"), days.c.day >= bindparam("since"))),
    tuple,
)
_note = command(add_once(presence))
_present = query(
    select(func.count(distinct(presence.c.user_id))).where(
        and_(presence.c.day >= bindparam("first"), presence.c.day <= bindparam("last"))
    ),
    int,
)
_forget_days = command(delete(days).where(days.c.day < bindparam("before")))
_forget_presence = command(delete(presence).where(presence.c.day < bindparam("before")))
_said = query(select(func.sum(accounts.c.statuses_count)).where(accounts.c.domain == ""), int)
_domains = query(select(distinct(accounts.c.domain)).where(accounts.c.domain != "").order_by(accounts.c.domain), str)
_is_here = and_(
    accounts.c.domain == "",
    accounts.c.is_listed,
    accounts.c.suspended_at.is_(None),
    accounts.c.deleted_at.is_(None),
)
_owner = query(
    select(accounts).where(and_(_is_here, accounts.c.role == "owner")).order_by(accounts.c.id).limit(1),
    Account,
)
_team = query(
    select(accounts)
    .where(and_(_is_here, or_(accounts.c.role != "user", accounts.c.role_id.is_not(None))))
    .order_by(accounts.c.id)
    .limit(bindparam("most")),
    Account,
)


async def all_rules(db: Session) -> list[Rule]:
    return await db.all(_rules)


async def every_rule(db: Session) -> list[Rule]:
    """Also those that hold no longer."""
    return await db.all(_every_rule)


async def add_rule(db: Session, rule: Rule) -> None:
    await db.run(_add_rule, **msgspec.structs.asdict(rule))


@lru_cache(8)
def _change_rule(names: frozenset[str]) -> Command:
    values = {name: bindparam(f"new_{name}", type_=rules.c[name].type) for name in sorted(names)}
    return command(update(rules).where(rules.c.id == bindparam("rule")).values(values))


async def change_rule(db: Session, rule_id: int, values: Mapping[str, Any]) -> None:
    await db.run(_change_rule(frozenset(values)), rule=rule_id, **{f"new_{name}": v for name, v in values.items()})


async def remove_rule(db: Session, rule_id: int, now: datetime) -> bool:
    return await db.run(_remove_rule, rule=rule_id, now=now) == 1


async def pages_of(db: Session, kind: str) -> list[InstancePage]:
    """Oldest first."""
    return await db.all(_pages, kind=kind)


async def write_page(db: Session, page: InstancePage) -> None:
    await remove_page(db, page.kind, page.effective_date)
    await db.run(_add_page, **msgspec.structs.asdict(page))


async def remove_page(db: Session, kind: str, effective_date: str) -> bool:
    return await db.run(_drop_page, kind=kind, effective_date=effective_date) == 1


async def count(db: Session, name: str, day: str, by: int = 1) -> None:
    await db.run(_count, name=name, day=day, by=by)


async def counted(db: Session, name: str, since: str) -> dict[str, int]:
    return dict(await db.all(_counted, name=name, since=since))


async def note_presence(db: Session, user_id: UserId, day: str) -> None:
    await db.run(_note, user_id=user_id, day=day)


async def present(db: Session, first: str, last: str) -> int:
    """How many people were here from one day to another."""
    return (await db.slow(_present, first=first, last=last))[0]


async def forget(db: Session, before: str) -> None:
    await db.run(_forget_days, before=before)
    await db.run(_forget_presence, before=before)


async def count_said(db: Session) -> int:
    """Posts of those who live here."""
    return (await db.slow(_said))[0] or 0


async def domains(db: Session) -> list[str]:
    """Where else people live whom somebody here has met."""
    return await db.slow(_domains)


async def find_owner(db: Session) -> Account | None:
    return await db.one(_owner)


async def find_team(db: Session, most: int) -> list[Account]:
    """Whoever has a role here, those who came first before the others."""
    return await db.all(_team, most=most)
