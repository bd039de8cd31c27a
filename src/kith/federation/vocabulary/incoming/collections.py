"""Collections and their pages, which may be inside one another or a step away."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.federation.vocabulary.incoming import limits
from kith.federation.vocabulary.incoming.fields import each, read_count, type_of
from kith.federation.vocabulary.incoming.ids import find_domain, read_id
from kith.federation.vocabulary.incoming.parsing import Document, check_context
from kith.federation.vocabulary.incoming.refusal import DocumentRefused

__all__ = [
    "COLLECTION_TYPES",
    "IncomingCollection",
    "IncomingItem",
    "find_collection",
    "find_total",
    "read_collection",
]

COLLECTION_TYPES = frozenset({"Collection", "OrderedCollection", "CollectionPage", "OrderedCollectionPage"})


class IncomingItem(msgspec.Struct, frozen=True):
    """`id` is None for what has none, such as a hashtag; `document` is None where only the id was given.

    An embedded object is believed only where it is of the host that the collection came from.
    """

    id: str | None
    document: Document | None


class IncomingCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A collection or a page of one. Its own pages are on its own host; others are left out.

    `first_page` is there where the first page is embedded, `first` where it has to be fetched.
    """

    id: str | None
    type: str
    total: int | None
    items: tuple[IncomingItem, ...]
    first: str | None
    first_page: IncomingCollection | None
    next: str | None
    prev: str | None
    last: str | None


def read_collection(document: Document, domain: str) -> IncomingCollection:
    """`domain`: where it came from, which its id and its pages have to be of."""
    check_context(document)
    return _collection(document, domain, may_embed=True)


def find_collection(value: Any, domain: str) -> IncomingCollection | None:
    """A collection that is part of another document, as an id or embedded; None for whatever else stands there."""
    if isinstance(value, str):
        value = {"type": "Collection", "id": value}
        if _own(value["id"], domain) is None:
            return None
    if not isinstance(value, dict):
        return None
    try:
        return _collection(value, domain, may_embed=True)
    except DocumentRefused:
        return None


def find_total(value: Any) -> int | None:
    return read_count(value.get("totalItems")) if isinstance(value, dict) else None


def _collection(document: Document, domain: str, *, may_embed: bool) -> IncomingCollection:
    kind = type_of(document, COLLECTION_TYPES)
    if kind is None:
        raise DocumentRefused("unknown_type", "no collection")
    uri = read_id(document.get("id"))
    if uri is not None and find_domain(uri) != domain:
        raise DocumentRefused("wrong_host", uri)
    first = document.get("first")
    return IncomingCollection(
        id=uri,
        type=kind,
        total=read_count(document.get("totalItems")),
        items=_items(document),
        first=_own(first.get("id") if isinstance(first, dict) else first, domain),
        first_page=_embedded(first, domain) if may_embed else None,
        next=_page(document.get("next"), domain, uri),
        prev=_page(document.get("prev"), domain, uri),
        last=_page(document.get("last"), domain, uri),
    )


def _embedded(value: Any, domain: str) -> IncomingCollection | None:
    """One level deep: a page has no pages of its own."""
    if not isinstance(value, dict):
        return None
    try:
        return _collection(value, domain, may_embed=False)
    except DocumentRefused:
        return None


def _items(document: Document) -> tuple[IncomingItem, ...]:
    found: list[IncomingItem] = []
    given = document.get("orderedItems")
    for one in each(document.get("items") if given is None else given, limits.ITEMS):
        if isinstance(one, dict):
            found.append(IncomingItem(read_id(one.get("id")), one))
        elif (uri := read_id(one)) is not None:
            found.append(IncomingItem(uri, None))
    return tuple(found)


def _page(value: Any, domain: str, uri: str | None) -> str | None:
    """A page that leads to itself leads nowhere."""
    found = _own(value.get("id") if isinstance(value, dict) else value, domain)
    return None if found == uri else found


def _own(value: Any, domain: str) -> str | None:
    uri = read_id(value)
    return uri if uri is not None and find_domain(uri) == domain else None
