"""What a request line may ask for (RFC 9112, section 3.2), and which hosts may be named."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["is_host", "read_target"]

_HOST = re.compile(rb"(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{0,5})?")
_LONGEST_HOST = 300
_ABSOLUTE = re.compile(rb"(?i:https?)://([^/?]*)(?:[/?]|\Z)")


def is_host(host: bytes) -> bool:
    """Whether this is a name or an address, perhaps with a port."""
    return len(host) <= _LONGEST_HOST and _is_host(host)


@lru_cache(256)
def _is_host(host: bytes) -> bool:
    return _HOST.fullmatch(host) is not None


def read_target(method: str, target: bytes) -> bytes | None:
    """The host that a target names, empty where it names none; None for what nobody may ask for."""
    if method == "CONNECT" or b"#" in target:
        return None  # we are nobody's tunnel; and what follows `#` is the client's own, another server might cut it off
    if target.startswith(b"/"):
        return b""
    if target == b"*":
        return b"" if method == "OPTIONS" else None
    found = _ABSOLUTE.match(target)
    return found[1] if found is not None and is_host(found[1]) else None
