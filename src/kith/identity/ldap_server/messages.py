"""What clients of LDAP say, and what they are told (RFC 4511)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum

import msgspec

from kith.identity.ldap_server.ber import (
    BOOLEAN,
    ENUMERATED,
    INTEGER,
    OCTETS,
    SEQUENCE,
    SET,
    BerError,
    BerReader,
    encode,
    encode_integer,
)
from kith.identity.ldap_server.filters import FilterTooLarge, SearchFilter, read_filter

__all__ = [
    "AbandonRequest",
    "BindRequest",
    "CompareRequest",
    "Control",
    "ExtendedRequest",
    "LargeRequest",
    "LdapMessage",
    "LdapRequest",
    "ResultCode",
    "Scope",
    "SearchRequest",
    "UnbindRequest",
    "WriteRequest",
    "entry",
    "paged_control",
    "read_message",
    "result",
]

PAGED = "1.2.840.113556.1.4.319"
MOST_ATTRIBUTES = 200
MOST_CONTROLS = 20
LONGEST_NAME = 4096
LONGEST_PASSWORD = 4096
HIGHEST_ID = 2**31 - 1


class ResultCode(IntEnum):
    """The few that are used here."""

    SUCCESS = 0
    OPERATIONS_ERROR = 1
    PROTOCOL_ERROR = 2
    TIME_LIMIT = 3
    SIZE_LIMIT = 4
    COMPARE_FALSE = 5
    COMPARE_TRUE = 6
    AUTH_METHOD_NOT_SUPPORTED = 7
    ADMIN_LIMIT = 11
    UNAVAILABLE_CRITICAL_EXTENSION = 12
    CONFIDENTIALITY_REQUIRED = 13
    NO_SUCH_ATTRIBUTE = 16
    NO_SUCH_OBJECT = 32
    INVALID_DN = 34
    INAPPROPRIATE_AUTHENTICATION = 48
    INVALID_CREDENTIALS = 49
    INSUFFICIENT_ACCESS = 50
    BUSY = 51
    UNAVAILABLE = 52
    UNWILLING = 53
    OTHER = 80


class Scope(IntEnum):
    BASE = 0
    ONE_LEVEL = 1
    SUBTREE = 2


class LdapRequest(msgspec.Struct, frozen=True):
    """`answer` is the tag of what answers it; 0: nothing does."""

    @property
    def answer(self) -> int:
        return 0


class BindRequest(LdapRequest, frozen=True):
    """`password` is None for what is not a simple bind."""

    version: int
    name: str
    password: str | None

    @property
    def answer(self) -> int:
        return 0x61


class UnbindRequest(LdapRequest, frozen=True):
    pass


class AbandonRequest(LdapRequest, frozen=True):
    message_id: int


class SearchRequest(LdapRequest, frozen=True):
    """Nothing is followed or dereferenced: there are no aliases and no referrals here."""

    base: str
    scope: Scope
    size_limit: int
    time_limit: int
    types_only: bool
    filter: SearchFilter
    attributes: tuple[str, ...]

    @property
    def answer(self) -> int:
        return 0x65


class CompareRequest(LdapRequest, frozen=True):
    name: str
    attribute: str
    value: str

    @property
    def answer(self) -> int:
        return 0x6F


class ExtendedRequest(LdapRequest, frozen=True):
    oid: str
    value: bytes | None

    @property
    def answer(self) -> int:
        return 0x78


class WriteRequest(LdapRequest, frozen=True):
    """Something that would change the tree, whatever it is."""

    answers_with: int

    @property
    def answer(self) -> int:
        return self.answers_with


class LargeRequest(LdapRequest, frozen=True):
    """A search whose filter is larger than what is worked out here."""

    words: str

    @property
    def answer(self) -> int:
        return 0x65


class Control(msgspec.Struct, frozen=True):
    oid: str
    is_critical: bool
    value: bytes


class LdapMessage(msgspec.Struct, frozen=True):
    id: int
    request: LdapRequest
    controls: tuple[Control, ...]


_WRITES = {0x66: 0x67, 0x68: 0x69, 0x4A: 0x6B, 0x6C: 0x6D}  # modify, add, delete, rename


def read_message(data: bytes) -> LdapMessage:
    """One whole message; `BerError` for whatever is none."""
    message = BerReader(data).inside(SEQUENCE)
    message_id = message.integer()
    if not 0 < message_id <= HIGHEST_ID:
        raise BerError("a message without a number")
    tag = message.peek()
    request = _read_request(tag, message.inside(None))
    controls = _read_controls(message.inside(0xA0)) if message.peek() == 0xA0 else ()
    return LdapMessage(message_id, request, controls)


def _read_request(tag: int, inside: BerReader) -> LdapRequest:
    match tag:
        case 0x60:
            return _read_bind(inside)
        case 0x42:
            return UnbindRequest()
        case 0x63:
            try:
                return _read_search(inside)
            except FilterTooLarge as error:
                return LargeRequest(str(error))
        case 0x6E:
            name, assertion = _text(inside.octets(), LONGEST_NAME), inside.inside(SEQUENCE)
            return CompareRequest(name, _text(assertion.octets(), 200).lower(), _text(assertion.octets(), LONGEST_NAME))
        case 0x50:
            return AbandonRequest(int.from_bytes(inside.rest()[:8], "big", signed=True))
        case 0x77:
            oid = _text(inside.octets(0x80), 200)
            return ExtendedRequest(oid, inside.octets(0x81) if inside.peek() == 0x81 else None)
    if tag in _WRITES:
        return WriteRequest(_WRITES[tag])
    raise BerError(f"a request of the unknown kind {tag}")


def _read_bind(inside: BerReader) -> BindRequest:
    version, name = inside.integer(), _text(inside.octets(), LONGEST_NAME)
    if inside.peek() != 0x80:
        return BindRequest(version, name, None)
    return BindRequest(version, name, _text(inside.octets(0x80), LONGEST_PASSWORD))


def _read_search(inside: BerReader) -> SearchRequest:
    base = _text(inside.octets(), LONGEST_NAME)
    scope = inside.integer(ENUMERATED)
    inside.integer(ENUMERATED)  # aliases
    size_limit, time_limit = inside.integer(INTEGER), inside.integer(INTEGER)
    types_only = inside.boolean(BOOLEAN)
    asked = read_filter(inside)
    attributes = tuple(_text(within.rest(), 200) for _, within in inside.inside(SEQUENCE).elements())
    if scope not in (0, 1, 2) or size_limit < 0 or time_limit < 0 or len(attributes) > MOST_ATTRIBUTES:
        raise BerError("a search beyond all limits")
    return SearchRequest(base, Scope(scope), size_limit, time_limit, types_only, asked, attributes)


def _read_controls(inside: BerReader) -> tuple[Control, ...]:
    found: list[Control] = []
    while not inside.is_done:
        one = inside.inside(SEQUENCE)
        oid = _text(one.octets(), 200)
        is_critical = one.boolean() if one.peek() == BOOLEAN else False
        found.append(Control(oid, is_critical, one.octets() if one.peek() == OCTETS else b""))
        if len(found) > MOST_CONTROLS:
            raise BerError("too many controls")
    return tuple(found)


def _text(raw: bytes, most: int) -> str:
    if len(raw) > most:
        raise BerError("a text is too long")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise BerError("a text is not UTF-8") from error


# Answers


def result(
    message_id: int,
    tag: int,
    code: ResultCode,
    words: str = "",
    *,
    oid: str = "",
    value: bytes | None = None,
    controls: bytes = b"",
) -> bytes:
    """The end of an operation; `oid` and `value` are of extended ones."""
    body = encode_integer(code, ENUMERATED) + encode(OCTETS, b"") + encode(OCTETS, words.encode())
    if oid:
        body += encode(0x8A, oid.encode())
    if value is not None:
        body += encode(0x8B, value)
    return encode(SEQUENCE, encode_integer(message_id) + encode(tag, body) + controls)


def entry(
    message_id: int, name: str, attributes: Mapping[str, Sequence[str | bytes]], *, types_only: bool = False
) -> bytes:
    parts = b"".join(_attribute(one, () if types_only else values) for one, values in attributes.items())
    body = encode(0x64, encode(OCTETS, name.encode()) + encode(SEQUENCE, parts))
    return encode(SEQUENCE, encode_integer(message_id) + body)


def _attribute(name: str, values: Iterable[str | bytes]) -> bytes:
    found = b"".join(encode(OCTETS, one if isinstance(one, bytes) else one.encode()) for one in values)
    return encode(SEQUENCE, encode(OCTETS, name.encode()) + encode(SET, found))


def paged_control(cookie: bytes) -> bytes:
    """How the next page is asked for (RFC 2696); without a cookie there is none. How many there are is not told."""
    value = encode(SEQUENCE, encode_integer(0) + encode(OCTETS, cookie))
    return encode(0xA0, encode(SEQUENCE, encode(OCTETS, PAGED.encode()) + encode(OCTETS, value)))
