"""What is known of people's handles, and of the server's own."""

from __future__ import annotations

from kith.base.errors import Gone
from kith.base.exchange import Exchange
from kith.base.settings import Settings
from kith.federation.discovery.resources import SERVER, name_in
from kith.federation.vocabulary.outgoing import identifiers
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.addresses import file_url
from kith.social.files.keys import mime_of
from kith.social.representations import ACTIVITY_JSON
from kith.social.well_known import KnownResource

__all__ = ["people"]

LONGEST_NAME = 200
LONGEST_ADDRESS = 500
NUMBERED = "/ap/users/"  # by which some of those are known who came from a Mastodon server
_PAGE = "http://webfinger.net/rel/profile-page"
_SUBSCRIBE = "http://ostatus.org/schema/1.0/subscribe"
_AVATAR = "http://webfinger.net/rel/avatar"


async def people(exchange: Exchange, resource: str) -> KnownResource | None:
    """Whoever is gone for good is told to be; who waits to be let in is not there."""
    settings = exchange.server.works.settings
    name = name_in(resource, settings)
    if name == SERVER:
        return _server(settings)
    if resource.startswith(f"{settings.base_url}{NUMBERED}") and len(resource) <= LONGEST_ADDRESS:
        found = await accounts.find_by_uri(exchange.work.db, resource)
    elif name is None or len(name) > LONGEST_NAME:
        return None
    else:
        found = await accounts.find_named(exchange.work.db, name)
    if found is None or not found.is_listed:
        return None
    if found.deleted_at is not None:
        raise Gone
    return _person(settings, found)


def _person(settings: Settings, row: Account) -> KnownResource:
    page = row.url or row.uri
    links = [
        {"rel": _PAGE, "type": "text/html", "href": page},
        {"rel": "self", "type": ACTIVITY_JSON, "href": row.uri},
    ]
    links.append({"rel": _SUBSCRIBE, "template": f"{settings.base_url}/authorize_interaction?uri={{uri}}"})
    if row.avatar and not row.is_gone:
        links.append({"rel": _AVATAR, "type": mime_of(row.avatar), "href": file_url(settings, row.avatar)})
    return KnownResource(subject=f"acct:{row.username}@{settings.domain}", aliases=[page, row.uri], links=links)


def _server(settings: Settings) -> KnownResource:
    uri = identifiers.server_actor(settings)
    links = [
        {"rel": _PAGE, "type": "text/html", "href": f"{settings.base_url}/about"},
        {"rel": "self", "type": ACTIVITY_JSON, "href": uri},
    ]
    return KnownResource(
        subject=f"acct:{identifiers.server_name(settings)}@{settings.domain}", aliases=[uri], links=links
    )
