"""Sign-ins that somebody else begins than the client (OpenID Connect Core 4)."""

from __future__ import annotations

from kith.base.work import Work
from kith.identity.providers.oauth2.authorize.redirect_uris import with_query
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client


async def find_login_address(work: Work, client_id: str) -> str | None:
    """Where sign-ins at this client begin; None if it has registered no such address."""
    client = await clients.find(work, client_id)
    return None if client is None or client.is_suspended else login_address(work, client)


def login_address(work: Work, client: Client) -> str | None:
    uri = client.registered.initiate_login_uri
    return with_query(uri, {"iss": client.issuer(work.settings.base_url)}) if uri else None
