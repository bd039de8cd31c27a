"""/settings/notifications: whether this browser shows notifications while no page is open, which, and from whom.

Turning them on needs the browser's consent, and so a script; all else is a form.
"""

from __future__ import annotations

from typing import Any

from kith.base import vapid
from kith.base.errors import Forbidden, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.keys import Keys
from kith.base.routing import get, post
from kith.identity import for_pages as identity
from kith.social.notifications.service import TYPES
from kith.web import own_api
from kith.web.client.frame import PageMember
from kith.web.settings.forms import read_own_form, text_field
from kith.web.settings.frame import entered, settings_page
from kith.web.settings.saving import is_ticked, refusal, saved
from kith.web.translation import translatable

PAGE = "/settings/notifications"
API = "/api/v1/push/subscription"
OFF = translatable("Notifications on this device are off now.")
KINDS = (
    ("mention", translatable("Somebody mentions you")),
    ("follow", translatable("Somebody follows you")),
    ("follow_request", translatable("Somebody asks to follow you")),
    ("favourite", translatable("Somebody favourites your post")),
    ("reblog", translatable("Somebody boosts your post")),
    ("quote", translatable("Somebody quotes you")),
    ("status", translatable("Somebody posts whose posts you want to hear of")),
    ("update", translatable("A post that you boosted was edited")),
    ("poll", translatable("A poll that you took part in has ended")),
)
FOR_STAFF = (
    ("admin.sign_up", translatable("Somebody signs up")),
    ("admin.report", translatable("Somebody sends a report")),
)
POLICIES = (
    ("all", translatable("Everybody")),
    ("followed", translatable("People I follow")),
    ("follower", translatable("People who follow me")),
    ("none", translatable("Nobody")),
)


def _kinds(member: PageMember) -> tuple[tuple[str, str], ...]:
    visitor = member.visitor
    is_staff = visitor.is_superuser or visitor.user.role in identity.TEAM
    return (*KINDS, *FOR_STAFF) if is_staff else KINDS


@get(PAGE)
async def show_notifications(exchange: Exchange) -> Answer:
    member = await entered(exchange)
    return member if isinstance(member, Answer) else await _page(exchange, member)


async def _page(exchange: Exchange, member: PageMember, *, status: int = 200, problem: str = "") -> Answer:
    if not member.account.may_act:
        raise Forbidden
    try:
        kept = await own_api.ask(exchange, API)
    except NotFound:
        kept = None
    return await settings_page(
        exchange,
        "settings/notifications.html",
        member.visitor,
        part="notifications",
        status=status,
        problem=problem,
        kept=kept,
        kinds=_kinds(member),
        field_of=_field,
        policies=POLICIES,
        usual=_alerts({name: True for name, _ in _kinds(member)}),
        server_key=vapid.public_key(exchange.find(Keys).vapid),
    )


def _alerts(chosen: dict[str, bool]) -> dict[str, bool]:
    """What nobody is asked about is always told: it is rare, and from those who run the server."""
    asked = {name for name, _ in (*KINDS, *FOR_STAFF)}
    return {type: chosen.get(type, type not in asked) for type in TYPES}


@post(PAGE)
async def change_notifications(exchange: Exchange) -> Answer:
    _, form = await read_own_form(exchange)
    member = await entered(exchange)
    if isinstance(member, Answer):
        return member
    if text_field(form, "does") == "off":
        await own_api.call(exchange, "DELETE", API)
        return await saved(exchange, member.visitor, PAGE, OFF)
    problem = await refusal(exchange, _save(exchange, member, form))
    if problem:
        return await _page(exchange, member, status=422, problem=problem)
    return await saved(exchange, member.visitor, PAGE)


async def _save(exchange: Exchange, member: PageMember, form: dict[str, Any]) -> None:
    chosen = {name: is_ticked(form, _field(name)) for name, _ in _kinds(member)}
    wanted = {"alerts": _alerts(chosen), "policy": text_field(form, "policy")}
    await own_api.call(exchange, "PUT", API, json={"data": wanted})


def _field(kind: str) -> str:
    """Without a dot, for those who style or script it."""
    return f"tell_{kind.replace('.', '_')}"


routes = [show_notifications, change_notifications]
