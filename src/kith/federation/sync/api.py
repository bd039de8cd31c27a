"""Who follows one of ours from the host that asks: nobody is told of anybody else's people."""

from __future__ import annotations

import msgspec

from kith.base.errors import NotFound, Unauthenticated
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, FromQuery, get
from kith.base.work import Work
from kith.federation.documents import people
from kith.federation.documents.answers import encode, negotiated
from kith.federation.documents.numbered import also_by_number
from kith.federation.documents.signers import asker_of
from kith.federation.sync.digests import synchronization_url
from kith.federation.vocabulary.incoming.ids import domain_of
from kith.federation.vocabulary.outgoing import collections
from kith.federation.vocabulary.outgoing.contexts import with_context
from kith.social.accounts import store as accounts
from kith.social.relationships.store import across as store

PER_PAGE = 1000


class SyncPage(msgspec.Struct, kw_only=True):
    page: int = 0


@get("/users/{name}/followers_synchronization", **also_by_number("/users/{name}/followers_synchronization"))
async def show_followers_of_host(
    exchange: Exchange, work: Work, name: FromPath[str], asked: FromQuery[SyncPage]
) -> Answer:
    """Whole where it is short, else page by page."""
    me = await asker_of(exchange, must_know=True)
    asker = None if me is None else await accounts.find(work.db, me)
    if asker is None:
        raise Unauthenticated("Request not signed")
    owner = await people.find_open(work, name, me)
    uris = await store.followers_at(work.db, owner.id, domain_of(asker.uri))
    id, first = synchronization_url(owner), (asked.page - 1) * PER_PAGE
    if asked.page == 0:
        made = collections.whole(id, uris) if len(uris) <= PER_PAGE else collections.numbered(id, len(uris))
    elif 0 <= first < max(len(uris), 1):
        found = uris[first : first + PER_PAGE]
        made = collections.numbered_page(id, len(uris), asked.page, found, has_more=first + PER_PAGE < len(uris))
    else:
        raise NotFound
    return negotiated(exchange, encode(with_context(made)), me, is_open=False)


routes = [show_followers_of_host]
