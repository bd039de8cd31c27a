"""/flows/executor/{slug}/: running a flow over JSON. The pages show the same challenges."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

import msgspec

from kith.base import csrf
from kith.base.errors import NotFound
from kith.base.exchange import JSON, Answer, Exchange, Headers
from kith.base.keys import Keys
from kith.base.routing import FromPath, get, post
from kith.identity.brands import service as brands
from kith.identity.executor.flow_run import FlowEnded, FlowFailed, FlowRun, Result, find_run
from kith.identity.flows.plan import find_flow
from kith.identity.guessing import known_browsers
from kith.identity.impersonation.service import refuse_flow
from kith.identity.rest.body import read_object
from kith.identity.sessions import cookies as session_cookies
from kith.identity.sessions import service as sessions
from kith.identity.sessions.service import HeldSession
from kith.identity.stages.turn import Challenge, Denied

TEMPLATE = "/api/v2/flows/executor/{slug}/"
MOST_ANSWER_BYTES = 1 << 20  # it may hold a file
_encode = msgspec.json.Encoder().encode


@get(TEMPLATE)
async def show_challenge(exchange: Exchange, slug: FromPath[str]) -> Answer:
    return await _go(exchange, slug, None)


@post(TEMPLATE)
async def answer_challenge(exchange: Exchange, slug: FromPath[str]) -> Answer:
    sent = await read_object(exchange, MOST_ANSWER_BYTES)
    csrf.check(exchange, exchange.find(Keys).session, None)
    return await _go(exchange, slug, sent)


async def _go(exchange: Exchange, slug: str, sent: dict[str, Any] | None) -> Answer:
    run = await open_run(exchange, slug, page_query(exchange))
    result = await run.go(sent, may_act=sent is not None)
    return Answer(200, (*JSON, *cookies(exchange, run)), _encode(shown(exchange, run, result)))


def page_query(exchange: Exchange) -> dict[str, str]:
    """The query of the page that runs the flow; clients send it as a whole in `query`."""
    given = parse_qs(exchange.query_string.decode("latin-1"), keep_blank_values=True)
    inner = parse_qs(given["query"][-1], keep_blank_values=True) if "query" in given else given
    return {name: values[-1] for name, values in inner.items()}


async def open_run(exchange: Exchange, slug: str, query: dict[str, str]) -> FlowRun:
    await brands.current(exchange)  # stages make links and ask for passkeys at the host that somebody looks at
    session = await session_cookies.find(exchange)
    works = exchange.server.works
    if session is None and await find_flow(exchange.work, slug) is None:
        raise NotFound  # before a session is made for nothing
    if session is None:
        async with works.begin(exchange.origin) as work:
            known = known_browsers.any_name(exchange, work.now)
            held = await sessions.begin(work, address=exchange.address, browser=known)
    else:
        held = HeldSession(session)
    run = await find_run(exchange, works, slug, held, query)
    if run is None:
        raise NotFound
    refuse_flow(session, run.info()["designation"])
    return run


def session_cookie(exchange: Exchange, run: FlowRun) -> Headers:
    """The header that sets a new session key after a step, or deletes the cookie after signing out."""
    secure = exchange.work.settings.base_url.startswith("https")
    if run.signed_out:
        return (session_cookies.no_cookie(secure=secure),)
    made = session_cookies.cookie(run.held, secure=secure)
    return () if made is None else (made,)


def cookies(exchange: Exchange, run: FlowRun) -> Headers:
    """The headers with a new session key, if there is one, and the CSRF token for the next answer."""
    token = csrf.token_for(exchange, exchange.find(Keys).session)
    secure = "; Secure" if exchange.work.settings.base_url.startswith("https") else ""
    carried = (b"set-cookie", f"{csrf.COOKIE}={token}; Path=/; SameSite=Lax{secure}".encode())
    return (carried, *session_cookie(exchange, run))


def shown(exchange: Exchange, run: FlowRun, result: Result) -> dict[str, Any]:
    info = run.info()
    match result:
        case FlowEnded(to=to):
            return {"component": "redirect", "to": to, "final_redirect": True, "flow_info": info}
        case Denied(message=message, code=code):
            return {
                "component": "access-denied",
                "error_message": message,
                "code": code,
                "flow_info": info,
                "request_id": exchange.id,
            }
        case FlowFailed(error=error, code=code, traceback=traceback):
            broken = {
                "component": "flow-error",
                "error": error,
                "code": code,
                "flow_info": info,
                "request_id": exchange.id,
            }
            return broken if traceback is None else broken | {"traceback": traceback}
        case Challenge():
            told = {"component": result.component, **result.fields, "flow_info": info}
            return told | {"response_errors": result.errors} if result.errors else told


routes = [show_challenge, answer_challenge]
