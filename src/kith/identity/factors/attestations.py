"""Attestations of new passkeys, reduced to the data of the authenticator, without the statement of its maker.

Nobody here asks for an attestation, and none would be believed. But the library checks whatever comes, with the keys
and certificates in it, and a few hundred bytes can keep it busy for half a minute. So only the authenticator's own data
are handed on to it, and these hold no more than an authenticator writes.
"""

from __future__ import annotations

__all__ = ["check_data", "without_statement"]

LONGEST = 64 * 1024
LONGEST_DATA = 8 * 1024
MOST_VALUES = 256
DEEPEST = 8  # CTAP allows four
_HEAD, _KEY_HEAD = 37, 18
_HAS_KEY = 0x40
_BYTES, _TEXT, _LIST, _MAP, _TAG = range(2, 7)
_BEFORE = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59"


def without_statement(attestation: bytes) -> bytes:
    """An attestation object of the format `none` with the same data. Raises `ValueError`."""
    if len(attestation) > LONGEST:
        raise ValueError("the attestation is too long")
    reader = _Reader(attestation)
    kind, count = reader.head()
    if kind != _MAP:
        raise ValueError("the attestation is no map")
    data = b""
    for _ in range(count):
        begin = reader.at
        reader.skip()
        key, begin = attestation[begin : reader.at], reader.at
        reader.skip()
        if key == b"\x68authData":
            data = _content(attestation[begin : reader.at])
    check_data(data)
    return _BEFORE + len(data).to_bytes(2, "big") + data


def _content(item: bytes) -> bytes:
    reader = _Reader(item)
    kind, _ = reader.head()
    if kind != _BYTES:
        raise ValueError("the authenticator's data are no bytes")
    return item[reader.at :]


def check_data(data: bytes) -> None:
    """Check that an authenticator can have written these data. Raises `ValueError`."""
    if not _HEAD <= len(data) <= LONGEST_DATA:
        raise ValueError("the authenticator's data are too short or too long")
    reader = _Reader(data)
    reader.at = _HEAD
    if data[32] & _HAS_KEY:
        reader.at += _KEY_HEAD + int.from_bytes(data[_HEAD + 16 : _HEAD + _KEY_HEAD], "big")
    while reader.at < len(data):
        reader.skip()


class _Reader:
    """CBOR (RFC 8949) as authenticators write it: of known length, without tags, and not much of it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._left = MOST_VALUES
        self.at = 0

    def head(self) -> tuple[int, int]:
        """What kind of value comes, and its number: of bytes, of values, or the value itself."""
        self._left -= 1
        if self._left < 0 or self.at >= len(self._data):
            raise ValueError("there are too many values, or the last is missing")
        kind, number = self._data[self.at] >> 5, self._data[self.at] & 31
        self.at += 1
        if kind == _TAG or number > 27:
            raise ValueError("no authenticator writes this")
        if number >= 24:
            size = 1 << (number - 24)
            number = int.from_bytes(self._data[self.at : self.at + size], "big")
            self.at += size
        return kind, number

    def skip(self, depth: int = 0) -> None:
        """Go on behind the value that comes."""
        if depth > DEEPEST:
            raise ValueError("values stand too deep in others")
        kind, number = self.head()
        if kind in (_BYTES, _TEXT):
            self.at += number
        elif kind in (_LIST, _MAP):
            for _ in range(number if kind == _LIST else 2 * number):
                self.skip(depth + 1)
        if self.at > len(self._data):
            raise ValueError("the last value is cut off")
