"""/application/o/par/: requests that a client hands in itself, before it sends anybody here (RFC 9126)."""

from __future__ import annotations

import msgspec

from kith.base.edge import JSON, Answer, Exchange
from kith.base.errors import MethodNotAllowed
from kith.identity.providers.oauth2 import keeping
from kith.identity.providers.oauth2.asking import Parameters, Unfit, find_target, read_ask
from kith.identity.providers.oauth2.authenticate import client_of
from kith.identity.providers.oauth2.errors import OAuthError, invalid_client, invalid_request, invalid_scope
from kith.identity.providers.oauth2.forms import read_form
from kith.identity.providers.oauth2.scope_mappings import granted_scopes
from kith.identity.providers.oauth2.service import new_key

PATH = "/application/o/par/"
_NO_STORE = ((b"cache-control", b"no-store"), (b"pragma", b"no-cache"))
# How a client proves itself is nobody else's business later on.
_PROOFS = ("client_secret", "client_assertion", "client_assertion_type")


async def answer(exchange: Exchange) -> Answer | None:
    if exchange.path.rstrip("/") != PATH.rstrip("/"):
        return None
    exchange.scope["path_template"] = PATH
    if exchange.scope["method"] != "POST":
        raise MethodNotAllowed(headers={"Allow": "POST"})
    try:
        return _answer(201, await _hand_in(exchange))
    except OAuthError as error:
        headers = tuple((name.lower().encode(), value.encode()) for name, value in error.headers.items())
        return _answer(error.status, error.body() | {"request_id": exchange.id}, headers)


async def _hand_in(exchange: Exchange) -> dict[str, object]:
    sent = await read_form(exchange)
    client = await client_of(exchange, sent)
    if client.is_social:
        raise invalid_client()
    if "request_uri" in sent:
        raise invalid_request("A request that is handed in must not name another one.")
    values = {name: value for name, value in sent.items() if name not in _PROOFS} | {"client_id": client.client_id}
    try:
        target = find_target(Parameters(values), client, exchange.work.settings.base_url)
    except Unfit as unfit:
        raise invalid_request(unfit.message) from unfit
    ask = read_ask(Parameters(values), target)
    if await granted_scopes(exchange.work, client, ask.scope) is None:
        raise invalid_scope()
    key = await keeping.keep(exchange.work, client.client_id, values, key=new_key(), life=keeping.PUSHED_LIFE)
    return {"request_uri": f"{keeping.PREFIX}{key}", "expires_in": int(keeping.PUSHED_LIFE.total_seconds())}


def _answer(status: int, body: object, headers: tuple[tuple[bytes, bytes], ...] = ()) -> Answer:
    return Answer(status, (*JSON, *_NO_STORE, *headers), msgspec.json.encode(body))
