"""Ids of other servers: what an id is, and whose it is.

An id is kept as it was written; whose it is decides its domain: the host in lower case, with the port where that is
not the scheme's own.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from kith.base.http import OutgoingError, checked_url
from kith.base.http.urls import parse_url
from kith.federation.vocabulary.incoming import limits

__all__ = ["PUBLIC", "domain_of", "find_domain", "is_public", "read_id", "same_domain", "without_fragment"]

PUBLIC = "https://www.w3.org/ns/activitystreams#Public"
_PUBLIC = frozenset({PUBLIC, "as:Public", "Public"})
_ID = re.compile(
    r"(?P<scheme>https?)://(?P<host>[a-z0-9_.-]{1,254}|\[[0-9a-f:.]{2,45}\])(?::(?P<port>[0-9]{1,5}))?(?:[/?#].*)?",
    re.IGNORECASE | re.ASCII,
)
_UNSAFE = re.compile(r"[\x00-\x20\x7f-\xa0\\<>\"\u2028\u2029\ud800-\udfff]")
_OWN_PORTS = {"http": 80, "https": 443}


def is_public(uri: object) -> bool:
    """Whether it means everybody, in any of the three spellings."""
    return isinstance(uri, str) and uri in _PUBLIC


def read_id(value: Any) -> str | None:
    """An id or address on another server, or None for whatever else stands there. It fits into an index."""
    if not isinstance(value, str) or not 0 < len(value) <= limits.URI_LENGTH:
        return None
    if not value.isascii() and len(value.encode(errors="replace")) > limits.URI_LENGTH:
        return None
    return value if find_domain(value) is not None else None


@lru_cache(1024)
def find_domain(uri: str) -> str | None:
    """A document names the same few ids over and over, so the last ones are remembered."""
    if _UNSAFE.search(uri):
        return None
    match = _ID.fullmatch(uri)
    if match is None:
        return None if uri.isascii() else _international(uri)
    host, port = match["host"].lower(), int(match["port"] or 0)
    if ".." in host or host[0] in ".-" or host[-1] in ".-" or port > 65535:
        return None
    return host if port in (0, _OWN_PORTS[match["scheme"].lower()]) else f"{host}:{port}"


def _international(uri: str) -> str | None:
    try:
        url = parse_url(checked_url(uri))
    except OutgoingError:
        return None
    host = url.host_subcomponent or ""
    return host if url.is_default_port() else f"{host}:{url.port}"


def domain_of(uri: str) -> str:
    """Of an id that `read_id` has passed; empty for any other text."""
    return find_domain(uri) or ""


def same_domain(one: str, other: str) -> bool:
    domain = domain_of(one)
    return bool(domain) and domain == domain_of(other)


def without_fragment(uri: str) -> str:
    return uri.partition("#")[0]
