"""/flows/{slug}/: the challenges of a flow as pages that need no script.

An answer that was taken leads back to the page, which then shows what comes next; one that was not is shown
again with what was wrong.
"""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import msgspec

from kith.base import csrf
from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.keys import Keys
from kith.base.params import BodyLimits, Upload, read_body
from kith.base.routing import FromPath, get, post, route
from kith.identity import for_pages as identity
from kith.web import logout
from kith.web.content_policy import may_show
from kith.web.pages import has_template, page, see_other

LIMITS = BodyLimits(max_file_bytes=512 * 1024, max_files=4)
# Which complaints a component's own template shows beside their fields; all others stand above the form.
_PLACES = {
    "identification": {"uid_field", "password"},
    "password": {"password"},
    "userlogin": {"remember_me"},
    "otp": {"code"},
    "otptime": {"code"},
    "otpvalidate": {"code"},
}
# What a stage says in place of an error when it has done what it was asked.
_GOOD_NEWS = {"email-sent"}
# Pages of ours that send people on to elsewhere.
_ONWARD = ("/application/o/authorize", "/application/saml/", "/saml/logout/")
# What a device said, which a form can only carry as text.
_SAID_BY_DEVICES = {("identification", "passkey"), ("otpvalidate", "webauthn"), ("webauthn", "response")}


@get("/flows/{slug}/")
async def show_flow(exchange: Exchange, slug: FromPath[str]) -> Answer:
    walk = await identity.flows.open_run(exchange, slug, _query(exchange))
    return _next(exchange, walk, await walk.go(may_act=False))


@post("/flows/{slug}/")
async def answer_flow(exchange: Exchange, slug: FromPath[str]) -> Answer:
    sent = await read_body(exchange, LIMITS)
    csrf.check(exchange, exchange.find(Keys).session, str(sent.pop("csrf", "")))
    walk = await identity.flows.open_run(exchange, slug, _query(exchange))
    leaving = await logout.prepare(exchange) if _would_sign_out(walk) else None
    result = await walk.go(_answered(sent), may_act=True)
    if leaving is not None and walk.signed_out and isinstance(result, identity.flows.FlowEnded):
        result = identity.flows.FlowEnded(await logout.through_applications(exchange, leaving, result.to))
    if (
        isinstance(result, identity.flows.Challenge)
        and not result.errors
        and not walk.messages
        and not _would_sign_out(walk)
    ):
        return see_other(_here(exchange, walk), headers=identity.flows.session_cookie(exchange, walk))
    return _next(exchange, walk, result)


@route(("GET", "POST"), "/flows/-/default/{designation}/")
async def take_default(exchange: Exchange, designation: FromPath[str]) -> Answer:
    """To the flow for this purpose; a form that was sent here is sent on to it."""
    slug = await identity.flows.find_default(exchange, designation)
    if slug is None:
        raise NotFound("This is not available on this server")
    return see_other(f"/flows/{slug}/{_query_string(exchange)}", status=307)


@get("/flows/-/cancel/")
async def cancel_flow(exchange: Exchange) -> Answer:
    query = _query(exchange)
    cancelled = await identity.flows.leave(exchange, query.get("flow"))
    to = "" if "next" in query else cancelled
    return see_other(to or identity.safe_path(query.get("next", "")))


@get("/if/flow/{slug}/")
async def old_address(exchange: Exchange, slug: FromPath[str]) -> Answer:
    return see_other(f"/flows/{quote(slug, safe='')}/{_query_string(exchange)}")


def _query(exchange: Exchange) -> dict[str, str]:
    given = parse_qs(exchange.query_string.decode("latin-1"), keep_blank_values=True)
    return {name: values[-1][:2000] for name, values in given.items()}


def _query_string(exchange: Exchange) -> str:
    raw = exchange.query_string.decode("latin-1")
    return f"?{raw}" if raw else ""


def _here(exchange: Exchange, walk: identity.flows.FlowRun) -> str:
    return f"/flows/{walk.info()['slug']}/{_query_string(exchange)}"


def _would_sign_out(walk: identity.flows.FlowRun) -> bool:
    return walk.info()["designation"] == "invalidation" and walk.held.session.user_id is not None


def _answered(sent: dict[str, Any]) -> dict[str, Any]:
    answer = {name: _plain(value) for name, value in sent.items()}
    for component, name in _SAID_BY_DEVICES:
        if answer.get("component") == component and isinstance(answer.get(name), str):
            answer[name] = _object(answer[name])
    return answer


def _object(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return {}


def _plain(value: Any) -> Any:
    """A file is an answer like any other, written as a `data:` URL."""
    if not isinstance(value, Upload):
        return value
    content = value.file.read()
    if not content:
        return ""
    kind = value.content_type.partition(";")[0].strip() or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _next(exchange: Exchange, walk: identity.flows.FlowRun, result: identity.flows.Result) -> Answer:
    match result:
        case identity.flows.FlowEnded(to=to):
            return _onward(exchange, walk, to)
        case identity.flows.Denied(message=message, waits=True):
            return _page(exchange, walk, "flows/waits.html", message=message)
        case identity.flows.Denied(message=message, code=code):
            return _page(exchange, walk, "flows/denied.html", status=403, message=message, code=code)
        case identity.flows.FlowFailed(error=error, code=code, traceback=traceback):
            return _page(
                exchange,
                walk,
                "flows/failed.html",
                status=500,
                message=error,
                code=code,
                traceback=traceback,
                request_id=exchange.id,
            )
        case identity.flows.Challenge():
            return _challenge(exchange, walk, result)


def _onward(exchange: Exchange, walk: identity.flows.FlowRun, to: str) -> Answer:
    """A form may lead to our own pages only, so whoever goes elsewhere after one goes by a page in between."""
    elsewhere = bool(urlsplit(to).netloc) or to.startswith(_ONWARD)
    if elsewhere and exchange.method == "POST":
        return _page(exchange, walk, "flows/onward.html", to=to)
    return see_other(to, headers=identity.flows.session_cookie(exchange, walk))


def _challenge(exchange: Exchange, walk: identity.flows.FlowRun, challenge: identity.flows.Challenge) -> Answer:
    fields, told = challenge.fields, challenge.errors
    if challenge.component == "consent" and "logo_uri" in fields:
        may_show(exchange, identity.oauth.origin_of(fields["logo_uri"]))
    errors = {
        name: [complaint["string"] for complaint in complaints if complaint["code"] not in _GOOD_NEWS]
        for name, complaints in told.items()
    }
    errors = {name: words for name, words in errors.items() if words}
    news = [one["string"] for complaints in told.values() for one in complaints if one["code"] in _GOOD_NEWS]
    places = _PLACES.get(challenge.component, set())
    if challenge.component == "prompt":
        places = {question.field_key for question in fields["fields"]}
    template = f"flows/{challenge.component}.html"
    return _page(
        exchange,
        walk,
        template if has_template(template) else "flows/generic.html",
        status=400 if errors else 200,
        component=challenge.component,
        challenge=fields,
        errors=errors,
        news=news,
        general=[words for name, said in errors.items() if name not in places for words in said],
        focus=next((name for name in errors if name in places), None),
        picture=_picture(fields.get("config_url")),
    )


def _picture(url: Any) -> str | None:
    """The link of a code generator as a QR code."""
    import segno  # noqa: PLC0415 - loaded when first used

    return segno.make_qr(url, error="m").svg_data_uri(scale=5, border=3, light="white") if url else None


def _page(
    exchange: Exchange, walk: identity.flows.FlowRun, template: str, *, status: int = 200, **values: Any
) -> Answer:
    info = walk.info()
    return page(
        exchange,
        template,
        status=status,
        headers=identity.flows.session_cookie(exchange, walk),
        **{
            "flow": info,
            "action": _here(exchange, walk),
            "query": _query_string(exchange),
            "errors": {},
            "general": [],
            "may_join": exchange.server.works.settings.registrations != "closed",
            "news": [],
            "start_over": f"{info['cancel_url']}&next={quote(_here(exchange, walk), safe='')}",
            **values,
        },
    )


routes = [show_flow, answer_flow, take_default, cancel_flow, old_address]
