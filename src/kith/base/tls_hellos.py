"""The first messages of both sides of TLS, as far as they decide what the handshake costs: pure functions.

The library lets the other side choose. Of the groups that it takes, those of the kind ffdhe cost a hundred times as
much as elliptic curves; and a client that brings no key for a group of ours says everything twice.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator

__all__ = ["HANDSHAKE", "bytes_needed", "check_client", "check_server", "first_message", "is_refusal"]

HANDSHAKE = 0x16
MOST_RECORDS = 8  # of one message; nearly everybody needs one
LONGEST = 1 << 14
_CLIENT_HELLO, _SERVER_HELLO = 1, 2
_VERSIONS, _KEY_SHARE = 43, 51
_TLS_1_3 = 0x0304
_CURVES = frozenset({0x17, 0x18, 0x19, 0x1D, 0x1E})  # P-256, P-384, P-521, X25519, X448
_WITH_ML_KEM = frozenset({0x11EB, 0x11EC, 0x11ED})
_OURS = _CURVES | _WITH_ML_KEM if ssl.OPENSSL_VERSION_INFO >= (3, 5) else _CURVES
_FFDHE = range(0x100, 0x200)
_RETRY = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")


def first_message(data: bytes) -> bytes | None:
    """The first message of a handshake, of however many records; None while some of them are missing.

    Raises `ValueError` where it is none, or nobody would write it so.
    """
    message, needed = _read(data)
    return None if needed else message


def is_refusal(data: bytes) -> bool:
    """Whether this is the alert with which a handshake ends."""
    return data[:1] == b"\x15" and data[3:6] == b"\0\2\2"


def bytes_needed(data: bytes) -> int:
    """How many bytes must be there before more is known of the first message; 0 if it is whole."""
    return _read(data)[1]


def _read(data: bytes) -> tuple[bytes, int]:
    message, at = b"", 0
    for _ in range(MOST_RECORDS):
        if data[at : at + 1] not in (b"", bytes((HANDSHAKE,))):
            raise ValueError("this is no handshake of TLS")
        if len(data) < at + 5:
            return b"", at + 5
        length = int.from_bytes(data[at + 3 : at + 5], "big")
        if not 0 < length <= LONGEST or len(message) > LONGEST:
            raise ValueError("a record of no length, or of too much")
        begin, at = at + 5, at + 5 + length
        if len(data) < at:
            return b"", at
        message += data[begin:at]
        if len(message) >= 4 and len(message) >= (whole := 4 + int.from_bytes(message[1:4], "big")):
            return message[:whole], 0
    raise ValueError("the first message is in too many pieces")


def check_client(hello: bytes) -> None:
    """Raises `ValueError` where what a client asks for would cost too much, or has to be asked for again."""
    if hello[:1] != bytes((_CLIENT_HELLO,)):
        raise ValueError("a client begins with another message")
    reader = _Reader(hello[38:])  # behind the message's head, the version and the random
    for size in (1, 2, 1):  # session, ciphers, ways to compress
        reader.take(reader.number(size))
    told = dict(reader.extensions())
    versions = told.get(_VERSIONS, b"")[1:]
    if _TLS_1_3 not in {int.from_bytes(versions[at : at + 2], "big") for at in range(0, len(versions), 2)}:
        return  # the older ones know elliptic curves only, as far as we speak them
    shares = _Reader(told.get(_KEY_SHARE, b""))
    groups = {group for group, _ in _Reader(shares.take(shares.number(2))).pairs()}
    if not groups & _OURS or any(group in _FFDHE for group in groups):
        raise ValueError("a client without a key for an elliptic curve, or with one that costs too much")


def check_server(hello: bytes) -> None:
    """Raises `ValueError` where a server asks for a key that would cost too much."""
    if hello[:1] != bytes((_SERVER_HELLO,)):
        raise ValueError("a server begins with another message")
    if hello[6:38] != _RETRY:
        return
    reader = _Reader(hello[38:])
    reader.take(reader.number(1))
    reader.take(3)  # cipher, way to compress
    if int.from_bytes(dict(reader.extensions()).get(_KEY_SHARE, b""), "big") in _FFDHE:
        raise ValueError("a server asks for a key that costs too much")


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, count: int) -> bytes:
        begin, self._at = self._at, self._at + count
        if self._at > len(self._data):
            raise ValueError("the message is cut off")
        return self._data[begin : self._at]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def extensions(self) -> Iterator[tuple[int, bytes]]:
        """Each with its number; there may be none at all."""
        if self._at < len(self._data):
            yield from _Reader(self.take(self.number(2))).pairs()

    def pairs(self) -> Iterator[tuple[int, bytes]]:
        while self._at < len(self._data):
            kind = self.number(2)
            yield kind, self.take(self.number(2))
