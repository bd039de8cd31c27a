"""Which redirect URIs a client may register: absolute ones, without fragments or scripts."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

RUNS_IN_THE_BROWSER = frozenset(
    {"about", "blob", "data", "file", "filesystem", "javascript", "vbscript", "view-source"}
)
_PLACE = re.compile(r"(?:[^\[\]@:;,']+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?")


def complain_redirect(uri: str) -> str | None:
    """What is wrong with `uri`, if anything."""
    shown = uri if len(uri) <= 100 else uri[:100] + "..."
    try:
        parts = urlsplit(uri)
        host = parts.hostname or ""
        parts.port  # noqa: B018 - reading it is the check
    except ValueError:
        return f"{shown} is not a valid URI."
    scheme = parts.scheme.lower()
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:.", uri) or re.search(r"[\s<>\"\\^`{|}\x00-\x1f\x7f]", uri):
        return f"{shown} is not a valid URI."
    if scheme in RUNS_IN_THE_BROWSER:
        return f"{shown}: the scheme {scheme} is not allowed."
    if "#" in uri:
        return f"{shown} must not contain a fragment."
    if scheme in ("http", "https") and not (host and _PLACE.fullmatch(parts.netloc)):
        return f"{shown} is not a valid URI."
    if scheme == "http" and not is_loopback(host):
        return f"{shown} must use https; plain http is only for this computer itself."
    return None


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
