"""Domain names as people type them."""

from __future__ import annotations

import re

from kith.base.host_names import ascii_host

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\Z")
_PORT = re.compile(r":\d{1,5}\Z")
LONGEST = 253


def domain_of(text: str) -> str | None:
    """How a domain is compared: lower case, punycode, without a final dot. None when it is none."""
    if len(text) > 2 * LONGEST:
        return None
    name = text.strip().lower().rstrip("/")
    for start in ("https://", "http://"):
        name = name.removeprefix(start)
    found = _PORT.search(name)
    port = found.group() if found else ""
    name = name.removesuffix(port).rstrip(".")
    try:
        host = ascii_host(name)
    except ValueError:
        return None
    labels = host.split(".")
    if not host or len(host) > LONGEST or not all(_LABEL.match(label) for label in labels):
        return None
    is_bare = len(labels) == 1 and not port
    return None if is_bare else f"{host}{port}"
