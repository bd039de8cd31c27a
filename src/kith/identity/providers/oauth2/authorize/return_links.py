"""Links that lead back to an authorization request: with all of it, or with the name under which it is stored."""

from __future__ import annotations

from urllib.parse import urlencode

from kith.identity.providers.oauth2.authorize import stored_requests
from kith.identity.providers.oauth2.authorize.attempt import Attempt
from kith.identity.providers.oauth2.authorize.stored_requests import CANCELLED, MOMENT
from kith.identity.providers.oauth2.clients.client import Client

IDENTITY_PATH = "/application/o/authorize/"
SOCIAL_PATH = "/oauth/authorize"
# A longer link is stored instead of being carried in the URL.
MOST_CARRIED = 1500


async def way_back(attempt: Attempt, *, again: bool, cancelled: bool = False) -> str:
    """The link back to this request. It carries the time at which a new sign-in was asked for."""
    exchange, values = attempt.exchange, attempt.kept.values
    more = {MOMENT: stored_requests.sign_moment(exchange, values, exchange.work.now)} if again else {}
    if cancelled:
        more = {CANCELLED: "true"}
    path = SOCIAL_PATH if attempt.client.is_social else IDENTITY_PATH
    whole = f"{path}?{urlencode(values | more)}"
    if not attempt.kept.key and len(whole) <= MOST_CARRIED:
        return whole
    key = attempt.kept.key
    if not key:
        async with exchange.work.aside() as work:
            key = await stored_requests.keep(work, attempt.client.client_id, values, key=stored_requests.new_name())
    return link_to_stored(attempt.client, key, more)


def link_to_stored(client: Client, key: str, more: dict[str, str] | None = None) -> str:
    path = SOCIAL_PATH if client.is_social else IDENTITY_PATH
    named = {"client_id": client.client_id, "request_uri": f"{stored_requests.PREFIX}{key}"}
    return f"{path}?{urlencode(named | (more or {}))}"
