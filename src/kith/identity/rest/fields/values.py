"""Fields for numbers, booleans, choices, objects and dates."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Boolean as SQLBoolean
from sqlalchemy import Float, String
from sqlalchemy import Integer as SQLInteger
from sqlalchemy.types import TypeEngine

from kith.base.db import Document, Instant
from kith.base.moments import read_moment
from kith.identity.rest.fields.base import I32, Field, InvalidValue, shown, type_name

_TRUE = {"true", "t", "y", "yes", "on", "1"}


_FALSE = {"false", "f", "n", "no", "off", "0"}


class Integer(Field, frozen=True, kw_only=True):
    least: int = -I32 - 1
    most: int = I32

    def take(self, value: Any) -> int:
        number = self._number(value)
        if number > self.most:
            raise InvalidValue(f"Ensure this value is less than or equal to {self.most}.", "too_big")
        if number < self.least:
            raise InvalidValue(f"Ensure this value is greater than or equal to {self.least}.", "too_small")
        return number

    def _number(self, value: Any) -> int:
        if isinstance(value, str):
            if len(value) > 1000:
                raise InvalidValue("String value too large.")
            if re.fullmatch(r"\s*[+-]?[0-9]{1,40}(\.0*)?\s*", value):
                return int(value.partition(".")[0])
        elif isinstance(value, float) and value.is_integer():
            return int(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            return value
        raise InvalidValue("A valid integer is required.")

    def empty(self) -> int:
        return 0

    def holds(self) -> str:
        return "int"

    def sql_type(self) -> TypeEngine[Any]:
        return SQLInteger()

    def shape(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


class Number(Field, frozen=True, kw_only=True):
    least: float = -1e9
    most: float = 1e9

    def take(self, value: Any) -> float:
        try:
            number = float(value) if isinstance(value, (int, float, str)) and not isinstance(value, bool) else None
        except ValueError:
            number = None
        if number is None or number != number:  # noqa: PLR0124 - not a number is not itself
            raise InvalidValue("A valid number is required.")
        if not self.least <= number <= self.most:
            raise InvalidValue(f"Ensure this value is between {self.least} and {self.most}.")
        return number

    def empty(self) -> float:
        return 0.0

    def holds(self) -> str:
        return "float"

    def sql_type(self) -> TypeEngine[Any]:
        return Float()

    def shape(self) -> dict[str, Any]:
        return {"type": "number", "minimum": self.least, "maximum": self.most}


class Boolean(Field, frozen=True, kw_only=True):
    def take(self, value: Any) -> bool:
        if isinstance(value, bool):
            return value
        word = str(value).lower() if isinstance(value, (str, int)) else ""
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
        raise InvalidValue("Must be a valid boolean.")

    def empty(self) -> bool:
        return False

    def holds(self) -> str:
        return "bool"

    def sql_type(self) -> TypeEngine[Any]:
        return SQLBoolean()

    def shape(self) -> dict[str, Any]:
        return {"type": "boolean"}


class Choice(Field, frozen=True, kw_only=True):
    choices: tuple[Any, ...]
    also: dict[Any, Any] = {}  # noqa: RUF012 - a struct copies its defaults

    def take(self, value: Any) -> Any:
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            if value in self.choices:
                return value
            if value in self.also:
                return self.also[value]
            whole = [choice for choice in self.choices if isinstance(choice, int) and str(choice) == value]
            if whole:
                return whole[0]
        raise InvalidValue(f'"{shown(value)}" is not a valid choice.')

    def empty(self) -> Any:
        return self.choices[0]

    def holds(self) -> str:
        return "int" if isinstance(self.choices[0], int) else "str"

    def sql_type(self) -> TypeEngine[Any]:
        return SQLInteger() if isinstance(self.choices[0], int) else String(100)

    def shape(self) -> dict[str, Any]:
        kind = "integer" if isinstance(self.choices[0], int) else "string"
        return {"type": kind, "enum": [*self.choices, *self.also]}


class Choices(Field, frozen=True, kw_only=True):
    """A list of words, each one of `choices` (any word where there are none), in the order sent."""

    choices: tuple[Any, ...] = ()
    also: dict[Any, Any] = {}  # noqa: RUF012 - a struct copies its defaults
    may_be_empty: bool = True
    most: int = 100

    def take(self, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise InvalidValue(f'Expected a list of items but got type "{type_name(value)}".')
        if not value and not self.may_be_empty:
            raise InvalidValue("This list may not be empty.")
        if len(value) > self.most:
            raise InvalidValue(f"Ensure this field has no more than {self.most} elements.")
        return list(dict.fromkeys(self._one(item) for item in value))

    def _one(self, item: Any) -> Any:
        if isinstance(item, (str, int)) and not isinstance(item, bool):
            if item in self.also:
                return self.also[item]
            if item in self.choices or (not self.choices and isinstance(item, str) and 0 < len(item) <= 500):
                return item
        raise InvalidValue(f'"{shown(item)}" is not a valid choice.')

    def empty(self) -> list[Any]:
        return []

    @property
    def is_scalar(self) -> bool:
        return False

    def holds(self) -> str:
        return "list[int]" if self.choices and isinstance(self.choices[0], int) else "list[str]"

    def sql_type(self) -> TypeEngine[Any]:
        return Document()

    def shape(self) -> dict[str, Any]:
        item: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 500}
        if self.choices:
            item = {"enum": [*self.choices, *self.also]}
        shape = {"type": "array", "items": item, "maxItems": self.most}
        return shape if self.may_be_empty else shape | {"minItems": 1}


class Object(Field, frozen=True, kw_only=True):
    """A JSON object of limited size.

    `hides` is the permission that it takes to change what is a password in it (`HiddenAttributes`): to anybody else,
    and in lists, that is masked, and its mask sent back changes nothing.
    """

    hides: str = ""
    MOST_BYTES = 64 * 1024

    def take(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise InvalidValue(f'Expected a dictionary of items but got type "{type_name(value)}".')
        try:
            encoded = msgspec.json.encode(value)
        except (UnicodeEncodeError, ValueError):
            raise InvalidValue("Value must be valid JSON.") from None
        if len(encoded) > self.MOST_BYTES:
            raise InvalidValue(f"Ensure this field has no more than {self.MOST_BYTES} bytes.")
        if b"\\u0000" in encoded:
            raise InvalidValue("Null characters are not allowed.")
        return value

    def empty(self) -> dict[str, Any]:
        return {}

    @property
    def is_scalar(self) -> bool:
        return False

    def holds(self) -> str:
        return "dict[str, Any]"

    def sql_type(self) -> TypeEngine[Any]:
        return Document()

    def shape(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": True}


class Moment(Field, frozen=True, kw_only=True):
    _FORMAT = "YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z]"

    def take(self, value: Any) -> datetime:
        at = read_moment(value) if isinstance(value, str) and len(value) >= 16 else None
        if at is not None:
            return at
        raise InvalidValue(f"Datetime has wrong format. Use one of these formats instead: {self._FORMAT}.")

    def holds(self) -> str:
        return "datetime"

    def sql_type(self) -> TypeEngine[Any]:
        return Instant()

    def shape(self) -> dict[str, Any]:
        return {"type": "string", "format": "date-time"}
