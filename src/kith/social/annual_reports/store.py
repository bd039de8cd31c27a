from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, and_, bindparam, delete, select, update

from kith.base.db import Instant, Session, command, query, upsert
from kith.social.annual_reports.tables import AnnualReport, annual_reports
from kith.social.ids import AccountId

_account: BindParameter[Any] = bindparam("account")
_year: BindParameter[Any] = bindparam("of_year")
_at = bindparam("at", type_=Instant())
_is_it = and_(annual_reports.c.account_id == _account, annual_reports.c.year == _year)
_one = query(select(annual_reports).where(_is_it), AnnualReport)
_unread = query(
    select(annual_reports)
    .where(
        and_(
            annual_reports.c.account_id == _account,
            annual_reports.c.made_at.is_not(None),
            annual_reports.c.read_at.is_(None),
        )
    )
    .order_by(annual_reports.c.year.desc()),
    AnnualReport,
)
_new = upsert(annual_reports).values(
    {name: bindparam(name, type_=annual_reports.c[name].type) for name in AnnualReport.__struct_fields__}
)
_ask = command(
    _new.on_conflict_do_update(
        index_elements=[annual_reports.c.account_id, annual_reports.c.year],
        set_={"asked_at": _new.excluded.asked_at},
        where=annual_reports.c.made_at.is_(None),
    ).inline()
)
_finish = command(
    update(annual_reports)
    .where(and_(_is_it, annual_reports.c.made_at.is_(None)))
    .values(
        data=bindparam("figures", type_=annual_reports.c.data.type),
        schema_version=bindparam("version"),
        made_at=_at,
    )
)
_read = command(
    update(annual_reports)
    .where(and_(_is_it, annual_reports.c.made_at.is_not(None), annual_reports.c.read_at.is_(None)))
    .values(read_at=_at)
)
_forget = command(delete(annual_reports).where(annual_reports.c.account_id == _account))


async def find(db: Session, account_id: AccountId, year: int) -> AnnualReport | None:
    return await db.one(_one, account=account_id, of_year=year)


async def unread(db: Session, account_id: AccountId) -> list[AnnualReport]:
    """Those that are there and were not marked as read, the newest first."""
    return await db.all(_unread, account=account_id)


async def ask(db: Session, report: AnnualReport) -> None:
    """Where it was asked for already, but never made, from now on."""
    await db.run(_ask, **{name: getattr(report, name) for name in AnnualReport.__struct_fields__})


async def finish(
    db: Session, account_id: AccountId, year: int, figures: dict[str, Any], *, version: int, now: datetime
) -> bool:
    """False where it was there already."""
    return await db.run(_finish, account=account_id, of_year=year, figures=figures, version=version, at=now) == 1


async def mark_read(db: Session, account_id: AccountId, year: int, now: datetime) -> None:
    await db.run(_read, account=account_id, of_year=year, at=now)


async def forget_account(db: Session, account_id: AccountId) -> None:
    await db.run(_forget, account=account_id)
