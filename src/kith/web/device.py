"""/device: somebody types in the code that a device without a browser shows, and says whether it may come in.

The code alone is never enough: whoever was sent a link with one sees first what would be let in. Before that they go
through the application's authorization flow, whose end leads back here with a proof.
"""

from __future__ import annotations

from urllib.parse import urlencode

from kith.base import csrf
from kith.base.errors import Throttled
from kith.base.exchange import Answer, Exchange
from kith.base.keys import Keys
from kith.base.params import read_body
from kith.base.routing import get, post
from kith.identity import for_pages as identity
from kith.identity.for_pages import oauth
from kith.web.pages import page, see_other

HERE = "/device"
PURPOSE = "device_code"
MOST_CHARACTERS = 40
MOST_IN_PROOF = 100
WRONG = "This code is not valid. It may have expired or contain a typing mistake."
TOO_MANY = "Too many wrong codes. Please wait a while, then try again."


@get(HERE)
async def show_device(exchange: Exchange) -> Answer:
    given = exchange.query("code") or exchange.query("user_code")
    visitor = await identity.find_visitor(exchange)
    if visitor is None:
        return see_other(f"/flows/-/default/authentication/?{urlencode({'next': _here(given)})}")
    if visitor.is_acting:
        raise identity.impersonation.NotAsSomebodyElse
    first = await identity.flows.flow_to_pass(exchange, PURPOSE)
    if first is not None:
        return see_other(f"/flows/{first}/?{urlencode({'next': _here(given)})}")
    return _enter(exchange, visitor, given[:MOST_CHARACTERS], proof=exchange.query("proof")[:MOST_IN_PROOF])


@post(HERE)
async def answer_device(exchange: Exchange) -> Answer:
    sent = await read_body(exchange)
    csrf.check(exchange, exchange.find(Keys).session, str(sent.get("csrf", "")))
    visitor = await identity.find_visitor(exchange)
    if visitor is None:
        return see_other(f"/flows/-/default/authentication/?{urlencode({'next': HERE})}")
    first = await identity.flows.flow_to_pass(exchange, PURPOSE)
    if first is not None:
        return see_other(f"/flows/{first}/?{urlencode({'next': HERE})}")
    code, answer = str(sent.get("code", ""))[:MOST_CHARACTERS], sent.get("answer")
    try:
        waiting = await oauth.find_waiting(exchange, code, visitor.user, visitor.session)
    except Throttled:
        return _enter(exchange, visitor, code, wrong=TOO_MANY, status=429)
    except oauth.AccessDenied as refused:
        return _refused(exchange, visitor, refused.messages, refused.code)
    if waiting is None:
        return _enter(exchange, visitor, code, wrong=WRONG, status=400)
    proof = str(sent.get("proof", ""))[:MOST_IN_PROOF]
    if answer != "deny":
        match await oauth.pass_flow(exchange, waiting, visitor.user, code=code, proof=proof):
            case oauth.Local(to=to, headers=headers):
                return see_other(to, headers=headers)
            case oauth.ErrorPage(messages=messages, refusal=refusal):
                return _refused(exchange, visitor, messages, refusal)
    # Whoever saw another client on this page than the one that waits now looks again.
    is_seen = str(sent.get("client", waiting.client.identity)) == waiting.client.identity
    if answer not in ("allow", "deny") or not is_seen:
        return page(exchange, "authorize/device_confirm.html", visitor=visitor, waiting=waiting, code=code, proof=proof)
    allow = answer == "allow"
    if not await oauth.answer_waiting(exchange, waiting, visitor.user, visitor.session, allow=allow):
        return _enter(exchange, visitor, code, wrong=WRONG, status=400)
    return page(exchange, "authorize/device_done.html", visitor=visitor, waiting=waiting, allowed=allow)


def _here(code: str) -> str:
    return HERE + (f"?{urlencode({'code': code[:MOST_CHARACTERS]})}" if code else "")


def _enter(
    exchange: Exchange, visitor: identity.Visitor, code: str, *, proof: str = "", wrong: str = "", status: int = 200
) -> Answer:
    return page(
        exchange,
        "authorize/device.html",
        status=status,
        visitor=visitor,
        code=code,
        proof=proof,
        errors=[wrong] if wrong else [],
    )


def _refused(exchange: Exchange, visitor: identity.Visitor, messages: list[str], refusal: str) -> Answer:
    return page(
        exchange,
        "authorize/error.html",
        status=403,
        title="Not allowed",
        messages=messages,
        code="access_denied",
        refusal=refusal,
        request_id=exchange.id,
        visitor=visitor,
    )


routes = [show_device, answer_device]
