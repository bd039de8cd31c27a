"""/.well-known/webfinger: what is known under an address (RFC 7033). Every half of the server adds its own links."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import msgspec

from kith.base.errors import Malformed, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.routing import get
from kith.identity import for_pages as identity
from kith.social.errors import DIALECT as SOCIAL
from kith.social.well_known import Contributors, KnownResource, other_host

PATH = "/.well-known/webfinger"
_TYPE = (b"content-type", b"application/jrd+json; charset=utf-8")
_FORGOTTEN = {"cache-control": "no-store"}


async def identity_links(exchange: Exchange, resource: str) -> KnownResource | None:
    """Who vouches for members of this server (OpenID Connect Discovery)."""
    found = await identity.oauth.find_issuer(exchange.work, resource)
    if found is None:
        return None
    subject = f"acct:{found.username}@{exchange.work.settings.domain}"
    return KnownResource(subject=subject, links=[{"rel": identity.oauth.ISSUER_RELATION, "href": found.issuer}])


@get(PATH, dialect=SOCIAL)
async def finger(exchange: Exchange) -> Answer:
    asked = parse_qsl(exchange.query_string.decode("latin-1"), keep_blank_values=True)
    resources = [value for name, value in asked if name == "resource"]
    if len(resources) != 1 or not 0 < len(resources[0]) <= 2000 or "\0" in resources[0]:
        raise Malformed("The parameter resource is required, once")
    if (elsewhere := other_host(exchange)) is not None:
        return elsewhere
    told = [one for ask in exchange.find(Contributors).all if (one := await ask(exchange, resources[0])) is not None]
    rels = {value for name, value in asked if name == "rel"}
    has_actor = any(link["rel"] == "self" for one in told for link in one.links)
    if not told or not (has_actor or identity.oauth.ISSUER_RELATION in rels):
        raise NotFound(headers=_FORGOTTEN)  # or else who asks early remembers somebody without an actor
    links = [link for one in told for link in one.links if not rels or link["rel"] in rels]
    body: dict[str, Any] = {"subject": told[0].subject, "links": links}
    aliases = list(dict.fromkeys(alias for one in told for alias in one.aliases))
    if aliases:
        body["aliases"] = aliases
    # Open to scripts of every site, whether they say where they run or not.
    own = () if exchange.header(b"origin") else ((b"access-control-allow-origin", b"*"),)
    caching = (b"cache-control", b"public, max-age=300" if has_actor else b"no-store")
    return Answer(200, (_TYPE, caching, *own), msgspec.json.encode(body))


routes = [finger]
