"""How each kind of document is read, for tests that have many of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kith.federation.vocabulary.incoming import (
    read_activity,
    read_actor,
    read_collection,
    read_key,
    read_nodeinfo,
    read_nodeinfo_link,
    read_note,
    read_quote_stamp,
    read_webfinger,
)

READERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "actor": read_actor,
    "note": read_note,
    "activity": read_activity,
    "collection": lambda document: read_collection(document, _domain(document)),
    "webfinger": read_webfinger,
    "nodeinfo": read_nodeinfo,
    "nodeinfo links": read_nodeinfo_link,
    "key": lambda document: read_key(document, _asked_key(document)),
    "stamp": read_quote_stamp,
}


def _domain(document: dict[str, Any]) -> str:
    """Where the samples say that they come from."""
    uri = document.get("id")
    known = ("gts.example", "pl.example")
    return next((one for one in known if isinstance(uri, str) and one in uri), "a.example")


def _asked_key(document: dict[str, Any]) -> str:
    """By what the sender of the sample signs: PeerTube by the name of the actor."""
    uri = str(document.get("id"))
    return uri if "pt.example" in uri else "https://gts.example/users/gil/main-key"
