"""What arrived, and what its signature claims."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

import msgspec

from kith.base import crypto
from kith.federation.signatures.key_ids import KeyId
from kith.federation.signatures.refusals import Fault, SignatureRefused, shown

__all__ = ["PublicKey", "ReceivedRequest", "SignatureClaim"]

PublicKey: TypeAlias = "crypto.RSAPublicKey | crypto.Ed25519PublicKey"

MOST_HEADERS = 200
_DEFAULT_PORTS = {"https": ":443", "http": ":80"}


class ReceivedRequest:
    """A request as it came over the wire.

    `path` is what was asked for, still percent-encoded; `origins` are the addresses this server is asked under
    (`https://kith.example`), for a signature that was made for another server says nothing here.
    """

    __slots__ = ("body", "fields", "method", "origins", "path", "query")

    def __init__(
        self,
        method: str,
        path: bytes,
        query: bytes = b"",
        headers: Sequence[tuple[bytes, bytes]] = (),
        body: bytes = b"",
        *,
        origins: tuple[str, ...],
    ) -> None:
        self.method = method.upper()
        self.path = path
        self.query = query
        self.fields = _fields(headers)
        self.body = body
        self.origins = origins

    def field(self, name: bytes, *, most: int) -> bytes | None:
        """The value of a header, refused where it is longer than anything sensible; None where it was not sent."""
        value = self.fields.get(name)
        if value is not None and len(value) > most:
            raise SignatureRefused(Fault.TOO_LONG, f"The {shown(name)} header is too long")
        return value

    def covered_field(self, name: bytes) -> bytes:
        """The value of a header as it is signed: it was sent, and is one line."""
        value = self.fields.get(name)
        if value is None:
            raise SignatureRefused(Fault.COVERAGE, f"The {shown(name)} header is signed but was not sent")
        if b"\n" in value or b"\r" in value:
            raise SignatureRefused(Fault.MALFORMED, f"The {shown(name)} header has more than one line")
        return value

    @property
    def target(self) -> bytes:
        return self.path + b"?" + self.query if self.query else self.path

    def check_host(self) -> None:
        """The host that was signed is ours."""
        asked = self.covered_field(b"host")
        if asked not in _names_of(self.origins) and asked.lower() not in _names_of(self.origins):
            raise SignatureRefused(Fault.HOST, f"The request was signed for another host: {shown(asked)}")


@lru_cache(16)
def _names_of(origins: tuple[str, ...]) -> frozenset[bytes]:
    """What the `Host` header of a request for one of them may say: a port that the scheme implies, or not."""
    found = set()
    for origin in origins:
        scheme, _, authority = origin.lower().partition("://")
        port = _DEFAULT_PORTS.get(scheme, "")
        name = authority.removesuffix(port)
        found |= {name.encode("latin-1"), (name + port).encode("latin-1")}
    return frozenset(found)


def _fields(headers: Sequence[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Values by lower-case names; a header that was sent several times is one list of values."""
    if len(headers) > MOST_HEADERS:
        raise SignatureRefused(Fault.TOO_LONG, "Too many headers")
    once = {name.lower(): value.strip(b" \t") for name, value in headers}
    if len(once) == len(headers):
        return once
    found: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        found.setdefault(name.lower(), []).append(value.strip(b" \t"))
    return {name: b", ".join(values) for name, values in found.items()}


class SignatureClaim(msgspec.Struct, frozen=True):
    """All that can be said of a signature before its key is known.

    Digest, time and what must be signed are checked already. One of `bases` must be what was signed; `kinds` are the
    kinds of keys that the signature may be by.
    """

    key_id: KeyId
    bases: tuple[bytes, ...]
    signature: bytes
    kinds: tuple[type[PublicKey], ...]
    created: int
