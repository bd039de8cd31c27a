"""What all fields have in common."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from sqlalchemy import Column
from sqlalchemy.types import TypeEngine

from kith.base.errors import Complaint

I32 = 2**31 - 1


MASK = "********"


_UUID = re.compile(
    r"(?:urn:uuid:)?\{?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})\}?\Z", re.IGNORECASE
)


# What JSON calls a type, and what a struct does.
_JSON_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "dict[str, Any]"}


_TYPE_NAMES = {
    type(None): "NoneType",
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    list: "list",
    dict: "dict",
}


class InvalidValue(Exception):  # noqa: N818 - the value is invalid
    """The value sent for a field is not valid."""

    def __init__(self, words: str, code: str = "invalid") -> None:
        super().__init__(words)
        self.complaint = Complaint(words, code)


def read_uuid(value: object) -> str | None:
    """The canonical text of a UUID in any usual form, or None."""
    found = _UUID.match(value) if isinstance(value, str) else None
    return "-".join(found.groups()).lower() if found else None


def type_name(value: object) -> str:
    return _TYPE_NAMES.get(type(value), type(value).__name__)


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """What all fields have in common. Without a default, an optional field gets the empty value of its type."""

    name: str
    required: bool = False
    required_unless: str = ""  # required of a new record that does not have this field, which decides about it
    null: bool = False
    default: Any = msgspec.UNSET
    read_only: bool = False
    write_only: bool = False
    unique: bool = False
    help: str = ""
    stored_as: str = ""  # the column's name, where it is not the field's
    alias: str = ""  # another name it may be sent under
    kept: bool = True  # False: it has no column; hooks act on it and `decorate` shows it
    # A secret may stand in it under any name: events have its fingerprint.
    private: bool = False
    # Also, it is shown only to those who may see secrets; its mask sent back changes nothing.
    guarded: bool = False

    def read(self, value: Any) -> Any:
        if value is None:
            if self.null:
                return None
            raise InvalidValue("This field may not be null.", "null")
        return self.take(value)

    def take(self, value: Any) -> Any:
        raise NotImplementedError

    def start(self) -> Any:
        """The value in a new record if none was sent."""
        if self.default is msgspec.UNSET:
            return None if self.null else self.empty()
        return self.default() if callable(self.default) else self.default

    def empty(self) -> Any:
        return None

    @property
    def is_stored(self) -> bool:
        return self.kept

    @property
    def is_scalar(self) -> bool:
        """Whether it may be sorted by."""
        return self.is_stored and not self.write_only and not self.guarded

    def sql_type(self) -> TypeEngine[Any]:
        raise NotImplementedError

    def holds(self) -> str:
        """The type of its values as a record's struct writes it, without None; empty where any will do."""
        raise NotImplementedError

    @property
    def annotation(self) -> str:
        holds = self.holds()
        return f"{holds} | None" if self.null and holds else holds

    def column(self) -> Column[Any]:
        return Column(self.column_name, self.sql_type(), nullable=self.null, unique=self.unique or None)

    @property
    def column_name(self) -> str:
        return self.stored_as or self.name

    def shape(self) -> dict[str, Any]:
        raise NotImplementedError

    def schema(self) -> dict[str, Any]:
        shape = dict(self.shape())
        if self.null and "type" in shape:
            shape["type"] = [shape["type"], "null"]
            if "enum" in shape:
                shape["enum"] = [*shape["enum"], None]
        if self.read_only:
            shape["readOnly"] = True
        if self.write_only:
            shape["writeOnly"] = True
        if self.default is not msgspec.UNSET and not callable(self.default):
            shape["default"] = self.default
        if self.help:
            shape["description"] = self.help
        return shape


class Computed(Field, frozen=True, kw_only=True):
    """A field that is not stored: computed when a record is shown."""

    read_only: bool = True
    form: dict[str, Any] = {}

    @property
    def is_stored(self) -> bool:
        return False

    def holds(self) -> str:
        match self.form:
            case {"type": [kind, "null"]}:
                return f"{_JSON_TYPES.get(kind, '')} | None"
            case {"type": "array", "items": {"type": kind}}:
                return f"list[{_JSON_TYPES[kind]}]"
            case {"type": "string", "format": "date-time"}:
                return "datetime"
            case {"type": kind}:
                return _JSON_TYPES.get(kind, "")
        return ""

    def shape(self) -> dict[str, Any]:
        return dict(self.form)


def shown(value: object) -> str:
    text = (
        value
        if isinstance(value, str)
        else msgspec.json.encode(value).decode()
        if not isinstance(value, float)
        else str(value)
    )
    return text if len(text) <= 100 else text[:100] + "..."
