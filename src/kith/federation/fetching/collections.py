"""Collections of other servers, page after page."""

from __future__ import annotations

from kith.federation.fetching.budget import FetchChain
from kith.federation.fetching.client import RemoteClient
from kith.federation.fetching.documents import fetch_part
from kith.federation.fetching.failures import FetchFailed
from kith.federation.fetching.ports import RequestSigner
from kith.federation.vocabulary.incoming import DocumentRefused, IncomingCollection, IncomingItem, read_collection

__all__ = ["fetch_collection", "fetch_items"]


async def fetch_collection(
    client: RemoteClient, uri: str, *, chain: FetchChain, signer: RequestSigner | None = None
) -> IncomingCollection:
    """A collection or a page; its items are another matter."""
    fetched = await fetch_part(client, uri, chain=chain, signer=signer)
    try:
        return read_collection(fetched.document, fetched.domain)
    except DocumentRefused as refused:
        raise FetchFailed("document", f"{uri}: {refused}") from refused


async def fetch_items(
    client: RemoteClient,
    collection: IncomingCollection,
    *,
    most_pages: int,
    most_items: int,
    chain: FetchChain,
    signer: RequestSigner | None = None,
    must_be_whole: bool = False,
) -> list[IncomingItem]:
    """What is in `collection`: what it holds itself, then page after page.

    No page is read twice, and one that cannot be had is the last: what came before it counts, unless the
    whole of it is needed (`must_be_whole`).
    """
    items = list(collection.items)
    seen = {collection.id}
    page, following = collection.first_page, collection.first or collection.next
    while len(items) < most_items:
        if page is not None:
            seen.add(page.id)
            items.extend(page.items)
            following = page.next
        if following is None or following in seen or most_pages <= 0:
            break
        seen.add(following)
        most_pages -= 1
        try:
            page = await fetch_collection(client, following, chain=chain, signer=signer)
        except FetchFailed:
            if must_be_whole:
                raise
            break
    return items[:most_items]
