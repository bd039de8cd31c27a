"""What lies under /.well-known/: who adds to it, and at which of the server's names it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from kith.base.exchange import Answer, Exchange

__all__ = ["Contributor", "Contributors", "KnownResource", "other_host"]


class KnownResource(msgspec.Struct, kw_only=True):
    """What one half knows of an address: how it is rightly written, what else it is called, and where it leads."""

    subject: str
    aliases: list[str] = []
    links: list[dict[str, Any]] = []


# Given the address as it was asked for; None where it means nothing to that half.
Contributor = Callable[[Exchange, str], Awaitable[KnownResource | None]]


class Contributors(msgspec.Struct, frozen=True):
    """Every half that adds to WebFinger; how an address is rightly written is the first one's word."""

    all: tuple[Contributor, ...]


def other_host(exchange: Exchange) -> Answer | None:
    """Where the domain of handles is another host that leads here, it is told where the server is."""
    settings = exchange.server.works.settings
    asked = exchange.header(b"host").decode("latin-1").lower()
    if asked != settings.domain.lower() or asked == settings.web_domain.lower():
        return None
    query = exchange.query_string
    to = f"{settings.base_url}{exchange.path}".encode() + (b"?" + query if query else b"")
    return Answer(301, ((b"location", to), (b"access-control-allow-origin", b"*")))
