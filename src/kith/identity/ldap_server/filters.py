"""Search filters (RFC 4511, 4.5.1.7), read within limits. What cannot be told of an entry is neither yes nor no."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import msgspec

from kith.identity.distinguished_names import squeezed
from kith.identity.ldap_server.ber import OCTETS, SEQUENCE, BerError, BerReader

__all__ = [
    "And",
    "AtLeast",
    "AtMost",
    "Equal",
    "FilterTooLarge",
    "Lookup",
    "Not",
    "Or",
    "Present",
    "SearchFilter",
    "Substring",
    "Undefined",
    "candidates",
    "holds",
    "read_filter",
]

MOST_DEPTH = 20
MOST_TESTS = 500
PRICE_OF_PARTS = 5  # every value is searched for them, while others are looked up
LONGEST_VALUE = 4096

# The values of an attribute, `squeezed`; empty where an entry has none of that name, None where they are not known yet.
Lookup = Callable[[str], Collection[str] | None]


class FilterTooLarge(BerError):  # noqa: N818 - the filter is
    """It may be a filter, but a larger one than is worked out here."""


class _NotText(Exception):  # noqa: N818 - a value that no attribute can have
    pass


class SearchFilter(msgspec.Struct, frozen=True):
    """One test, or several together."""


class And(SearchFilter, frozen=True):
    of: tuple[SearchFilter, ...]


class Or(SearchFilter, frozen=True):
    of: tuple[SearchFilter, ...]


class Not(SearchFilter, frozen=True):
    of: SearchFilter


class Equal(SearchFilter, frozen=True):
    attribute: str
    value: str


class AtLeast(SearchFilter, frozen=True):
    attribute: str
    value: str


class AtMost(SearchFilter, frozen=True):
    attribute: str
    value: str


class Substring(SearchFilter, frozen=True):
    """The value begins with, then holds in this order, and ends with."""

    attribute: str
    start: str
    middle: tuple[str, ...]
    end: str


class Present(SearchFilter, frozen=True):
    attribute: str


class Undefined(SearchFilter, frozen=True):
    """A test that is not known here."""


_AND, _OR, _NOT, _EQUAL, _PART, _AT_LEAST, _AT_MOST, _PRESENT, _APPROXIMATE = (
    0xA0,
    0xA1,
    0xA2,
    0xA3,
    0xA4,
    0xA5,
    0xA6,
    0x87,
    0xA8,
)
_EXTENSIBLE = 0xA9


class _Budget:
    def __init__(self) -> None:
        self.left = MOST_TESTS

    def spend(self, price: int = 1) -> None:
        self.left -= price
        if self.left < 0:
            raise FilterTooLarge("the filter has too many tests")


def read_filter(reader: BerReader) -> SearchFilter:
    return _read(reader.peek(), reader.inside(None), 1, _Budget())


def _read(tag: int, inside: BerReader, depth: int, budget: _Budget) -> SearchFilter:
    budget.spend(PRICE_OF_PARTS if tag == _PART else 1)
    if depth > MOST_DEPTH:
        raise FilterTooLarge("the filter is too deep")
    try:
        return _read_test(tag, inside, depth, budget)
    except _NotText:
        return Undefined()


def _read_test(tag: int, inside: BerReader, depth: int, budget: _Budget) -> SearchFilter:
    match tag:
        case 0xA0 | 0xA1:
            parts = tuple(_read(one, within, depth + 1, budget) for one, within in inside.elements())
            return And(parts) if tag == _AND else Or(parts)
        case 0xA2:
            return Not(_read(inside.peek(), inside.inside(None), depth + 1, budget))
        case 0xA3 | 0xA8:
            return Equal(*_assertion(inside))
        case 0xA5:
            return AtLeast(*_assertion(inside))
        case 0xA6:
            return AtMost(*_assertion(inside))
        case 0xA4:
            return _read_part(inside, budget)
        case 0x87:
            return Present(_attribute(inside.rest()))
        case 0xA9:
            return Undefined()
    raise BerError("a filter of an unknown kind")


def _assertion(inside: BerReader) -> tuple[str, str]:
    return _attribute(inside.octets(OCTETS)), _value(inside.octets(OCTETS))


def _read_part(inside: BerReader, budget: _Budget) -> Substring:
    attribute = _attribute(inside.octets(OCTETS))
    start, end = "", ""
    middle: list[str] = []
    for tag, within in inside.inside(SEQUENCE).elements():
        budget.spend()
        value = _value(within.rest())
        if tag == 0x80 and not start and not middle and not end:
            start = value
        elif tag == 0x81 and not end:
            middle.append(value)
        elif tag == 0x82 and not end:
            end = value
        else:
            raise BerError("parts of a value in a strange order")
    return Substring(attribute, start, tuple(middle), end)


def _attribute(raw: bytes) -> str:
    """Names have no regard to case, and options such as `;binary` say nothing here."""
    if len(raw) > 200:
        raise BerError("an attribute's name is too long")
    return raw.decode("utf-8", "replace").partition(";")[0].lower()


def _value(raw: bytes) -> str:
    if len(raw) > LONGEST_VALUE:
        raise FilterTooLarge("a value in the filter is too long")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise _NotText from error
    if "\0" in text:
        raise _NotText
    return squeezed(text)


def holds(asked: SearchFilter, lookup: Lookup) -> bool | None:
    """Whether an entry is meant; None where that cannot be told."""
    match asked:
        case And(of):
            return _all(holds(one, lookup) for one in of)
        case Or(of):
            found = _all(None if (one := holds(part, lookup)) is None else not one for part in of)
            return None if found is None else not found
        case Not(of):
            inner = holds(of, lookup)
            return None if inner is None else not inner
        case Undefined():
            return None
        case Present(attribute):
            values = lookup(attribute)
            return None if values is None else bool(values)
    return _compare(asked, lookup)


def _all(results: object) -> bool | None:
    found: bool | None = True
    for one in results:  # type: ignore[attr-defined]
        if one is False:
            return False
        if one is None:
            found = None
    return found


def _compare(asked: SearchFilter, lookup: Lookup) -> bool | None:
    attribute: str = asked.attribute  # type: ignore[attr-defined]
    values = lookup(attribute)
    if values is None:
        return None
    if isinstance(asked, Equal):
        return asked.value in values
    return any(_fits(asked, value) for value in values)


def _fits(asked: SearchFilter, value: str) -> bool:
    match asked:
        case Substring(_, start, middle, end):
            return _has_parts(value, start, middle, end)
        case AtLeast(_, least):
            return _order(value, least) >= 0
        case AtMost(_, most):
            return _order(value, most) <= 0
    return False


def _order(one: str, other: str) -> int:
    """Numbers by their size, everything else by its letters."""
    if one.isascii() and other.isascii() and one.isdigit() and other.isdigit():
        first, second = (len(one.lstrip("0")), one.lstrip("0")), (len(other.lstrip("0")), other.lstrip("0"))
        return (first > second) - (first < second)
    return (one > other) - (one < other)


def _has_parts(value: str, start: str, middle: Sequence[str], end: str) -> bool:
    if not value.startswith(start):
        return False
    at = len(start)
    for part in middle:
        found = value.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return len(value) - at >= len(end) and value.endswith(end)


def candidates(asked: SearchFilter, indexed: frozenset[str]) -> frozenset[tuple[str, str]] | None:
    """Values of indexed attributes of which an entry has one at least, if the filter means it. None: it may be any."""
    match asked:
        case Equal(attribute, value) if attribute in indexed:
            return frozenset({(attribute, value)})
        case And(of):
            found = [one for one in (candidates(part, indexed) for part in of) if one is not None]
            return min(found, key=len) if found else None
        case Or(of):
            parts = [candidates(part, indexed) for part in of]
            if any(one is None for one in parts):
                return None
            return frozenset().union(*(one for one in parts if one is not None))
    return None
