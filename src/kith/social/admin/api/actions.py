"""What the team does to accounts, and back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, FromRequest, Route, delete, number, post
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.admin.api.accounts import find_account, show_one
from kith.social.ids import AccountId
from kith.social.moderation import actions
from kith.social.staff import Staff, TheStaff, staff

SCOPE = "admin:write:accounts"
ONE = "/api/v1/admin/accounts/{id}"
MANAGE = staff("manage_users", scope=SCOPE)


class ActionForm(msgspec.Struct, kw_only=True):
    type: str
    report_id: str = ""
    warning_preset_id: str = ""
    text: str = ""
    send_email_notification: bool = True
    status_ids: list[str] = []


@post(f"{ONE}/action", guards=[staff("manage_users", "manage_reports", scope=SCOPE)])
async def act(work: Work, by: TheStaff, wanted: FromRequest[ActionForm], id: FromPath[AccountId]) -> dict[str, Any]:
    """Warn somebody, disable, limit or suspend their account, or delete their posts or mark them as sensitive."""
    what = actions.Act(
        type=wanted.type,
        report_id=number(wanted.report_id) if wanted.report_id else None,
        preset_id=number(wanted.warning_preset_id) if wanted.warning_preset_id else None,
        text=wanted.text,
        send_mail=wanted.send_email_notification,
        status_ids=[number(id) for id in wanted.status_ids],
    )
    await actions.act(work, by, await find_account(work, id), what)
    return {}


def _way_back(name: str, do: Callable[[Work, Staff, Account], Awaitable[None]]) -> Route:
    async def lift(exchange: Exchange, work: Work, by: TheStaff, id: FromPath[AccountId]) -> Answer:
        await do(work, by, await find_account(work, id))
        return await show_one(exchange, work, id)

    return post(f"{ONE}/{name}", guards=[MANAGE])(lift)


@post(f"{ONE}/reject", guards=[MANAGE])
async def reject(work: Work, by: TheStaff, id: FromPath[AccountId]) -> dict[str, Any]:
    """Somebody who waits is turned down, and their account deleted."""
    await actions.reject(work, by, await find_account(work, id))
    return {}


@delete(ONE, guards=[staff("delete_user_data", scope=SCOPE)])
async def delete_account(work: Work, by: TheStaff, id: FromPath[AccountId]) -> dict[str, Any]:
    """All data of a suspended account, for good."""
    await actions.delete(work, by, await find_account(work, id))
    return {}


routes = [
    act,
    _way_back("approve", actions.approve),
    _way_back("enable", actions.enable),
    _way_back("unsilence", actions.unsilence),
    _way_back("unsuspend", actions.unsuspend),
    _way_back("unsensitive", actions.unsensitive),
    reject,
    delete_account,
]
