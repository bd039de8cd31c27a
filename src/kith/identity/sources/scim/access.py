"""Which service is calling, by the token of its source."""

from __future__ import annotations

import hmac
from functools import partial

import msgspec

from kith.base.errors import NotFound, Unauthenticated
from kith.base.exchange import Exchange
from kith.base.limits import Limiter, LimitRule, address_key
from kith.base.work import Work
from kith.identity.sources import store as source_store
from kith.identity.sources.kinds.scim import root_url, token_hash
from kith.identity.sources.scim import store
from kith.identity.sources.store import Source

CALLS = LimitRule("scim", most=12_000, seconds=60)
WRONG_TOKENS = LimitRule("scim-token", most=60, seconds=60)


class ScimCaller(msgspec.Struct, frozen=True):
    source: Source
    root: str
    group_matching_mode: str


async def let_in(exchange: Exchange) -> None:
    """The guard of every route: found out once, kept in `exchange.caller`."""
    work, slug = exchange.work, exchange.path_values[0] if exchange.path_values else ""
    source = await source_store.find_source(work.db, slug) if len(slug) <= 255 and "\0" not in slug else None
    settings = await store.settings(work.db, source.pbm_uuid) if source is not None and source.kind == "scim" else None
    if source is None or settings is None:
        raise NotFound("There is no such source.")
    limiter = exchange.find(Limiter)
    kind, _, token = exchange.header(b"authorization").decode("latin-1").partition(" ")
    expected, group_matching_mode = settings
    if kind.lower() != "bearer" or not hmac.compare_digest(token_hash(token.strip()), expected):
        limiter.spend(WRONG_TOKENS, address_key(exchange.address))
        raise Unauthenticated("The token is missing or wrong.", headers={"WWW-Authenticate": 'Bearer realm="SCIM"'})
    exchange.spent = limiter.spend(CALLS, source.pbm_uuid)
    exchange.known_while(partial(_is_open, slug, expected))
    root = root_url(work.settings.base_url, source.slug)
    exchange.caller = ScimCaller(source, root, group_matching_mode)


async def _is_open(slug: str, expected: str, work: Work) -> bool:
    """Whether the source is still there, enabled, and has the same token."""
    source = await source_store.find_source(work.db, slug)
    settings = await store.settings(work.db, source.pbm_uuid) if source is not None else None
    return settings is not None and hmac.compare_digest(settings[0], expected)
