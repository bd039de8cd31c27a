from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import BindParameter, and_, bindparam, func, select

from kith.base.db import Session, any_of, command, query, upsert
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId, StatusId, UserId
from kith.social.notifications.tables import emails, notifications

N = notifications
_me: BindParameter[Any] = bindparam("me")


class EmailChoices(msgspec.Struct):
    """Which types somebody wants to be written to about; `always`: also while they are here.

    `reports`: as one of the team, about new reports.
    """

    types: list[str]
    always: bool
    reports: bool = True


class MailedNotification(NamedTuple):
    """A notification whose reader can be written to, with what they have chosen, if anything."""

    id: int
    account_id: AccountId
    user_id: UserId
    type: str
    from_id: AccountId
    status_id: StatusId | None
    created_at: datetime
    types: list[str] | None
    always: bool | None


_choices = query(
    select(emails.c.types, emails.c.always, emails.c.reports).where(emails.c.account_id == _me), EmailChoices
)
_unwilling = query(
    select(emails.c.account_id).where(and_(any_of(emails.c.account_id, "ids"), ~emails.c.reports)), AccountId
)
_new = upsert(emails).values({column.name: bindparam(column.name, type_=column.type) for column in emails.columns})
_set = command(
    _new.on_conflict_do_update(
        index_elements=["account_id"],
        set_={name: _new.excluded[name] for name in ("types", "always", "reports")},
    ).inline()
)
_mailed = query(
    select(
        N.c.id,
        N.c.account_id,
        accounts.c.user_id,
        N.c.type,
        N.c.from_id,
        N.c.status_id,
        N.c.created_at,
        emails.c.types,
        emails.c.always,
    )
    .select_from(
        N.join(accounts, accounts.c.id == N.c.account_id).outerjoin(emails, emails.c.account_id == N.c.account_id)
    )
    .where(
        and_(
            N.c.id == bindparam("id"),
            ~N.c.filtered,
            accounts.c.user_id.is_not(None),
            accounts.c.suspended_at.is_(None),
            accounts.c.deleted_at.is_(None),
        )
    ),
    MailedNotification,
)
_before = query(
    select(func.count()).where(
        and_(
            N.c.account_id == _me,
            N.c.id > bindparam("since"),
            N.c.id < bindparam("id"),
            any_of(N.c.type, "types"),
            ~N.c.filtered,
        )
    ),
    int,
)


async def choices_of(db: Session, me: AccountId) -> EmailChoices | None:
    return await db.one(_choices, me=me)


async def set_choices(db: Session, me: AccountId, choices: EmailChoices) -> None:
    await db.run(_set, account_id=me, types=choices.types, always=choices.always, reports=choices.reports)


async def not_mailed_about_reports(db: Session, ids: Sequence[AccountId]) -> set[AccountId]:
    """Who of the team wants no mail about reports."""
    return set(await db.all(_unwilling, ids=list(ids)))


async def find(db: Session, id: int) -> MailedNotification | None:
    return await db.one(_mailed, id=id)


async def count_before(db: Session, told: MailedNotification, types: Sequence[str], since: int) -> int:
    """How many of these types somebody was told of between an id and this one."""
    return await db.one(_before, me=told.account_id, id=told.id, types=list(types), since=since) or 0
