"""Packets of RADIUS (RFC 2865, 3579): read, checked and signed with the secret that both sides know."""

from __future__ import annotations

import hashlib
import hmac
from enum import IntEnum

import msgspec

__all__ = [
    "PacketCode",
    "RadiusError",
    "RadiusPacket",
    "RadiusType",
    "answer_to",
    "hide_keys",
    "is_authentic",
    "read_packet",
    "reveal_password",
]

MOST_BYTES = 4096
MOST_ATTRIBUTES = 200  # a device sends some dozens
_HEAD = 20
_LONGEST_VALUE = 253


class RadiusError(ValueError):
    """Not a packet, or not one that may be answered."""


class PacketCode(IntEnum):
    ACCESS_REQUEST = 1
    ACCESS_ACCEPT = 2
    ACCESS_REJECT = 3
    ACCESS_CHALLENGE = 11
    STATUS_SERVER = 12


class RadiusType(IntEnum):
    """The attributes that are read or written here."""

    USER_NAME = 1
    USER_PASSWORD = 2
    CHAP_PASSWORD = 3
    REPLY_MESSAGE = 18
    STATE = 24
    VENDOR = 26
    CALLING_STATION = 31
    PROXY_STATE = 33
    EAP_MESSAGE = 79
    MESSAGE_AUTHENTICATOR = 80


class RadiusPacket(msgspec.Struct, frozen=True):
    """`raw` is the packet as it came, for checking."""

    code: int
    id: int
    authenticator: bytes
    attributes: tuple[tuple[int, bytes], ...]
    raw: bytes

    def first(self, kind: RadiusType) -> bytes | None:
        return next((value for one, value in self.attributes if one == kind), None)

    def joined(self, kind: RadiusType) -> bytes:
        """All values of a kind, one after the other: a long one is cut into several."""
        return b"".join(value for one, value in self.attributes if one == kind)

    def all(self, kind: RadiusType) -> list[bytes]:
        return [value for one, value in self.attributes if one == kind]


def read_packet(data: bytes) -> RadiusPacket:
    if not _HEAD <= len(data) <= MOST_BYTES:
        raise RadiusError("a packet of a strange length")
    length = int.from_bytes(data[2:4], "big")
    if not _HEAD <= length <= len(data):
        raise RadiusError("a packet that lies about its length")
    attributes: list[tuple[int, bytes]] = []
    at = _HEAD
    while at < length:
        if at + 2 > length or not 2 <= data[at + 1] <= length - at:
            raise RadiusError("an attribute of a strange length")
        if len(attributes) >= MOST_ATTRIBUTES:
            raise RadiusError("too many attributes")
        attributes.append((data[at], data[at + 2 : at + data[at + 1]]))
        at += data[at + 1]
    return RadiusPacket(data[0], data[1], data[4:20], tuple(attributes), data[:length])


def is_authentic(packet: RadiusPacket, secret: bytes) -> bool:
    """Whether somebody who knows the secret has made it. Without this, answers could be forged (Blast-RADIUS)."""
    given = packet.all(RadiusType.MESSAGE_AUTHENTICATOR)
    if len(given) != 1 or len(given[0]) != 16:
        return False
    blank, at = bytearray(packet.raw), _HEAD
    for kind, value in packet.attributes:
        if kind == RadiusType.MESSAGE_AUTHENTICATOR:
            blank[at + 2 : at + 18] = bytes(16)
        at += 2 + len(value)
    return hmac.compare_digest(hmac.new(secret, blank, hashlib.md5).digest(), given[0])


def reveal_password(hidden: bytes, secret: bytes, authenticator: bytes) -> str:
    """RFC 2865, 5.2: a stream of MD5 hashes over the password."""
    if not hidden or len(hidden) % 16 or len(hidden) > 128:
        raise RadiusError("a password of a strange length")
    clear, before = b"", authenticator
    for at in range(0, len(hidden), 16):
        block = hidden[at : at + 16]
        mask = hashlib.md5(secret + before).digest()  # noqa: S324 - the protocol's own
        clear += bytes(one ^ other for one, other in zip(block, mask, strict=True))
        before = block
    try:
        return clear.rstrip(b"\0").decode()
    except UnicodeDecodeError as error:
        raise RadiusError("a password that is no text") from error


def hide_keys(keys: bytes, secret: bytes, authenticator: bytes, salt: bytes) -> bytes:
    """RFC 2548, 2.4.2: keys for the Wi-Fi, readable only for the device that asked."""
    clear = bytes((len(keys),)) + keys
    clear += bytes(-len(clear) % 16)
    hidden, before = b"", authenticator + salt
    for at in range(0, len(clear), 16):
        mask = hashlib.md5(secret + before).digest()  # noqa: S324 - the protocol's own
        before = bytes(one ^ other for one, other in zip(clear[at : at + 16], mask, strict=True))
        hidden += before
    return salt + hidden


def answer_to(packet: RadiusPacket, code: PacketCode, secret: bytes, attributes: list[tuple[int, bytes]]) -> bytes:
    """Signed twice: as a whole, and by the authenticator that comes first, where nobody can put anything before it."""
    cut = [
        (kind, value[at : at + _LONGEST_VALUE])
        for kind, value in attributes
        for at in range(0, max(len(value), 1), _LONGEST_VALUE)
    ]
    cut += [(RadiusType.PROXY_STATE, one) for one in packet.all(RadiusType.PROXY_STATE)]
    body = b"".join(bytes((kind, len(value) + 2)) + value for kind, value in cut)
    if _HEAD + 18 + len(body) > MOST_BYTES:
        raise RadiusError("the answer has no room beside what was sent to be repeated")
    head = bytes((code, packet.id)) + (_HEAD + 18 + len(body)).to_bytes(2, "big")
    first = bytes((RadiusType.MESSAGE_AUTHENTICATOR, 18))
    signed = hmac.new(secret, head + packet.authenticator + first + bytes(16) + body, hashlib.md5).digest()
    body = first + signed + body
    whole = hashlib.md5(head + packet.authenticator + body + secret).digest()  # noqa: S324 - the protocol's own
    return head + whole + body
