"""EAP-TTLS (RFC 3748, 5281): a TLS connection inside of RADIUS packets, and in it a name and a password (PAP)."""

from __future__ import annotations

import struct
from enum import IntEnum

import msgspec
from OpenSSL import SSL

from kith.identity.radius_server.packets import RadiusError

__all__ = ["EapCode", "EapPacket", "TtlsSession", "TtlsStep", "read_eap"]

TTLS = 21
IDENTITY, NAK = 1, 3
FRAGMENT = 1000
MOST_HANDSHAKE = 64 << 10
_LENGTH, _MORE, _START = 0x80, 0x40, 0x20
_USER_NAME, _USER_PASSWORD = 1, 2


class EapCode(IntEnum):
    REQUEST = 1
    RESPONSE = 2
    SUCCESS = 3
    FAILURE = 4


class EapPacket(msgspec.Struct, frozen=True):
    code: int
    id: int
    kind: int
    data: bytes


class TtlsStep(msgspec.Struct, frozen=True):
    """What to say next, or the name and the password that came."""

    say: bytes = b""
    username: str = ""
    password: str | None = None


def read_eap(data: bytes) -> EapPacket:
    if len(data) < 4 or int.from_bytes(data[2:4], "big") != len(data):
        raise RadiusError("a strange packet of EAP")
    return EapPacket(data[0], data[1], data[4] if len(data) > 4 else 0, data[5:])


def write_eap(code: EapCode, id: int, kind: int | None = None, data: bytes = b"") -> bytes:
    body = b"" if kind is None else bytes((kind,)) + data
    return struct.pack("!BBH", code, id, 4 + len(body)) + body


class TtlsSession:
    """One person's conversation. Certificates of clients are not asked for.

    A connection takes much memory, so it is made when something comes for it, and let go with the last word.
    """

    def __init__(self, context: SSL.Context) -> None:
        self._context = context
        self._connection: SSL.Connection | None = None
        self._incoming = b""
        self._outgoing = b""
        self._begun = 0
        self._seen = 0
        self.last_id = -1
        self.is_open = False
        self.is_over = False

    @property
    def _tls(self) -> SSL.Connection:
        if self._connection is None:
            self._connection = SSL.Connection(self._context, None)
            self._connection.set_accept_state()
        return self._connection

    def end(self) -> None:
        self.is_over = True
        self._connection = None
        self._incoming = self._outgoing = b""

    def start(self, id: int) -> bytes:
        self.last_id = id
        return write_eap(EapCode.REQUEST, id, TTLS, bytes((_START,)))

    def take(self, packet: EapPacket) -> TtlsStep:
        """One packet of the client; `RadiusError` where the conversation has failed."""
        if packet.id != self.last_id or packet.kind != TTLS or not packet.data:
            raise RadiusError("EAP out of order")
        flags, data = packet.data[0], packet.data[1:]
        if flags & _LENGTH:
            if len(data) < 4:
                raise RadiusError("EAP-TTLS without its length")
            data = data[4:]
        self._seen += len(data)
        if self._seen > MOST_HANDSHAKE:
            raise RadiusError("EAP-TTLS without an end")
        if self._outgoing:  # they have taken a part, and want the rest
            return TtlsStep(say=self._next())
        self._incoming += data
        if flags & _MORE:
            return TtlsStep(say=self._say(bytes((0,))))
        return self._advance()

    def _advance(self) -> TtlsStep:
        if self._incoming:
            self._tls.bio_write(self._incoming)
            self._incoming = b""
        try:
            if not self.is_open:
                self._tls.do_handshake()
                self.is_open = True
            inner = self._tls.recv(4096)
        except SSL.WantReadError:
            inner = b""
        except SSL.Error as error:
            raise RadiusError("the TLS connection failed") from error
        if inner:
            return _credentials(inner)
        self._outgoing = self._drain()
        self._begun = 0
        return TtlsStep(say=self._next())

    def _drain(self) -> bytes:
        found = b""
        while True:
            try:
                found += self._tls.bio_read(65536)
            except SSL.WantReadError:
                return found

    def _next(self) -> bytes:
        """The next part of what is to be said."""
        whole, at = self._outgoing, self._begun
        part = whole[at : at + FRAGMENT]
        self._begun += len(part)
        has_more = self._begun < len(whole)
        flags = (_MORE if has_more else 0) | (_LENGTH if has_more and at == 0 else 0)
        length = struct.pack("!I", len(whole)) if flags & _LENGTH else b""
        if not has_more:
            self._outgoing = b""
        return self._say(bytes((flags,)) + length + part)

    def _say(self, data: bytes) -> bytes:
        self.last_id = (self.last_id + 1) % 256
        return write_eap(EapCode.REQUEST, self.last_id, TTLS, data)

    def keys(self) -> tuple[bytes, bytes]:
        """What the Wi-Fi encrypts with: for receiving and for sending."""
        found = self._tls.export_keying_material(b"ttls keying material", 128)
        return found[:32], found[32:64]


def _credentials(inner: bytes) -> TtlsStep:
    """RFC 5281, 10: attributes of Diameter."""
    username: str | None = None
    password: str | None = None
    at = 0
    while at + 8 <= len(inner):
        code, flags = struct.unpack("!IB", inner[at : at + 5])
        length = int.from_bytes(inner[at + 5 : at + 8], "big")
        head = 12 if flags & 0x80 else 8
        if length < head or at + length > len(inner):
            raise RadiusError("a strange attribute inside of TLS")
        value = inner[at + head : at + length]
        if not flags & 0x80 and code == _USER_NAME:
            username = _text(value)
        elif not flags & 0x80 and code == _USER_PASSWORD:
            password = _text(value.rstrip(b"\0"))
        at += length + (-length % 4)
    if username is None or password is None:
        raise RadiusError("only passwords in clear (PAP) are taken inside of TLS")
    return TtlsStep(username=username, password=password)


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise RadiusError("a name or password that is no text") from error
