"""/application/o/par/: pushed authorization requests (RFC 9126)."""

from __future__ import annotations

from kith.base.exchange import Exchange
from kith.base.limits import Limiter, LimitRule, address_key
from kith.identity.providers.oauth2.authentication.clients import client_of
from kith.identity.providers.oauth2.authorize.authorization_request import (
    Parameters,
    Unfit,
    find_target,
    read_authorization_request,
)
from kith.identity.providers.oauth2.authorize.request_objects import open_request
from kith.identity.providers.oauth2.authorize.return_links import HAND_IN
from kith.identity.providers.oauth2.authorize.stored_requests import PREFIX, PUSHED_LIFE, keep
from kith.identity.providers.oauth2.claims.scope_mappings import granted_scopes
from kith.identity.providers.oauth2.errors import invalid_client, invalid_request, invalid_scope
from kith.identity.providers.oauth2.forms import read_form
from kith.identity.providers.oauth2.grants.service import new_key

# The client's credentials are not stored with the request.
_PROOFS = ("client_secret", "client_assertion", "client_assertion_type")
MOST_LETTERS = 16_000
PUSHED = LimitRule("oauth.pushed", most=3000, seconds=300)  # one server pushes for all its people


async def hand_in(exchange: Exchange) -> dict[str, object]:
    sent = await read_form(exchange)
    client = await client_of(exchange, sent)
    if client.is_social:
        raise invalid_client()
    if "request_uri" in sent:
        raise invalid_request("A request that is handed in must not name another one.")
    values = {name: value for name, value in sent.items() if name not in _PROOFS} | {"client_id": client.client_id}
    if sum(len(name) + len(value) for name, value in values.items()) > MOST_LETTERS:
        raise invalid_request(f"The request is longer than {MOST_LETTERS} letters.")
    limiter = exchange.find(Limiter)
    if client.is_public:
        limiter.spend(HAND_IN, address_key(exchange.address))
    else:
        limiter.spend(PUSHED, client.client_id)
    values = await open_request(exchange, client, Parameters(values), may_fetch=False) or values
    try:
        target = find_target(Parameters(values), client, exchange.work.settings.base_url)
    except Unfit as unfit:
        raise invalid_request(unfit.message) from unfit
    request = read_authorization_request(Parameters(values), target)
    if await granted_scopes(exchange.work, client, request.scope) is None:
        raise invalid_scope()
    key = await keep(exchange.work, client.client_id, values, key=new_key(), life=PUSHED_LIFE)
    return {
        "request_uri": f"{PREFIX}{key}",
        "expires_in": int(PUSHED_LIFE.total_seconds()),
    }
