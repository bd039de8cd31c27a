"""What a single page may do beyond the strict policy of all pages: send forms elsewhere, frame other sites, call us."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from kith.base.exchange import Exchange

_PLACE = re.compile(r"('self' )?[A-Za-z][A-Za-z0-9+.-]*:(//[A-Za-z0-9.:-]+)?( https:)?")
_POLICY = b"content-security-policy"


def may_lead_to(exchange: Exchange, place: str) -> None:
    """Browsers hold the forms of a page, and the redirects after them, to the page's own policy."""
    if _PLACE.fullmatch(place) is not None:
        _replace(exchange, b"form-action 'self'", f"form-action {place}".encode())


def may_frame(exchange: Exchange, origins: Sequence[str]) -> None:
    """Our pages frame nothing; this one frames these sites, and pages of ours if `'self'` is among them."""
    allowed = f"frame-src {' '.join(origins)}; base-uri".encode("latin-1", "replace")
    _replace(exchange, b"base-uri", allowed)


def may_show(exchange: Exchange, origin: str) -> None:
    """This page shows a picture of another site."""
    if _PLACE.fullmatch(origin) is not None:
        _replace(exchange, b"img-src 'self' data:", f"img-src 'self' data: {origin}".encode())


def may_be_framed(exchange: Exchange) -> None:
    """This page may stand in a frame of one of our own."""
    _replace(exchange, b"frame-ancestors 'none'", b"frame-ancestors 'self'")
    _set(exchange, b"x-frame-options", b"SAMEORIGIN")


def may_be_framed_anywhere(exchange: Exchange) -> None:
    """For pages that are the same for everybody and have nothing to press."""
    _replace(exchange, b"frame-ancestors 'none'", b"frame-ancestors *")
    headers = tuple(one for one in exchange.dialect.headers if one[0] != b"x-frame-options")
    exchange.dialect = msgspec.structs.replace(exchange.dialect, headers=headers)


def may_call_us(exchange: Exchange) -> None:
    """Its scripts may ask this server for something."""
    _replace(exchange, b"base-uri", b"connect-src 'self'; base-uri")


def _replace(exchange: Exchange, old: bytes, new: bytes) -> None:
    headers = tuple(
        (name, value.replace(old, new) if name == _POLICY else value) for name, value in exchange.dialect.headers
    )
    exchange.dialect = msgspec.structs.replace(exchange.dialect, headers=headers)


def _set(exchange: Exchange, name: bytes, value: bytes) -> None:
    headers = tuple((one, value if one == name else was) for one, was in exchange.dialect.headers)
    exchange.dialect = msgspec.structs.replace(exchange.dialect, headers=headers)
