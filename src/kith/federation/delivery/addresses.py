"""Which inboxes may be written to."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from kith.base.http import OutgoingError, PrivateHosts, checked_url
from kith.base.http.urls import parse_url
from kith.base.settings import Settings
from kith.federation.vocabulary.incoming.ids import domain_of

__all__ = ["Inbox", "read_inbox"]

LONGEST = 2048
# As nearly all are: a name under a top-level domain, no port, and a path in which nothing needs to be tidied up.
_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_PLAIN = re.compile(
    rf"https://((?!.*\bxn--)(?=[^/]{{1,253}}/)(?:{_LABEL}\.)+[a-z]{{2,63}})(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+"
)


class Inbox(msgspec.Struct, frozen=True):
    """`url` is exactly what is asked for."""

    url: str
    domain: str


def read_inbox(text: str, settings: Settings) -> Inbox | None:
    """None for what is no address, for our own, and for plain http to a host that the operator has not listed."""
    return _read(text, settings.base_url, tuple(settings.private_hosts))


@lru_cache(16_384)
def _read(text: str, base_url: str, private_hosts: tuple[str, ...]) -> Inbox | None:
    plain = _PLAIN.fullmatch(text)
    if plain is not None and len(text) <= LONGEST:
        return Inbox(text, plain[1]) if plain[1] != domain_of(base_url) else None
    try:
        url = parse_url(checked_url(text.partition("#")[0]))
    except OutgoingError:
        return None
    domain = domain_of(str(url))
    if not domain or domain == domain_of(base_url):
        return None
    if url.scheme != "https" and not _listed(private_hosts).lists(url.raw_host or "", url.port or 80):
        return None
    return Inbox(str(url), domain)


@lru_cache(4)
def _listed(private_hosts: tuple[str, ...]) -> PrivateHosts:
    return PrivateHosts(private_hosts)
