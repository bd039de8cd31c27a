"""What software another server runs."""

from __future__ import annotations

from kith.base.http import OutsideAnswer
from kith.federation.fetching.budget import FetchChain
from kith.federation.fetching.client import RemoteClient
from kith.federation.fetching.documents import check_status
from kith.federation.fetching.failures import FetchFailed
from kith.federation.vocabulary.incoming import (
    Document,
    DocumentRefused,
    IncomingNodeInfo,
    parse_document,
    read_nodeinfo,
    read_nodeinfo_link,
)
from kith.federation.vocabulary.incoming.ids import domain_of

__all__ = ["fetch_nodeinfo"]

_JSON = "application/json"


async def fetch_nodeinfo(client: RemoteClient, domain: str, *, chain: FetchChain) -> IncomingNodeInfo:
    """What `domain` says of itself; it says it on its own host."""
    try:
        answer = await client.get(f"{client.origin_of(domain)}/.well-known/nodeinfo", accept=_JSON, chain=chain)
        link = read_nodeinfo_link(_document(answer))
        if domain_of(link) != domain_of(answer.url):
            raise FetchFailed("wrong_host", link)
        return read_nodeinfo(_document(await client.get(link, accept=_JSON, chain=chain)))
    except DocumentRefused as refused:
        raise FetchFailed("document", f"{domain}: {refused}") from refused


def _document(answer: OutsideAnswer) -> Document:
    check_status(answer)
    return parse_document(answer.body)
