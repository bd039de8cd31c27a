"""Readers for what holds other values: lists, objects, choices and unions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence, Sized
from typing import Any, NamedTuple

from kith.base.params.values import Dropped, Reader, Wrong, choice_reader, read_text, wrong

__all__ = ["BLANK", "ParameterShape", "choice_shape", "dict_reader", "list_reader", "union_shape"]

BLANK = "can't be blank"
_LONGEST_INDEX = 18
_MOST_COMPLAINTS = 100  # an answer must not be many times longer than the request


class ParameterShape(NamedTuple):
    """How to read a type; `keeps_blank` says that empty text is a value of its own, not the lack of one."""

    read: Reader
    is_optional: bool = False
    keeps_blank: bool = False
    is_loose: bool = False  # what is no object is dropped

    def read_item(self, value: Any) -> Any:
        if value is None or (value == "" and not self.keeps_blank):
            if self.is_loose:
                raise Dropped
            if self.is_optional:
                return None
            raise wrong(BLANK, "null" if value is None else "empty")
        return self.read(value)


def choice_shape(choices: Sequence[tuple[Any, Any]]) -> ParameterShape:
    wires = [wire for wire, _ in choices]
    reader = choice_reader([(wire, meant) for wire, meant in choices if wire is not None])
    return ParameterShape(reader, is_optional=None in wires, keeps_blank="" in wires)


def union_shape(shapes: Sequence[ParameterShape], *, has_none: bool) -> ParameterShape:
    """Of several types the first that accepts the value reads it, in the order they are written."""
    *others, last = shapes
    is_optional = has_none or any(shape.is_optional for shape in shapes)
    keeps_blank = any(shape.keeps_blank for shape in shapes)
    if not others:
        return ParameterShape(last.read, is_optional, keeps_blank, last.is_loose)

    def read(value: Any) -> Any:
        for shape in others:
            try:
                return shape.read(value)
            except Wrong:
                continue
        return last.read(value)

    return ParameterShape(read, is_optional, keeps_blank)


def list_reader(item: ParameterShape, build: Callable[[list[Any]], Any], check: Callable[[Sized], None]) -> Reader:
    """Empty text among what is not text is dropped: so a form sends a list without elements.

    Where loose objects belong, text or a number in place of the list is dropped as a whole.
    """
    drops_blank = not (item.keeps_blank or item.is_optional)

    def read(value: Any) -> Any:
        bad: dict[str, list[str]] = {}
        items: list[Any] = []
        if item.is_loose and not isinstance(value, list | Mapping):
            raise Dropped
        for index, element in enumerate(_as_list(value)):
            if drops_blank and element == "":
                continue
            try:
                items.append(item.read_item(element))
            except Dropped:
                continue
            except Wrong as found:
                found.add_to(bad, str(index))
                if len(bad) >= _MOST_COMPLAINTS:
                    break
        if bad:
            raise Wrong(bad)
        check(items)
        return build(items)

    return read


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping) and all(map(_is_index, value)):
        indexed = [(int(key), element) for key, element in value.items()]
        return [element for _, element in sorted(indexed, key=operator.itemgetter(0))]
    return [value]


def _is_index(key: Any) -> bool:
    return isinstance(key, str) and key.isascii() and key.isdigit() and len(key) <= _LONGEST_INDEX


def dict_reader(item: ParameterShape, check: Callable[[Sized], None]) -> Reader:
    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise wrong("is not an object", "not_an_object")
        bad: dict[str, list[str]] = {}
        items: dict[str, Any] = {}
        for key, element in value.items():
            try:
                items[read_text(key)] = item.read_item(element)
            except Wrong as found:
                found.add_to(bad, str(key).encode(errors="replace").decode())
                if len(bad) >= _MOST_COMPLAINTS:
                    break
        if bad:
            raise Wrong(bad)
        check(items)
        return items

    return read
