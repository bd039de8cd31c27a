"""/admin/certificates: the keys that sign and prove, how long they last, and making new ones."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from kith.base.errors import Invalid
from kith.base.exchange import Answer, Exchange
from kith.base.routing import get, post
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.admin.frame import admin_page, enter
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form, text_field
from kith.web.translation import translatable

__all__ = ["routes"]

PLACE = "/admin/certificates"
_PAIRS = "/api/v2/crypto/certificatekeypairs/"
MOST = 500
SOON_DAYS = 30
ALGORITHMS = (("rsa", "RSA"), ("ecdsa", "ECDSA"), ("ed25519", "Ed25519"), ("ed448", "Ed448"))
_EMPTY = {"common_name": "", "subject_alt_name": "", "validity_days": "365", "alg": "rsa"}


@get("/admin/certificates")
async def show(exchange: Exchange) -> Answer:
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "certificates.html", None)
    return await _page(exchange, visitor, _EMPTY)


@post("/admin/certificates", status=200)
async def make(exchange: Exchange) -> Answer:
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        return admin_page(exchange, "certificates.html", None)
    await enter(exchange)
    sent = {name: text_field(form, name) for name in _EMPTY}
    days = sent["validity_days"]
    values = {**sent, "validity_days": int(days) if days.isascii() and days.isdigit() and len(days) < 9 else days}
    try:
        await own_api.call(exchange, "POST", f"{_PAIRS}generate/", json=values)
    except Invalid as problem:
        await exchange.end_work(commit=False)
        return await _page(exchange, visitor, sent, problem.fields)
    return see_other(PLACE)


async def _page(
    exchange: Exchange, visitor: identity.Visitor, sent: Mapping[str, str], errors: Mapping[str, Any] | None = None
) -> Answer:
    found = await own_api.ask(exchange, _PAIRS, limit=MOST, ordering="name")
    now = datetime.now(UTC)
    return admin_page(
        exchange,
        "certificates.html",
        visitor,
        status=400 if errors else 200,
        heading=translatable("Certificates"),
        rows=[(one, _days_left(one["cert_expiry"], now)) for one in found["results"]],
        soon=SOON_DAYS,
        algorithms=ALGORITHMS,
        sent=sent,
        errors=errors or {},
    )


def _days_left(expiry: str | None, now: datetime) -> int | None:
    return (datetime.fromisoformat(expiry) - now).days if expiry is not None else None


routes = [show, make]
