"""BER as LDAP uses it (RFC 4511, 5.1): tags of one byte and definite lengths. Nothing is read twice or copied."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = [
    "BOOLEAN",
    "ENUMERATED",
    "INTEGER",
    "OCTETS",
    "SEQUENCE",
    "SET",
    "BerError",
    "BerReader",
    "encode",
    "encode_integer",
    "length_of",
]

BOOLEAN, INTEGER, OCTETS, ENUMERATED, SEQUENCE, SET = 0x01, 0x02, 0x04, 0x0A, 0x30, 0x31
_LONGEST_LENGTH = 4
_LONGEST_INTEGER = 8


class BerError(ValueError):
    """Not BER, or not the part of it that LDAP uses."""


class BerReader:
    """What stands in `data` from `at` to `end`, one element after the other."""

    __slots__ = ("_at", "_data", "_end")

    def __init__(self, data: bytes, at: int = 0, end: int | None = None) -> None:
        self._data = data
        self._at = at
        self._end = len(data) if end is None else end

    @property
    def is_done(self) -> bool:
        return self._at >= self._end

    def peek(self) -> int:
        """The tag of the next element; 0 where there is none."""
        return 0 if self.is_done else self._data[self._at]

    def _next(self, tag: int | None) -> tuple[int, int, int]:
        found = self.peek()
        if self.is_done or found & 0x1F == 0x1F or (tag is not None and found != tag):
            raise BerError(f"expected {tag}, found {found}")
        length = length_of(self._data, self._at + 1, self._end)
        if length is None or length[0] + length[1] > self._end:
            raise BerError("an element is longer than what holds it")
        start, size = length
        self._at = start + size
        return found, start, start + size

    def octets(self, tag: int | None = OCTETS) -> bytes:
        _, start, end = self._next(tag)
        return self._data[start:end]

    def integer(self, tag: int = INTEGER) -> int:
        _, start, end = self._next(tag)
        if not 0 < end - start <= _LONGEST_INTEGER:
            raise BerError("an integer of a strange length")
        return int.from_bytes(self._data[start:end], "big", signed=True)

    def boolean(self, tag: int = BOOLEAN) -> bool:
        value = self.octets(tag)
        if len(value) != 1:
            raise BerError("a boolean of a strange length")
        return value != b"\0"

    def inside(self, tag: int | None = SEQUENCE) -> BerReader:
        _, start, end = self._next(tag)
        return BerReader(self._data, start, end)

    def elements(self) -> Iterator[tuple[int, BerReader]]:
        """Each element's tag, and what is in it."""
        while not self.is_done:
            tag, start, end = self._next(None)
            yield tag, BerReader(self._data, start, end)

    def rest(self) -> bytes:
        """All that is left, as it is."""
        at, self._at = self._at, self._end
        return self._data[at : self._end]


def length_of(data: bytes | bytearray, at: int, end: int) -> tuple[int, int] | None:
    """Where the content begins, and its size; None where the length is not all here."""
    if at >= end:
        return None
    first = data[at]
    if first < 0x80:
        return at + 1, first
    count = first & 0x7F
    if not 0 < count <= _LONGEST_LENGTH:
        raise BerError("a length that is indefinite or endless")
    if at + 1 + count > end:
        return None
    return at + 1 + count, int.from_bytes(data[at + 1 : at + 1 + count], "big")


def encode(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return bytes((tag, size)) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(length))) + length + content


def encode_integer(value: int, tag: int = INTEGER) -> bytes:
    return encode(tag, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))
