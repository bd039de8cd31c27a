"""Pages of a search (RFC 2696). The cookie says where the next one begins, and counts for the same search only:
of the same person, over the same connection. Nothing is kept here for it."""

from __future__ import annotations

import hashlib
import hmac
import secrets

import msgspec

from kith.identity.ldap_server.ber import SEQUENCE, BerReader
from kith.identity.ldap_server.directory import SearchCursor
from kith.identity.ldap_server.messages import PAGED, Control, SearchRequest
from kith.identity.ldap_server.sign_in import BoundPerson

__all__ = ["AskedPage", "BadPage", "SearchPages"]

MOST_PAGE = 1000
_SEAL = 16


class BadPage(Exception):  # noqa: N818 - the cookie is
    """The cookie was not made for this search."""


class AskedPage(msgspec.Struct, frozen=True):
    """`size` is None where no pages were asked for, and 0 where somebody wants no more of them."""

    size: int | None
    cursor: SearchCursor


class SearchPages:
    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def read(self, controls: tuple[Control, ...], request: SearchRequest, bound: BoundPerson) -> AskedPage:
        for control in controls:
            if control.oid == PAGED:
                value = BerReader(control.value).inside(SEQUENCE)
                size, cookie = value.integer(), value.octets()
                if not cookie:
                    return AskedPage(max(1, min(size or MOST_PAGE, MOST_PAGE)), SearchCursor())
                return AskedPage(max(0, min(size, MOST_PAGE)), self._open(cookie, request, bound))
        return AskedPage(None, SearchCursor())

    def cookie(self, cursor: SearchCursor, request: SearchRequest, bound: BoundPerson) -> bytes:
        said = msgspec.json.encode(cursor)
        return self._seal(said, request, bound) + said

    def _open(self, cookie: bytes, request: SearchRequest, bound: BoundPerson) -> SearchCursor:
        seal, said = cookie[:_SEAL], cookie[_SEAL:]
        if not hmac.compare_digest(seal, self._seal(said, request, bound)):
            raise BadPage
        return msgspec.json.decode(said, type=SearchCursor)

    def _seal(self, said: bytes, request: SearchRequest, bound: BoundPerson) -> bytes:
        asked = (bound.user_id, bound.provider_id, request.base, request.scope, request.filter)
        return hmac.digest(self._key, repr(asked).encode() + said, hashlib.sha256)[:_SEAL]
