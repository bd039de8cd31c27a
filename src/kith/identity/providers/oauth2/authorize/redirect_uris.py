"""Which redirect URIs are valid, and adding the response to one.

URIs are compared as text: two spellings of one address are different here, so that differences between parsers cannot
be exploited.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from urllib.parse import quote, urlencode, urlsplit

from kith.identity.providers.redirect_patterns import MOST_MATCHED, compiled
from kith.identity.providers.redirect_uris import RUNS_IN_THE_BROWSER, complain_redirect

OUT_OF_BAND = "urn:ietf:wg:oauth:2.0:oob"
MOST_CHARACTERS = 2000
# Characters that are never accepted in a redirect URI.
_UNFIT = re.compile(r"[\x00-\x20\x7f#\\]")
# Native apps listen on any free port of the loopback address (RFC 8252).
_LOOPBACK = ("http://127.0.0.1", "http://[::1]", "http://localhost")


def is_registered(
    asked: str, registered: Collection[str], *, matching: str = "strict", out_of_band: bool = False
) -> bool:
    """Whether `asked` is one of the client's redirect URIs; `out_of_band` allows showing the code instead."""
    if not asked or len(asked) > MOST_CHARACTERS:
        return False
    if asked == OUT_OF_BAND:
        return out_of_band and OUT_OF_BAND in registered
    if _UNFIT.search(asked) or asked.partition(":")[0].lower() in RUNS_IN_THE_BROWSER:
        return False
    if matching == "regex":
        return asked.isascii() and len(asked) <= MOST_MATCHED and any(_matches(one, asked) for one in registered)
    return any(asked == one or _is_same_but_for_port(asked, one) for one in registered)


def _matches(pattern: str, asked: str) -> bool:
    found = compiled(pattern)
    return found is not None and found.fullmatch(asked) is not None and complain_redirect(asked) is None


def _is_same_but_for_port(asked: str, registered: str) -> bool:
    for prefix in _LOOPBACK:
        rest = registered.removeprefix(prefix)
        if rest == registered or rest[:1] not in ("", "/", "?") or not asked.startswith(f"{prefix}:"):
            continue
        port = asked[len(prefix) + 1 : len(asked) - len(rest)]
        if asked == f"{prefix}:{port}{rest}" and _is_port(port):
            return True
    return False


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and text[0] != "0" and len(text) <= 5 and int(text) <= 65_535


def with_query(uri: str, fields: Mapping[str, str]) -> str:
    """The URI with `fields` added to its query."""
    if "?" not in uri:
        return f"{uri}?{_encoded(fields)}"
    return f"{uri}{'' if uri.endswith(('?', '&')) else '&'}{_encoded(fields)}"


def with_fragment(uri: str, fields: Mapping[str, str]) -> str:
    return f"{uri}#{_encoded(fields)}"


def _encoded(fields: Mapping[str, str]) -> str:
    return urlencode(fields, quote_via=quote)


def is_web(uri: str) -> bool:
    return uri.startswith(("http://", "https://"))


def origin_of(uri: str) -> str:
    """The source for a Content-Security-Policy: scheme and host, or the scheme alone for apps."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc}" if is_web(uri) and "[" not in uri else f"{parts.scheme}:"
