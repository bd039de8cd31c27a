"""Filters of RFC 7644, section 3.4.2.2: read within limits, and asked of documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

import msgspec

from kith.identity.scim.attributes import ResourceType, ScimAttribute
from kith.identity.scim.errors import ScimError

MOST_CHARACTERS = 2_000
MOST_DEPTH = 10
MOST_TERMS = 50
_TOKEN = re.compile(r'\s*(?:([()\[\]])|("(?:[^"\\]|\\.)*")|([^\s()\[\]"]+))')
_OPERATORS = frozenset({"eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"})
_ORDERED = frozenset({"gt", "ge", "lt", "le"})
_TEXT_ONLY = frozenset({"co", "sw", "ew"})
_NAME = re.compile(r"[A-Za-z$][\w$-]*(?:\.[A-Za-z$][\w$-]*)?")


class AttributePath(msgspec.Struct, frozen=True):
    """`schema` is that of an extension, or empty; `sub` is a part of a complex attribute, or empty."""

    schema: str
    name: str
    sub: str = ""


class Comparison(msgspec.Struct, frozen=True):
    """`operator` is `pr` where only a value must be present."""

    path: AttributePath
    operator: str
    value: Any = None


class Both(msgspec.Struct, frozen=True):
    parts: tuple[FilterNode, ...]


class Either(msgspec.Struct, frozen=True):
    parts: tuple[FilterNode, ...]


class Opposite(msgspec.Struct, frozen=True):
    inner: FilterNode


class OneValue(msgspec.Struct, frozen=True):
    """One value of an attribute must fit the whole filter in brackets."""

    path: AttributePath
    inner: FilterNode


FilterNode: TypeAlias = Comparison | Both | Either | Opposite | OneValue


class ChangePath(msgspec.Struct, frozen=True):
    """What a PATCH operation is about: an attribute, some of its values, or a part of them."""

    path: AttributePath
    values: FilterNode | None = None


def read_filter(kind: ResourceType, text: str) -> FilterNode:
    """Raises `invalidFilter`."""
    reader = _Reader(kind, text, "invalidFilter")
    found = reader.either(0)
    reader.expect_end()
    return found


def read_path(kind: ResourceType, text: str) -> ChangePath:
    """The path of a PATCH operation; raises `invalidPath`."""
    reader = _Reader(kind, text, "invalidPath")
    found = reader.change_path()
    reader.expect_end()
    return found


class _Reader:
    """Walks once over the tokens; depth and terms are counted on the way."""

    def __init__(self, kind: ResourceType, text: str, wrong: str) -> None:
        self._kind = kind
        self._wrong = wrong
        if len(text) > MOST_CHARACTERS:
            raise self.error(f"it has more than {MOST_CHARACTERS} characters")
        self._tokens = list(self._split(text))
        self._at = 0
        self._terms = 0

    def error(self, words: str) -> ScimError:
        return ScimError(f"This filter or path cannot be read: {words}.", self._wrong)

    def _split(self, text: str) -> Iterator[str]:
        at, text = 0, text.rstrip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise self.error("a quotation mark is left open")
            yield found[1] or found[2] or found[3]
            at = found.end()

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        word = self._peek()
        if not word:
            raise self.error("it ends too early")
        self._at += 1
        return word

    def _expect(self, wanted: str) -> None:
        if self._next() != wanted:
            raise self.error(f"{wanted} is missing")

    def expect_end(self) -> None:
        if self._peek():
            raise self.error(f"{self._peek()[:50]} stands where nothing more is expected")

    def either(self, depth: int, within: AttributePath | None = None) -> FilterNode:
        if depth > MOST_DEPTH:
            raise self.error(f"it is nested deeper than {MOST_DEPTH} levels")
        parts = [self._both(depth, within)]
        while self._peek().lower() == "or":
            self._at += 1
            parts.append(self._both(depth, within))
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _both(self, depth: int, within: AttributePath | None) -> FilterNode:
        parts = [self._term(depth, within)]
        while self._peek().lower() == "and":
            self._at += 1
            parts.append(self._term(depth, within))
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def _term(self, depth: int, within: AttributePath | None) -> FilterNode:
        self._terms += 1
        if self._terms > MOST_TERMS:
            raise self.error(f"it has more than {MOST_TERMS} terms")
        word = self._next()
        if word == "(" or word.lower() == "not":
            if word != "(":
                self._expect("(")
            inner = self.either(depth + 1, within)
            self._expect(")")
            return inner if word == "(" else Opposite(inner)
        path = self._path(word, within)
        if self._peek() == "[" and within is None:
            self._at += 1
            inner = self.either(depth + 1, path)
            self._expect("]")
            return OneValue(path, inner)
        return self._comparison(path)

    def _comparison(self, path: AttributePath) -> Comparison:
        operator = self._next().lower()
        if operator == "pr":
            return Comparison(path, operator)
        if operator not in _OPERATORS:
            raise self.error(f"{operator[:20]} is no operator")
        value = self._value(self._next())
        if operator in _TEXT_ONLY and not isinstance(value, str):
            raise self.error(f"{operator} needs a text")
        if operator in _ORDERED and (value is None or isinstance(value, bool)):
            raise self.error(f"{operator} needs a text or a number")
        return Comparison(path, operator, value)

    def _value(self, word: str) -> Any:
        try:
            value = msgspec.json.decode(word if word.startswith('"') else word.lower())
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise self.error(
                f"{word[:50]} is neither a text in quotation marks, a number, true, false nor null"
            ) from error
        if isinstance(value, dict | list):
            raise self.error("a single value is expected")
        return value

    def _path(self, word: str, within: AttributePath | None) -> AttributePath:
        schema, rest = ("", word) if within is not None else self._kind.split(word)
        if not _NAME.fullmatch(rest):
            raise self.error(f"{word[:50]} is no attribute")
        name, _, sub = rest.partition(".")
        return AttributePath(schema, name, sub)

    def change_path(self) -> ChangePath:
        word = self._next()
        schema, rest = self._kind.split(word)
        if not rest:
            return ChangePath(AttributePath(schema, ""))
        path = self._path(word, None)
        if self._peek() != "[":
            return ChangePath(path)
        self._at += 1
        values = self.either(1, path)
        self._expect("]")
        sub = self._peek()
        if sub.startswith(".") and _NAME.fullmatch(sub[1:]):
            self._at += 1
            path = AttributePath(path.schema, path.name, sub[1:])
        return ChangePath(path, values)


# Asking


def fits(kind: ResourceType, node: FilterNode, document: Mapping[str, Any]) -> bool:
    """Whether a document fits; an attribute that nobody knows has no value."""
    match node:
        case Both(parts):
            return all(fits(kind, one, document) for one in parts)
        case Either(parts):
            return any(fits(kind, one, document) for one in parts)
        case Opposite(inner):
            return not fits(kind, inner, document)
        case OneValue(path, inner):
            attribute = kind.find(path.schema, path.name)
            return attribute is not None and any(
                value_fits(attribute, inner, one) for one in _values(kind, path, document)
            )
        case Comparison(path):
            attribute = kind.find(path.schema, path.name)
            if attribute is None:
                return node.operator == "ne"
            return _compared(attribute, path.sub, node, _values(kind, path, document))


def value_fits(attribute: ScimAttribute, node: FilterNode, value: Any) -> bool:
    """Whether one value of a complex attribute fits a filter in brackets."""
    match node:
        case Both(parts):
            return all(value_fits(attribute, one, value) for one in parts)
        case Either(parts):
            return any(value_fits(attribute, one, value) for one in parts)
        case Opposite(inner):
            return not value_fits(attribute, inner, value)
        case Comparison(path):
            return _compared(attribute, path.name, node, [value])
        case _:
            return False


def _values(kind: ResourceType, path: AttributePath, document: Mapping[str, Any]) -> list[Any]:
    attribute = kind.find(path.schema, path.name)
    place = document.get(path.schema, {}) if path.schema else document
    value = place.get(attribute.name) if attribute is not None and isinstance(place, Mapping) else None
    return value if isinstance(value, list) else [] if value is None else [value]


def _compared(attribute: ScimAttribute, sub: str, node: Comparison, values: list[Any]) -> bool:
    if attribute.type == "complex":
        part = attribute.part(sub or "value")
        if part is None and node.operator == "pr" and not sub:
            return bool(values)
        if part is None:
            return node.operator == "ne"
        attribute, values = part, [one[part.name] for one in values if isinstance(one, Mapping) and part.name in one]
    if node.operator == "pr":
        return any(one not in (None, "") for one in values)
    if node.operator == "ne":
        return not any(_is(attribute, "eq", one, node.value) for one in values)
    if node.operator == "eq" and node.value is None:
        return not values
    return any(_is(attribute, node.operator, one, node.value) for one in values)


def _is(attribute: ScimAttribute, operator: str, ours: Any, wanted: Any) -> bool:
    if isinstance(ours, bool) or isinstance(wanted, bool):
        return operator == "eq" and _as_boolean(ours) == _as_boolean(wanted)
    if isinstance(ours, str) != isinstance(wanted, str):
        return False
    if attribute.type == "dateTime" and isinstance(ours, str):
        ours, wanted = _moment(ours) or ours, _moment(wanted) or wanted
        if type(ours) is not type(wanted):
            return False
    elif isinstance(ours, str) and not attribute.exact:
        ours, wanted = ours.casefold(), wanted.casefold()
    return bool(_OPERATIONS[operator](ours, wanted))


_OPERATIONS: dict[str, Any] = {
    "eq": lambda ours, wanted: ours == wanted,
    "co": lambda ours, wanted: isinstance(ours, str) and wanted in ours,
    "sw": lambda ours, wanted: isinstance(ours, str) and ours.startswith(wanted),
    "ew": lambda ours, wanted: isinstance(ours, str) and ours.endswith(wanted),
    "gt": lambda ours, wanted: ours > wanted,
    "ge": lambda ours, wanted: ours >= wanted,
    "lt": lambda ours, wanted: ours < wanted,
    "le": lambda ours, wanted: ours <= wanted,
}


def _as_boolean(value: Any) -> Any:
    return {"true": True, "false": False}.get(value.lower(), value) if isinstance(value, str) else value


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def terms_in(node: FilterNode) -> int:
    """How many comparisons it takes to ask a filter of one value."""
    match node:
        case Both(parts) | Either(parts):
            return sum(terms_in(one) for one in parts)
        case Opposite(inner) | OneValue(_, inner):
            return terms_in(inner)
        case _:
            return 1


def sought(node: FilterNode, name: str, sub: str = "") -> str | None:
    """The one text that an attribute must equal for the filter to fit; None if the filter leaves that open."""
    match node:
        case Comparison(path, "eq", str(value)) if path.name.lower() == name.lower() and not path.schema:
            return value if path.sub.lower() in ("", sub) else None
        case OneValue(path, inner) if path.name.lower() == name.lower() and not path.schema and sub:
            return sought(inner, sub)
        case Both(parts):
            return next((found for one in parts if (found := sought(one, name, sub)) is not None), None)
    return None
