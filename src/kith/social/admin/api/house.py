"""Rules, pages, webhooks, invitations and the audit trail, for the team."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec

from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, FromQuery, FromRequest, delete, get, post, put
from kith.base.work import Work
from kith.identity import for_staff
from kith.social.admin import house, webhooks
from kith.social.admin.tables import Webhook
from kith.social.instance import store as instance
from kith.social.instance.entities import rule_shape
from kith.social.instance.tables import Rule
from kith.social.moments import maybe, moment
from kith.social.pages import list_of
from kith.social.staff import TheStaff, record, staff

ADMIN = "/api/v1/admin"
SEE_RULES, RULES = staff("manage_rules", scope="admin:read"), staff("manage_rules", scope="admin:write")
SEE_SETTINGS, SETTINGS = staff("manage_settings", scope="admin:read"), staff("manage_settings", scope="admin:write")
SEE_HOOKS, HOOKS = staff("manage_webhooks", scope="admin:read"), staff("manage_webhooks", scope="admin:write")
SEE_INVITES, INVITES = staff("manage_invites", scope="admin:read"), staff("manage_invites", scope="admin:write")
AUDIT = staff("view_audit_log", scope="admin:read")
LIMIT, MOST, FURTHEST = 100, 200, 100_000
LONGEST_INVITE = 10 * 365 * 86_400
_encode = msgspec.json.Encoder().encode


def _rule(rule: Rule) -> dict[str, Any]:
    return rule_shape(rule) | {"priority": rule.position}


@get(f"{ADMIN}/rules", guards=[SEE_RULES])
async def show_rules(work: Work) -> list[dict[str, Any]]:
    return [_rule(rule) for rule in await instance.all_rules(work.db)]


@get(f"{ADMIN}/rules/{{id}}", guards=[SEE_RULES])
async def show_rule(work: Work, id: FromPath[int]) -> dict[str, Any]:
    return _rule(await house.find_rule(work, id))


@post(f"{ADMIN}/rules", guards=[RULES])
async def add_rule(work: Work, by: TheStaff, draft: FromRequest[house.RuleDraft]) -> dict[str, Any]:
    return _rule(await house.add_rule(work, by, draft))


@put(f"{ADMIN}/rules/{{id}}", guards=[RULES])
async def change_rule(
    work: Work, by: TheStaff, draft: FromRequest[house.RuleDraft], id: FromPath[int]
) -> dict[str, Any]:
    return _rule(await house.change_rule(work, by, id, draft))


@delete(f"{ADMIN}/rules/{{id}}", guards=[RULES])
async def remove_rule(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    await house.remove_rule(work, by, id)
    return {}


@get(f"{ADMIN}/settings", guards=[SEE_SETTINGS])
async def show_settings(work: Work) -> dict[str, Any]:
    return await house.settings_of(work)


@put(f"{ADMIN}/settings", guards=[SETTINGS])
async def change_settings(work: Work, by: TheStaff, pages: FromRequest[house.SettingsForm]) -> dict[str, Any]:
    return await house.write_settings(work, by, pages)


# Webhooks


def _hook(work: Work, one: Webhook, *, with_secret: bool) -> dict[str, Any]:
    told = {
        "id": str(one.id),
        "url": one.url,
        "events": one.events,
        "enabled": one.enabled,
        "created_at": moment(one.created_at),
        "updated_at": moment(one.updated_at),
    }
    return told | {"secret": webhooks.secret_of(work, one)} if with_secret else told


@get(f"{ADMIN}/webhooks", guards=[SEE_HOOKS])
async def show_hooks(work: Work) -> list[dict[str, Any]]:
    return [_hook(work, one, with_secret=False) for one in await webhooks.every(work.db)]


@get(f"{ADMIN}/webhooks/{{id}}", guards=[SEE_HOOKS])
async def show_hook(work: Work, id: FromPath[int]) -> dict[str, Any]:
    return _hook(work, await webhooks.find(work, id), with_secret=False)


@post(f"{ADMIN}/webhooks", guards=[HOOKS])
async def create_hook(work: Work, by: TheStaff, draft: FromRequest[webhooks.WebhookDraft]) -> dict[str, Any]:
    """The secret is told here and when it is changed, and nowhere else."""
    return _hook(work, await webhooks.create(work, by, draft), with_secret=True)


@put(f"{ADMIN}/webhooks/{{id}}", guards=[HOOKS])
async def change_hook(
    work: Work, by: TheStaff, draft: FromRequest[webhooks.WebhookDraft], id: FromPath[int]
) -> dict[str, Any]:
    return _hook(work, await webhooks.change(work, by, id, draft), with_secret=False)


@post(f"{ADMIN}/webhooks/{{id}}/rotate_secret", guards=[HOOKS])
async def rotate_secret(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    return _hook(work, await webhooks.rotate(work, by, id), with_secret=True)


@delete(f"{ADMIN}/webhooks/{{id}}", guards=[HOOKS])
async def delete_hook(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    await webhooks.remove(work, by, id)
    return {}


# Invitations


class NewInvite(msgspec.Struct, kw_only=True):
    name: str = ""
    expires_in: int | None = None
    single_use: bool = True
    autofollow: bool = False


def _invite(work: Work, one: for_staff.Invite) -> dict[str, Any]:
    return {
        "id": one.id,
        "code": one.id,
        "name": one.name,
        "url": f"{work.settings.base_url}/flows/-/default/enrollment/?itoken={one.id}",
        "single_use": one.single_use,
        "autofollow": one.autofollow,
        "expires_at": maybe(one.expires_at),
        "created_at": moment(one.created_at),
    }


@get(f"{ADMIN}/invites", guards=[SEE_INVITES])
async def show_invites(work: Work) -> list[dict[str, Any]]:
    return [_invite(work, one) for one in await for_staff.invites(work)]


@post(f"{ADMIN}/invites", guards=[INVITES])
async def create_invite(work: Work, by: TheStaff, new: FromRequest[NewInvite]) -> dict[str, Any]:
    if new.expires_in is not None and not 0 < new.expires_in <= LONGEST_INVITE:
        raise Invalid(fields={"expires_in": [Complaint("is invalid")]})
    made = await for_staff.invite(
        work,
        by.user_id,
        name=new.name,
        expires_in=new.expires_in,
        single_use=new.single_use,
        autofollow=new.autofollow,
    )
    await record(work, by, "create_invite")
    return _invite(work, made)


@get(f"{ADMIN}/invites/{{id}}", guards=[SEE_INVITES])
async def show_invite(work: Work, id: FromPath[str]) -> dict[str, Any]:
    found = await for_staff.find_invite(work, id)
    if found is None:
        raise NotFound
    return _invite(work, found)


@delete(f"{ADMIN}/invites/{{id}}", guards=[INVITES])
async def delete_invite(work: Work, by: TheStaff, id: FromPath[str]) -> dict[str, Any]:
    await for_staff.withdraw_invite(work, id)
    await record(work, by, "destroy_invite")
    return {}


# The audit trail


class HouseQuery(msgspec.Struct, kw_only=True):
    action: str = ""
    username: str = ""


@get(f"{ADMIN}/audit", guards=[AUDIT])
async def show_audit(exchange: Exchange, work: Work, asked: FromQuery[HouseQuery]) -> Answer:
    """What the team has done, the latest first."""
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.OFFSET)
    rows = await for_staff.staff_view.events_of(
        work.db,
        app="social.moderation",
        action=asked.action,
        username=asked.username,
        limit=cursor.limit,
        offset=min(cursor.offset, FURTHEST),
    )
    shown = [
        _encode(
            {
                "id": one.event_uuid,
                "action": one.action,
                "username": one.username,
                "context": one.context,
                "ip": one.client_ip,
                "created_at": moment(one.created_at),
            }
        )
        for one in rows
    ]
    return list_of(exchange, cursor, shown, [one.event_uuid for one in rows], kind=CursorKind.OFFSET)


class AuditDaysQuery(msgspec.Struct, kw_only=True):
    """`all` counts what happened in both halves, not only what the team did."""

    all: bool = False


@get(f"{ADMIN}/audit/days", guards=[AUDIT])
async def show_audit_days(work: Work, asked: FromQuery[AuditDaysQuery]) -> list[dict[str, Any]]:
    """How many events there were on each of the last days, today last."""
    most = for_staff.staff_view.MOST_DAYS
    tomorrow = work.now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    days = [tomorrow - timedelta(days=most - number) for number in range(most + 1)]
    app = "" if asked.all else "social.moderation"
    counts = await for_staff.staff_view.events_by_day(work.db, days, app=app)
    return [{"day": day.date().isoformat(), "count": count} for day, count in zip(days, counts, strict=False)]


routes = [
    show_audit_days,
    show_rules,
    show_rule,
    add_rule,
    change_rule,
    remove_rule,
    show_settings,
    change_settings,
    show_hooks,
    show_hook,
    create_hook,
    change_hook,
    rotate_secret,
    delete_hook,
    show_invites,
    show_invite,
    create_invite,
    delete_invite,
    show_audit,
]
