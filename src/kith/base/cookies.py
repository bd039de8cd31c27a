"""What a browser carries for us, read in one go over the header.

The standard library's reader costs the square of the length for some headers. Our own values need no quotes.
"""

from __future__ import annotations

from kith.base.exchange import Exchange

__all__ = ["carried_cookie"]


def carried_cookie(exchange: Exchange, name: str) -> str:
    """The value of the cookie `name`; empty where there is none. Of several the first counts."""
    wanted = name.encode()
    for key, value in exchange.scope["headers"]:
        if key == b"cookie":
            for piece in value.split(b";"):
                found, _, held = piece.partition(b"=")
                if found.strip() == wanted:
                    text: str = held.strip().decode("latin-1")
                    return text.removeprefix('"').removesuffix('"')
    return ""
