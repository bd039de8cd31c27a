"""The header `Collection-Synchronization`, and the digest in it: pure functions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import reduce
from operator import xor

import msgspec

__all__ = ["SyncHeader", "as_hex", "digest_of", "read_header", "sum_of", "write_header"]

LONGEST = 4096
_FIELD = re.compile(r'\s*([A-Za-z]{1,20})="([^"\\]{0,2048})"\s*(?:,|\Z)')
_DIGEST = re.compile(r"[0-9a-f]{64}")


class SyncHeader(msgspec.Struct, frozen=True):
    """What a sender says: of which collection, where the part of it that is ours can be fetched, and its digest."""

    collection_id: str
    url: str
    digest: str


def sum_of(uri: str) -> int:
    """What one of them adds to a digest, and takes from it again."""
    return int.from_bytes(hashlib.sha256(uri.encode()).digest(), "big")


def as_hex(made: int) -> str:
    return f"{made:064x}"


def digest_of(uris: Iterable[str]) -> str:
    """All of them, in whatever order."""
    return as_hex(reduce(xor, map(sum_of, uris), 0))


def write_header(collection_id: str, url: str, digest: str) -> str:
    return f'collectionId="{collection_id}", url="{url}", digest="{digest}"'


def read_header(value: str) -> SyncHeader | None:
    """None for anything that is not whole."""
    found: dict[str, str] = {}
    place = 0
    if len(value) > LONGEST:
        return None
    while place < len(value):
        field = _FIELD.match(value, place)
        if field is None:
            return None
        found[field[1]] = field[2]
        place = field.end()
    digest = found.get("digest", "").lower()
    if not found.get("collectionId") or not found.get("url") or not _DIGEST.fullmatch(digest):
        return None
    return SyncHeader(found["collectionId"], found["url"], digest)
