"""From bytes to a document: limits come before anything is looked at."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.params.extent import surely_holds_more
from kith.federation.vocabulary.incoming import limits
from kith.federation.vocabulary.incoming.refusal import DocumentRefused

__all__ = ["Document", "check_context", "parse_document"]

Document = dict[str, Any]

_NAMESPACES = frozenset(
    {
        "https://www.w3.org/ns/activitystreams",
        "https://www.w3.org/ns/activitystreams#",
        "http://www.w3.org/ns/activitystreams",
    }
)


def parse_document(raw: bytes) -> Document:
    """A JSON object of bounded size, depth and number of values."""
    if len(raw) > limits.DOCUMENT_BYTES:
        raise DocumentRefused("too_large", f"more than {limits.DOCUMENT_BYTES} bytes")
    if surely_holds_more(raw, limits.VALUES):
        raise DocumentRefused("too_many_values", f"more than {limits.VALUES}")
    try:
        value = msgspec.json.decode(raw)
    except RecursionError as error:
        raise DocumentRefused("too_deep") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DocumentRefused("not_json", str(error)) from error
    if not isinstance(value, dict):
        raise DocumentRefused("not_an_object", type(value).__name__)
    if raw.count(b"{") + raw.count(b"[") > limits.DEPTH or raw.count(b",") >= limits.VALUES:
        _check_extent(value)
    return value


def _check_extent(value: Document) -> None:
    """Level by level, so that the reader's own stack does not grow with the document."""
    level: list[Any] = [value]
    seen = 0
    for _ in range(limits.DEPTH):
        below: list[Any] = []
        for node in level:
            seen += len(node)
            children = node.values() if isinstance(node, dict) else node
            below.extend(child for child in children if isinstance(child, dict | list))
        if seen > limits.VALUES:
            raise DocumentRefused("too_many_values", f"more than {limits.VALUES}")
        if not below:
            return
        level = below
    raise DocumentRefused("too_deep", f"more than {limits.DEPTH} levels")


def check_context(document: Document) -> None:
    """Whoever speaks ActivityStreams says so; a document that does not may mean anything by its names."""
    context = document.get("@context")
    found = context if isinstance(context, list) else [context]
    if not any(isinstance(one, str) and one in _NAMESPACES for one in found):
        raise DocumentRefused("no_context")
