"""/invite/code: the address of an invitation, for people and for apps."""

from __future__ import annotations

from urllib.parse import urlencode

import msgspec

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web.pages import see_other
from kith.web.translation import translatable

SIGN_UP = "/flows/-/default/enrollment/"
NO_INVITE = translatable("There is no such invitation. Ask whoever sent you the link for a new one.")
JSON = b"application/json"
_HEADERS = (
    (b"content-type", JSON + b"; charset=utf-8"),
    (b"cache-control", b"private, no-store"),
    (b"vary", b"Accept"),
)


@get("/invite/{code}")
async def show_invite(exchange: Exchange, work: Work, code: FromPath[str]) -> Answer:
    """People are led to where they sign up. Apps are told what they need to do that themselves."""
    found = await identity.find_invite(work, code)
    if JSON in exchange.header(b"accept"):
        return _told_to_app(work, found)
    if found is None:
        raise NotFound(NO_INVITE)
    return see_other(f"{SIGN_UP}?{urlencode({'itoken': found.id})}", status=302)


def _told_to_app(work: Work, found: identity.Invite | None) -> Answer:
    if found is None:
        return _json(404, {"error": "Record not found"})
    if found.is_over(work.now):
        return _json(401, {"error": "This invite is not valid"})
    return _json(200, {"invite_code": found.id, "instance_api_url": f"{work.settings.base_url}/api/v2/instance"})


def _json(status: int, told: dict[str, str]) -> Answer:
    return Answer(status, _HEADERS, msgspec.json.encode(told))


routes = [show_invite]
