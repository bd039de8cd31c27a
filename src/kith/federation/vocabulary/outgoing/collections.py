"""Lists, whole and page by page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kith.federation.vocabulary.outgoing import identifiers
from kith.federation.vocabulary.outgoing.contexts import Doc

__all__ = [
    "REPLIES_BY_AUTHOR",
    "context",
    "context_page",
    "counted",
    "numbered",
    "numbered_page",
    "outbox",
    "outbox_page",
    "replies",
    "replies_page",
    "whole",
]

REPLIES_BY_AUTHOR = 5


def counted(id: str, total: int, *, ordered: bool = True) -> Doc:
    """How many, and nothing more."""
    return {"id": id, "type": "OrderedCollection" if ordered else "Collection", "totalItems": max(total, 0)}


def whole(id: str, items: Sequence[Any], *, ordered: bool = True) -> Doc:
    return counted(id, len(items), ordered=ordered) | {"orderedItems" if ordered else "items": list(items)}


# Followers and those who are followed: pages have numbers.


def numbered(id: str, total: int) -> Doc:
    return counted(id, total) | {"first": f"{id}?page=1"}


def numbered_page(id: str, total: int, page: int, items: Sequence[str], *, has_more: bool) -> Doc:
    made: Doc = {"id": f"{id}?page={page}", "type": "OrderedCollectionPage", "totalItems": max(total, 0)}
    if has_more:
        made["next"] = f"{id}?page={page + 1}"
    if page > 1:
        made["prev"] = f"{id}?page={page - 1}"
    return made | {"partOf": id, "orderedItems": list(items)}


# What somebody said: pages go by ids.


def outbox(id: str, total: int) -> Doc:
    return counted(id, total) | {"first": f"{id}?page=true", "last": f"{id}?min_id=0&page=true"}


def outbox_page(id: str, asked: str, items: Sequence[Doc], ids: Sequence[int], *, most: int) -> Doc:
    """`asked` is how this page was asked for, `ids` those of its items, newest first."""
    made: Doc = {"id": f"{id}?{asked}", "type": "OrderedCollectionPage", "partOf": id}
    if len(ids) >= most:
        made["next"] = f"{id}?max_id={ids[-1]}&page=true"
    if ids:
        made["prev"] = f"{id}?min_id={ids[0]}&page=true"
    return made | {"orderedItems": list(items)}


# What answers a post: first its author, then the others.


def replies(status: str, answers: Sequence[str], last: int | None) -> Doc:
    """With the first page inside, so that threads of one author are known at once."""
    id = identifiers.collection(status, "replies")
    first = {"type": "CollectionPage", "next": _next(id, last), "partOf": id, "items": list(answers)}
    return {"id": id, "type": "Collection", "first": first}


def replies_page(status: str, asked: str, items: Sequence[str], last: int | None, *, by_others: bool) -> Doc:
    """`last` is the id of the last item, where there are more of the same."""
    id = identifiers.collection(status, "replies")
    made: Doc = {"id": f"{id}?{asked}", "type": "CollectionPage", "partOf": id, "items": list(items)}
    if by_others and last is None:
        return made
    following = f"{id}?min_id={last}&only_other_accounts=true&page=true" if by_others else _next(id, last)
    return made | {"next": following}


# All that is said in a thread.


def context(id: str, items: Sequence[str], last: int | None) -> Doc:
    return {"id": id, "type": "Collection", "first": context_page(id, "page=true", items, last)}


def context_page(id: str, asked: str, items: Sequence[str], last: int | None) -> Doc:
    """`last` is the id of the last item, where there are more."""
    made: Doc = {"id": f"{id}?{asked}", "type": "CollectionPage", "partOf": id, "items": list(items)}
    return made if last is None else made | {"next": f"{id}?min_id={last}&page=true"}


def _next(id: str, last: int | None) -> str:
    return f"{id}?only_other_accounts=true&page=true" if last is None else f"{id}?min_id={last}&page=true"
