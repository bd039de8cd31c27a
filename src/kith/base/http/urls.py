"""URLs as strangers write them, read at a cost that grows with their length."""

from __future__ import annotations

import re

from yarl import URL

from kith.base.host_names import ascii_host

__all__ = ["parse_url"]

_SKIPPED = "".join(map(chr, range(33)))  # what readers of URLs skip before them
_BREAKS = str.maketrans("", "", "\t\r\n")  # and within
_HOST = re.compile(r"((?:[^:/?#]*:)?//(?:[^/?#]*@)?)([^/?#@]*?)((?::[0-9]*)?(?:[/?#].*)?)", re.DOTALL)


def parse_url(text: str) -> URL:
    """The URL, its host in ASCII; ValueError where it is none. `URL` alone takes the square of a host's length."""
    if text.isascii():
        return URL(text)
    plain = text.lstrip(_SKIPPED).translate(_BREAKS)
    found = _HOST.fullmatch(plain)
    if found is None or found[2].isascii():
        return URL(plain)
    return URL(f"{found[1]}{ascii_host(found[2])}{found[3]}")
