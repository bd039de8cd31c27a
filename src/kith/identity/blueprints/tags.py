"""What the tags of a blueprint stand for until its entries are applied."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = [
    "AtIndex",
    "BadBlueprint",
    "BlueprintTag",
    "Condition",
    "Context",
    "Enumerate",
    "Env",
    "File",
    "Find",
    "Format",
    "If",
    "Index",
    "Item",
    "KeyOf",
    "Sealed",
]


class BadBlueprint(Exception):  # noqa: N818 - it is the blueprint that is bad
    """The blueprint cannot be read or applied; the message says where and why, in words for its author."""


class BlueprintTag(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is worked out when an entry is applied; `line` is where it stands."""

    line: int = 0


class KeyOf(BlueprintTag, frozen=True):
    """The record of another entry of the same file, by that entry's `id`."""

    id: str


class Find(BlueprintTag, frozen=True):
    """A record that is there already, or nothing; with `whole` its fields instead of its identifier."""

    model: str
    wanted: tuple[tuple[str, Any], ...]
    whole: bool = False


class Context(BlueprintTag, frozen=True):
    key: str
    default: Any = None


class Env(BlueprintTag, frozen=True):
    name: str
    default: Any = None


class File(BlueprintTag, frozen=True):
    path: str
    default: Any = msgspec.UNSET


class Format(BlueprintTag, frozen=True):
    text: Any
    values: tuple[Any, ...]


class If(BlueprintTag, frozen=True):
    condition: Any
    then: Any
    otherwise: Any


class Condition(BlueprintTag, frozen=True):
    mode: str
    values: tuple[Any, ...]


class Enumerate(BlueprintTag, frozen=True):
    """`body` once for each of `items`, as a list or (pairs of key and value) as a mapping."""

    items: Any
    is_mapping: bool
    body: Any


class Index(BlueprintTag, frozen=True):
    """The place of the item at hand, of the enumeration `depth` levels further out."""

    depth: int


class Item(BlueprintTag, frozen=True):
    depth: int


class AtIndex(BlueprintTag, frozen=True):
    of: Any
    key: Any
    default: Any = msgspec.UNSET


class Sealed(BlueprintTag, frozen=True):
    """A secret that only opens with the key it was exported with."""

    text: str
