"""Links that lead back to an authorization request: with all of it, or with the name under which it is stored."""

from __future__ import annotations

from urllib.parse import urlencode

from msgspec.structs import replace

from kith.base.limits import Limiter, LimitRule, address_key
from kith.identity.providers.oauth2.authorize import stored_requests
from kith.identity.providers.oauth2.authorize.attempt import Attempt
from kith.identity.providers.oauth2.authorize.stored_requests import CANCELLED, MOMENT
from kith.identity.providers.oauth2.clients.client import Client

IDENTITY_PATH = "/application/o/authorize/"
SOCIAL_PATH = "/oauth/authorize"
# A longer link is stored instead of being carried in the URL.
MOST_CARRIED = 1400
HAND_IN = LimitRule("oauth.hand_in", most=120, seconds=300)


def way_back(attempt: Attempt, *, again: bool, cancelled: bool = False) -> str:
    """The link back to a request that is `carried`. It carries the time at which a new sign-in was asked for."""
    exchange, values = attempt.exchange, attempt.kept.values
    more = {MOMENT: stored_requests.sign_moment(exchange, values, exchange.work.now)} if again else {}
    if cancelled:
        more = {CANCELLED: "true"}
    path = SOCIAL_PATH if attempt.client.is_social else IDENTITY_PATH
    if not attempt.kept.key:
        return f"{path}?{urlencode(values | more)}"
    return link_to_stored(attempt.client, attempt.kept.key, more)


async def carried(attempt: Attempt) -> Attempt:
    """The attempt, stored if links back to it would be too long, or if nothing of it may be changed.

    Anybody can have that done, so it is counted.
    """
    exchange, kept = attempt.exchange, attempt.kept
    if kept.key or (not kept.is_fixed and len(urlencode(kept.values)) <= MOST_CARRIED):
        return attempt
    exchange.find(Limiter).spend(HAND_IN, address_key(exchange.address))
    async with exchange.work.aside() as work:
        name = stored_requests.new_name()
        await stored_requests.keep(work, attempt.client.client_id, kept.values, key=name)
    return replace(attempt, kept=replace(kept, key=name))


def link_to_stored(client: Client, key: str, more: dict[str, str] | None = None) -> str:
    path = SOCIAL_PATH if client.is_social else IDENTITY_PATH
    named = {"client_id": client.client_id, "request_uri": f"{stored_requests.PREFIX}{key}"}
    return f"{path}?{urlencode(named | (more or {}))}"
