"""Names of keys: addresses of actors or of keys, or handles."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import urlsplit

import msgspec

from kith.federation.signatures.refusals import Fault, SignatureRefused, shown

__all__ = ["KeyId", "read_key_id"]

LONGEST = 2048
_CLEAN = re.compile(r"[\x21-\x7e]+")
_HANDLE = re.compile(r"acct:@?([^@/?#]{1,200})@([^@/?#]{1,300})")


class KeyId(msgspec.Struct, frozen=True):
    """`document` is where the key or its actor is found; for a handle, `document` is the handle itself."""

    id: str
    document: str
    host: str

    @property
    def is_handle(self) -> bool:
        return self.document.startswith("acct:")


@lru_cache(1024)
def read_key_id(text: str) -> KeyId:
    """`https://a.example/users/ada#main-key`, `https://a.example/users/ada/main-key` or `acct:ada@a.example`."""
    if len(text) > LONGEST:
        raise SignatureRefused(Fault.TOO_LONG, "The keyId is too long")
    if not _CLEAN.fullmatch(text):
        raise _unknown(text)
    handle = _HANDLE.fullmatch(text)
    if handle is not None:
        return KeyId(text, f"acct:{handle[1]}@{handle[2].lower()}", handle[2].lower())
    document = text.partition("#")[0]
    try:
        parts = urlsplit(document)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise _unknown(text) from error
    if parts.scheme not in ("https", "http") or not host or "@" in parts.netloc or "\\" in document:
        raise _unknown(text)
    shown_host = f"[{host}]" if ":" in host else host
    return KeyId(text, document, shown_host if port is None else f"{shown_host}:{port}")


def _unknown(text: str) -> SignatureRefused:
    return SignatureRefused(Fault.KEY_ID, f"Public key not found for key {shown(text)}")
