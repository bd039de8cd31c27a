"""Fields that refer to other records."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import Column, ForeignKey
from sqlalchemy import Integer as SQLInteger
from sqlalchemy.types import TypeEngine

from kith.base.db import UID
from kith.identity.rest.fields.base import I32, Field, InvalidValue, read_uuid, shown, type_name


class Reference(Field, frozen=True, kw_only=True):
    """The identifier of one other record: `to` is `table.column`; `on_delete` is what its end does to this one.

    `sent_to` is as of a `Secret`, where what the other record holds is sent there: whoever names it, or changes the
    place, may change that record (`needs`).
    """

    to: str
    on_delete: str = "SET NULL"
    where: tuple[tuple[str, Any], ...] = ()  # columns the other record must have these values in
    integer: bool = False
    sent_to: tuple[str, ...] = ()
    needs: str = ""

    def take(self, value: Any) -> Any:
        return read_identifier(value, integer=self.integer)

    def holds(self) -> str:
        return "int" if self.integer else "str"

    def sql_type(self) -> TypeEngine[Any]:
        return SQLInteger() if self.integer else UID()

    def column(self) -> Column[Any]:
        return Column(
            self.name,
            self.sql_type(),
            ForeignKey(self.to, ondelete=self.on_delete),
            nullable=self.null,
            unique=self.unique or None,
            index=None if self.unique else True,
        )

    def shape(self) -> dict[str, Any]:
        return {"type": "integer"} if self.integer else {"type": "string", "format": "uuid"}


def read_identifier(value: Any, *, integer: bool) -> Any:
    """The identifier as it is stored; one of the wrong form gets the error of one that does not exist."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise InvalidValue(f"Incorrect type. Expected pk value, received {type_name(value)}.")
    if not integer:
        found = read_uuid(value)
        if found is not None:
            return found
    elif (isinstance(value, int) or re.fullmatch(r"[0-9]{1,10}", value)) and 0 <= int(value) <= I32:
        return int(value)
    raise missing(value)


def missing(value: object) -> InvalidValue:
    return InvalidValue(f'Invalid pk "{shown(value)}" - object does not exist.', "does_not_exist")


class References(Field, frozen=True, kw_only=True):
    """A list of identifiers in a link table; `owner` is its column for this record, `other` for those listed."""

    to: str
    link: Any = None  # the link table
    owner: str = "owner"
    other: str = "other"
    ends: str = ""  # its column for when an entry ends, where entries may
    where: tuple[tuple[str, Any], ...] = ()
    integer: bool = False
    may_be_empty: bool = True
    most: int = 100_000

    def take(self, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise InvalidValue(f'Expected a list of items but got type "{type_name(value)}".')
        if not value and not self.may_be_empty:
            raise InvalidValue("This list may not be empty.")
        if len(value) > self.most:
            raise InvalidValue(f"Ensure this field has no more than {self.most} elements.")
        return list(dict.fromkeys(read_identifier(item, integer=self.integer) for item in value))

    def empty(self) -> list[Any]:
        return []

    def holds(self) -> str:
        return "list[int]" if self.integer else "list[str]"

    @property
    def is_stored(self) -> bool:
        return False

    def shape(self) -> dict[str, Any]:
        item = {"type": "integer"} if self.integer else {"type": "string", "format": "uuid"}
        shape = {"type": "array", "items": item, "uniqueItems": True}
        return shape if self.may_be_empty else shape | {"minItems": 1}
