"""From one URL to the next: what a URL must be before it is called, and what a redirect may change."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import msgspec
from yarl import URL

from kith.base.http.addresses import parse_address
from kith.base.http.failures import OutgoingError
from kith.base.http.urls import parse_url

__all__ = ["Hop", "Resign", "checked_url", "first_hop", "next_hop"]

Resign = Callable[[str, str], Mapping[str, str]]

REDIRECTS = frozenset({301, 302, 303, 307, 308})
_LONGEST = 4096
_UNSAFE = re.compile(r"[\x00-\x20\x7f-\xa0\\\u2028\u2029]")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"(?=.{{1,254}}\Z){_LABEL}(?:\.{_LABEL})*\.?")
_NUMERIC_END = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)\.?")
_QUERY = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})+")
_USERINFO = re.compile(r"[^/?#]*//[^/?#]*@")
_CREDENTIALS = frozenset({"authorization", "proxy-authorization", "cookie", "signature", "signature-input"})
_ABOUT_BODY = frozenset({"content-type", "content-encoding", "content-language", "digest", "content-digest"})
_OURS_ALONE = frozenset({"host", "content-length", "transfer-encoding", "connection"})


class Hop(msgspec.Struct, frozen=True):
    method: str
    url: URL
    headers: Mapping[str, str]
    body: bytes | None

    @property
    def shown(self) -> str:
        """The URL for a log: without its query, which may hold a secret."""
        return str(self.url.with_query(None))


def checked_url(url: str) -> str:
    """The URL exactly as it will be sent, or `bad_url`.

    Quoting, case and dot segments change on the way; whoever signs a request signs this text. A query that needs no
    quoting stays as it is, because some queries are signed themselves.
    """
    return str(_checked(url))


def first_hop(method: str, url: str, headers: Mapping[str, str] | None, body: bytes | None) -> Hop:
    return Hop(method.upper(), _checked(url), _without(headers or {}, _OURS_ALONE), body)


def next_hop(hop: Hop, status: int, location: str, resign: Resign | None) -> Hop:
    """Where a redirect leads. Never down to plain http, and never with credentials to another origin.

    `resign` gives all the headers of the new request in place of the old ones.
    """
    url = _checked(str(_joined(hop.url, location)))
    if hop.url.scheme == "https" and url.scheme == "http":
        raise OutgoingError("bad_url", f"redirect from {hop.shown} down to plain http")
    method, body, dropped = hop.method, hop.body, _OURS_ALONE
    if (status == 303 and method != "HEAD") or (status in {301, 302} and method == "POST"):
        method, body, dropped = "GET", None, dropped | _ABOUT_BODY
    if url.origin() != hop.url.origin():
        dropped |= _CREDENTIALS
    headers = _without(hop.headers, dropped)
    if resign is not None:
        headers = _without(resign(method, str(url)), _OURS_ALONE)
    return Hop(method, url, headers, body)


def _checked(text: str) -> URL:
    if len(text) > _LONGEST or _UNSAFE.search(text):
        raise OutgoingError("bad_url", f"too long or with unsafe characters: {text[:200]!r}")
    try:
        url = parse_url(text)
    except ValueError as error:
        raise OutgoingError("bad_url", f"cannot be read: {text[:200]!r}") from error
    if url.scheme not in {"http", "https"}:
        raise OutgoingError("bad_url", f"neither http nor https: {text[:200]!r}")
    if _USERINFO.match(text):
        raise OutgoingError("bad_url", "with a user name or a password")
    if not _is_host(url.raw_host or ""):
        raise OutgoingError("bad_url", f"no valid host: {text[:200]!r}")
    sent = url.with_path(url.raw_path, encoded=True, keep_query=True)
    query = text.partition("#")[0].partition("?")[2]
    return URL(f"{sent.with_query(None)}?{query}", encoded=True) if _QUERY.fullmatch(query) else sent


def _is_host(host: str) -> bool:
    """Names and plain addresses only: `127.1` and `0x7f000001` mean different hosts to different readers."""
    if parse_address(host) is not None:
        return "%" not in host
    if _NUMERIC_END.fullmatch(host) or not _HOST.fullmatch(host):
        return False
    return all(_is_label(label) for label in host.split(".") if label.startswith("xn--"))


def _is_label(label: str) -> bool:
    try:
        label.removeprefix("xn--").encode().decode("punycode")
    except UnicodeError:
        return False
    return True


def _joined(url: URL, location: str) -> URL:
    text = location.strip(" \t")
    if _UNSAFE.search(text):
        raise OutgoingError("bad_url", f"redirect with unsafe characters: {text[:200]!r}")
    try:
        return url.join(parse_url(text))
    except ValueError as error:
        raise OutgoingError("bad_url", f"redirect cannot be read: {text[:200]!r}") from error


def _without(headers: Mapping[str, str], names: frozenset[str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in names}
