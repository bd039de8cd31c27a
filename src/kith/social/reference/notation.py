"""How the tables of this room write down a type, and what that is in JSON Schema.

text  id  moment          a kind by its name
Account                   an entity by its name
[Account]                 a list
{*: text}                 an object whose keys are data
{title: text}             an object
'one' | 'other' | null    one of these
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

__all__ = [
    "KINDS",
    "AnyType",
    "ListType",
    "MapType",
    "NamedType",
    "ObjectType",
    "Type",
    "WordType",
    "parse",
    "schema_of",
]

Schema = dict[str, Any]


class NamedType(msgspec.Struct, frozen=True):
    name: str


class WordType(msgspec.Struct, frozen=True):
    words: tuple[str, ...]


class ListType(msgspec.Struct, frozen=True):
    of: Type


class MapType(msgspec.Struct, frozen=True):
    of: Type


class ObjectType(msgspec.Struct, frozen=True):
    """A key that ends in a question mark may be missing."""

    keys: dict[str, Type]


class AnyType(msgspec.Struct, frozen=True):
    types: tuple[Type, ...]
    or_null: bool


Type = NamedType | WordType | ListType | MapType | ObjectType | AnyType

_MOMENT = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}"
KINDS: dict[str, Schema] = {
    "text": {"type": "string"},
    "id": {"type": "string", "pattern": r"^-?[0-9]+$"},
    "digits": {"type": "string", "pattern": r"^[0-9]+$"},
    "url": {"type": "string", "format": "uri", "pattern": r"^https?://"},
    "moment": {"type": "string", "format": "date-time", "pattern": _MOMENT + r"\.\d{3}Z$"},
    "second": {"type": "string", "format": "date-time", "pattern": _MOMENT + "Z$"},
    "midnight": {"type": "string", "format": "date-time", "pattern": r"T00:00:00\.000Z$"},
    "date": {"type": "string", "format": "date", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
    "bool": {"type": "boolean"},
    "true": {"const": True},
    "int": {"type": "integer"},
    "number": {"type": "number"},
    "object": {"type": "object"},
    "empty": {"type": "object", "maxProperties": 0},
    "anything": {},
    "nothing": {"type": "null"},
    "follow_state": {
        "oneOf": [
            {"const": False},
            {"type": "object", "properties": {"reblogs": {"type": "boolean"}}, "required": ["reblogs"]},
        ]
    },
}
_TOKEN = re.compile(r"'[^']*'|[A-Za-z_][\w.]*\??|[\[\]{}:,|*]")


class _Reader:
    def __init__(self, text: str) -> None:
        self._tokens = _TOKEN.findall(text)
        if "".join(self._tokens) != re.sub(r"\s", "", text):
            raise ValueError(text)

    def take(self, wanted: str | None = None) -> str:
        found: str = self._tokens.pop(0)
        if wanted not in (None, found):
            raise ValueError(f"{found} where {wanted} belongs")
        return found

    def next_is(self, token: str) -> bool:
        return bool(self._tokens) and self._tokens[0] == token

    @property
    def is_empty(self) -> bool:
        return not self._tokens


def parse(text: str | dict[str, Any]) -> Type:
    """What a table of TOML stands for is an object, too."""
    if isinstance(text, dict):
        return ObjectType({name: parse(inner) for name, inner in text.items()})
    reader = _Reader(text)
    found = _any(reader)
    if not reader.is_empty:
        raise ValueError(text)
    return found


def _any(reader: _Reader) -> Type:
    words: list[str] = []
    types: list[Type] = []
    or_null = False
    while True:
        if reader.next_is("null"):
            reader.take()
            or_null = True
        else:
            one = _one(reader)
            if isinstance(one, WordType):
                words += one.words
            else:
                types.append(one)
        if not reader.next_is("|"):
            break
        reader.take()
    if words:
        types.append(WordType(tuple(words)))
    return types[0] if len(types) == 1 and not or_null else AnyType(tuple(types), or_null)


def _one(reader: _Reader) -> Type:
    word = reader.take()
    if word == "[":
        inner = _any(reader)
        reader.take("]")
        return ListType(inner)
    if word == "{":
        return _object(reader)
    return WordType((word.strip("'"),)) if word.startswith("'") else NamedType(word)


def _object(reader: _Reader) -> Type:
    keys: dict[str, Type] = {}
    while True:
        name = reader.take()
        reader.take(":")
        keys[name] = _any(reader)
        if reader.take() == "}":
            break
    return MapType(keys["*"]) if "*" in keys else ObjectType(keys)


def schema_of(one: Type) -> Schema:
    match one:
        case NamedType(name):
            return KINDS.get(name, {"$ref": f"#/components/schemas/{name}"})
        case WordType(words):
            return {"type": "string", "enum": list(words)}
        case ListType(of):
            return {"type": "array", "items": schema_of(of)}
        case MapType(of):
            return {"type": "object", "additionalProperties": schema_of(of)}
        case ObjectType(keys):
            return _schema_of_object(keys)
        case AnyType(types, or_null):
            return {"anyOf": [schema_of(inner) for inner in types] + [{"type": "null"}] * or_null}


def _schema_of_object(keys: dict[str, Type]) -> Schema:
    return {
        "type": "object",
        "properties": {name.removesuffix("?"): schema_of(inner) for name, inner in keys.items()},
        "required": [name for name in keys if not name.endswith("?")],
    }
