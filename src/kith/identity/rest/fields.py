"""What a field of a record may hold: how it is read, stored and described, told once.

A field turns what a client sent into a value or refuses it in the identity API's words; it knows the column it
is stored in and its JSON schema. What needs the database (does this flow exist?) is not its business.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import msgspec
import yarl
from sqlalchemy import Boolean as SQLBoolean
from sqlalchemy import Column, Float, ForeignKey, String
from sqlalchemy import Integer as SQLInteger
from sqlalchemy import Text as SQLText
from sqlalchemy.types import TypeEngine

from kith.base.db import UID, Document, Instant
from kith.base.errors import Complaint

I32 = 2**31 - 1
MASK = "********"
_UUID = re.compile(
    r"(?:urn:uuid:)?\{?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})\}?\Z", re.IGNORECASE
)
_NOT_IN_URL = re.compile(r"[\s\x00-\x1f\x7f<>\"\\^`{|}]|%(?![0-9a-fA-F]{2})")
_TRUE = {"true", "t", "y", "yes", "on", "1"}
_FALSE = {"false", "f", "n", "no", "off", "0"}
_TYPE_NAMES = {
    type(None): "NoneType",
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    list: "list",
    dict: "dict",
}


class Refused(Exception):  # noqa: N818 - the value is refused
    """What was sent for one field cannot be taken."""

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
    """What all fields share. A field without a default that is not required takes its kind's empty value."""

    name: str
    required: bool = False
    null: bool = False
    default: Any = msgspec.UNSET
    read_only: bool = False
    write_only: bool = False
    unique: bool = False
    help: str = ""
    stored_as: str = ""  # the column's name, where it is not the field's
    alias: str = ""  # another name it may be sent under
    kept: bool = True  # False: it has no column; hooks act on it and `decorate` shows it

    def read(self, value: Any) -> Any:
        if value is None:
            if self.null:
                return None
            raise Refused("This field may not be null.", "null")
        return self.take(value)

    def take(self, value: Any) -> Any:
        raise NotImplementedError

    def start(self) -> Any:
        """The value of a new record that did not name this field."""
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
        return self.is_stored and not self.write_only

    def sql_type(self) -> TypeEngine[Any]:
        raise NotImplementedError

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


class Text(Field, frozen=True, kw_only=True):
    most: int | None = None
    blank: bool | None = None
    trim: bool = True
    pattern: str | None = None
    refusal: str = "Enter a valid value."

    @property
    def may_be_blank(self) -> bool:
        """A text that is required, or whose default is not empty, must say something."""
        if self.blank is not None:
            return self.blank
        return not self.required and self.default in (msgspec.UNSET, "", None)

    def take(self, value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise Refused("Not a valid string.")
        text = str(value)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Refused("Not a valid string.") from None
        if "\0" in text:
            raise Refused("Null characters are not allowed.")
        if self.trim:
            text = text.strip()
        if not text:
            if not self.may_be_blank:
                raise Refused("This field may not be blank.", "blank")
            return text
        if self.most is not None and len(text) > self.most:
            raise Refused(f"Ensure this field has no more than {self.most} characters.", "too_long")
        return self.checked(text)

    def checked(self, text: str) -> str:
        if self.pattern is not None and not re.fullmatch(self.pattern, text):
            raise Refused(self.refusal)
        return text

    def empty(self) -> str:
        return ""

    def sql_type(self) -> TypeEngine[Any]:
        return String(self.most) if self.most is not None and self.most <= 255 else SQLText()

    def shape(self) -> dict[str, Any]:
        shape: dict[str, Any] = {"type": "string"}
        if self.most is not None:
            shape["maxLength"] = self.most
        if not self.may_be_blank:
            shape["minLength"] = 1
        if self.pattern is not None:
            shape["pattern"] = f"^(?:{self.pattern})?$" if self.may_be_blank else f"^(?:{self.pattern})$"
        return shape


def Slug(name: str, **options: Any) -> Text:  # noqa: N802 - reads like the other fields
    return Text(
        name=name, pattern=r"[-a-zA-Z0-9_]+",
        refusal="Enter a valid 'slug' consisting of letters, numbers, underscores or hyphens.",
        **({"most": 50} | options),
    )  # fmt: skip


def read_url(text: str, schemes: tuple[str, ...]) -> str | None:
    """A URL with a host as it may stand in a header: other letters than ASCII in the form machines write them."""
    try:
        url = text if text.isascii() else str(yarl.URL(text))
        parts = urlsplit(url)
        parts.port  # noqa: B018 - reading it is the check
    except ValueError:
        return None
    host = re.fullmatch(r"[a-z0-9._:-]+", parts.hostname or "")
    if parts.scheme.lower() not in schemes or not host or _NOT_IN_URL.search(text):
        return None
    return url


class URL(Text, frozen=True, kw_only=True):
    schemes: tuple[str, ...] = ("http", "https")

    def checked(self, text: str) -> str:
        url = read_url(text, self.schemes)
        if url is None:
            raise Refused("Enter a valid URL.")
        if self.most is not None and len(url) > self.most:
            raise Refused(f"Ensure this field has no more than {self.most} characters.", "too_long")
        return url

    def shape(self) -> dict[str, Any]:
        return Text.shape(self) | ({} if self.may_be_blank else {"format": "uri"})


class Email(Text, frozen=True, kw_only=True):
    most: int | None = 254

    def checked(self, text: str) -> str:
        if not re.fullmatch(r"[^\s@<>\"(),:;\[\]\\]+@[^\s@<>\"(),:;\[\]\\.]+(\.[^\s@<>\"(),:;\[\]\\.]+)*", text):
            raise Refused("Enter a valid email address.")
        return text

    def shape(self) -> dict[str, Any]:
        return Text.shape(self) | ({} if self.may_be_blank else {"format": "email"})


class Offset(Text, frozen=True, kw_only=True):
    """A span of time as text: `hours=3;minutes=1`; `least` is in seconds."""

    least: float | None = None

    def checked(self, text: str) -> str:
        seconds = read_offset(text)
        if seconds is None:
            raise Refused(f"{text} is not in the correct format of 'hours=3;minutes=1'.")
        if self.least is not None and seconds < self.least:
            raise Refused(f"Ensure this value is greater than or equal to seconds={self.least:g}.", "too_small")
        return text


_UNITS = {
    "weeks": 604_800.0, "days": 86_400.0, "hours": 3600.0, "minutes": 60.0, "seconds": 1.0,
    "milliseconds": 1e-3, "microseconds": 1e-6,
}  # fmt: skip


def read_offset(text: str) -> float | None:
    """The seconds an offset text means; unknown words are passed over, but one must be known."""
    total, known = 0.0, False
    for part in text.split(";"):
        name, equals, number = part.partition("=")
        if not equals or not re.fullmatch(r"\s*[+-]?\d{1,12}(\.\d{1,9})?\s*", number):
            return None
        unit = _UNITS.get(name.strip().lower())
        if unit is not None:
            known, total = True, total + unit * float(number)
    return total if known else None


class Integer(Field, frozen=True, kw_only=True):
    least: int = -I32 - 1
    most: int = I32

    def take(self, value: Any) -> int:
        number = self._number(value)
        if number > self.most:
            raise Refused(f"Ensure this value is less than or equal to {self.most}.", "too_big")
        if number < self.least:
            raise Refused(f"Ensure this value is greater than or equal to {self.least}.", "too_small")
        return number

    def _number(self, value: Any) -> int:
        if isinstance(value, str):
            if len(value) > 1000:
                raise Refused("String value too large.")
            if re.fullmatch(r"\s*[+-]?[0-9]{1,40}(\.0*)?\s*", value):
                return int(value.partition(".")[0])
        elif isinstance(value, float) and value.is_integer():
            return int(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            return value
        raise Refused("A valid integer is required.")

    def empty(self) -> int:
        return 0

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
            raise Refused("A valid number is required.")
        if not self.least <= number <= self.most:
            raise Refused(f"Ensure this value is between {self.least} and {self.most}.")
        return number

    def empty(self) -> float:
        return 0.0

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
        raise Refused("Must be a valid boolean.")

    def empty(self) -> bool:
        return False

    def sql_type(self) -> TypeEngine[Any]:
        return SQLBoolean()

    def shape(self) -> dict[str, Any]:
        return {"type": "boolean"}


class Choice(Field, frozen=True, kw_only=True):
    choices: tuple[Any, ...]
    also: dict[Any, Any] = {}

    def take(self, value: Any) -> Any:
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            if value in self.choices:
                return value
            if value in self.also:
                return self.also[value]
            whole = [choice for choice in self.choices if isinstance(choice, int) and str(choice) == value]
            if whole:
                return whole[0]
        raise Refused(f'"{_shown(value)}" is not a valid choice.')

    def empty(self) -> Any:
        return self.choices[0]

    def sql_type(self) -> TypeEngine[Any]:
        return SQLInteger() if isinstance(self.choices[0], int) else String(100)

    def shape(self) -> dict[str, Any]:
        kind = "integer" if isinstance(self.choices[0], int) else "string"
        return {"type": kind, "enum": [*self.choices, *self.also]}


class Choices(Field, frozen=True, kw_only=True):
    """A list of words, each one of `choices` (any word where there are none), in the order sent."""

    choices: tuple[Any, ...] = ()
    also: dict[Any, Any] = {}
    may_be_empty: bool = True
    most: int = 100

    def take(self, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise Refused(f'Expected a list of items but got type "{type_name(value)}".')
        if not value and not self.may_be_empty:
            raise Refused("This list may not be empty.")
        if len(value) > self.most:
            raise Refused(f"Ensure this field has no more than {self.most} elements.")
        return list(dict.fromkeys(self._one(item) for item in value))

    def _one(self, item: Any) -> Any:
        if isinstance(item, (str, int)) and not isinstance(item, bool):
            if item in self.also:
                return self.also[item]
            if item in self.choices or (not self.choices and isinstance(item, str) and 0 < len(item) <= 500):
                return item
        raise Refused(f'"{_shown(item)}" is not a valid choice.')

    def empty(self) -> list[Any]:
        return []

    @property
    def is_scalar(self) -> bool:
        return False

    def sql_type(self) -> TypeEngine[Any]:
        return Document()

    def shape(self) -> dict[str, Any]:
        item: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 500}
        if self.choices:
            item = {"enum": [*self.choices, *self.also]}
        shape = {"type": "array", "items": item, "maxItems": self.most}
        return shape if self.may_be_empty else shape | {"minItems": 1}


class Object(Field, frozen=True, kw_only=True):
    """A free JSON object, within reason."""

    MOST_BYTES = 64 * 1024

    def take(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Refused(f'Expected a dictionary of items but got type "{type_name(value)}".')
        try:
            encoded = msgspec.json.encode(value)
        except (UnicodeEncodeError, ValueError):
            raise Refused("Value must be valid JSON.") from None
        if len(encoded) > self.MOST_BYTES:
            raise Refused(f"Ensure this field has no more than {self.MOST_BYTES} bytes.")
        if b"\\u0000" in encoded:
            raise Refused("Null characters are not allowed.")
        return value

    def empty(self) -> dict[str, Any]:
        return {}

    @property
    def is_scalar(self) -> bool:
        return False

    def sql_type(self) -> TypeEngine[Any]:
        return Document()

    def shape(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": True}


class Moment(Field, frozen=True, kw_only=True):
    _FORMAT = "YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z]"

    def take(self, value: Any) -> datetime:
        try:
            at = datetime.fromisoformat(value) if isinstance(value, str) and len(value) >= 16 else None
            if at is not None:
                return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        except (ValueError, OverflowError):
            pass
        raise Refused(f"Datetime has wrong format. Use one of these formats instead: {self._FORMAT}.")

    def sql_type(self) -> TypeEngine[Any]:
        return Instant()

    def shape(self) -> dict[str, Any]:
        return {"type": "string", "format": "date-time"}


class Reference(Field, frozen=True, kw_only=True):
    """The identifier of one other record: `to` is `table.column`; `on_delete` is what its end does to this one."""

    to: str
    on_delete: str = "SET NULL"
    where: tuple[tuple[str, Any], ...] = ()  # columns the other record must have these values in
    integer: bool = False

    def take(self, value: Any) -> Any:
        return read_identifier(value, integer=self.integer)

    def sql_type(self) -> TypeEngine[Any]:
        return SQLInteger() if self.integer else UID()

    def column(self) -> Column[Any]:
        return Column(
            self.name, self.sql_type(), ForeignKey(self.to, ondelete=self.on_delete), nullable=self.null,
            unique=self.unique or None, index=None if self.unique else True,
        )  # fmt: skip

    def shape(self) -> dict[str, Any]:
        return {"type": "integer"} if self.integer else {"type": "string", "format": "uuid"}


def read_identifier(value: Any, *, integer: bool) -> Any:
    """An identifier as it is stored; one that cannot exist is worded like one that does not."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise Refused(f"Incorrect type. Expected pk value, received {type_name(value)}.")
    if not integer:
        found = read_uuid(value)
        if found is not None:
            return found
    elif (isinstance(value, int) or re.fullmatch(r"[0-9]{1,10}", value)) and 0 <= int(value) <= I32:
        return int(value)
    raise missing(value)


def missing(value: object) -> Refused:
    return Refused(f'Invalid pk "{_shown(value)}" - object does not exist.', "does_not_exist")


class References(Field, frozen=True, kw_only=True):
    """A list of identifiers, kept in a table of its own: `owner` is the column of this record, `other` of those."""

    to: str
    link: Any = None  # the link table
    owner: str = "owner"
    other: str = "other"
    where: tuple[tuple[str, Any], ...] = ()
    integer: bool = False
    may_be_empty: bool = True
    most: int = 100_000

    def take(self, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise Refused(f'Expected a list of items but got type "{type_name(value)}".')
        if not value and not self.may_be_empty:
            raise Refused("This list may not be empty.")
        if len(value) > self.most:
            raise Refused(f"Ensure this field has no more than {self.most} elements.")
        return list(dict.fromkeys(read_identifier(item, integer=self.integer) for item in value))

    def empty(self) -> list[Any]:
        return []

    @property
    def is_stored(self) -> bool:
        return False

    def shape(self) -> dict[str, Any]:
        item = {"type": "integer"} if self.integer else {"type": "string", "format": "uuid"}
        shape = {"type": "array", "items": item, "uniqueItems": True}
        return shape if self.may_be_empty else shape | {"minItems": 1}


class Secret(Text, frozen=True, kw_only=True):
    """Stored encrypted. Never shown, or (`shown`) once when made and to those who may see secrets."""

    trim: bool = False
    write_only: bool = True
    shown: bool = False

    @property
    def is_scalar(self) -> bool:
        return False

    def sql_type(self) -> TypeEngine[Any]:
        return SQLText()

    def column(self) -> Column[Any]:
        return Column(self.name, SQLText(), nullable=True)

    def schema(self) -> dict[str, Any]:
        shape = Text.schema(self)
        if self.shown:
            shape.pop("writeOnly", None)
        return shape


class Input(Text, frozen=True, kw_only=True):
    """Sent and acted upon, but not kept as it came: a new password, say."""

    trim: bool = False
    write_only: bool = True

    @property
    def is_stored(self) -> bool:
        return False


class Code(Text, frozen=True, kw_only=True):
    """An expression: its syntax is checked when it is saved, and nothing is run."""

    trim: bool = False
    check: Callable[[str], str | None] | None = None
    most: int | None = 65_536

    def checked(self, text: str) -> str:
        wrong = self.check(text) if self.check is not None else None
        if wrong is not None:
            raise Refused(f"Expression Syntax Error: {wrong}", "syntax")
        return text

    @property
    def may_be_blank(self) -> bool:
        return False


class Told(Field, frozen=True, kw_only=True):
    """A field that is only ever shown, worked out when a record is rendered."""

    read_only: bool = True
    form: dict[str, Any] = {}

    @property
    def is_stored(self) -> bool:
        return False

    def shape(self) -> dict[str, Any]:
        return dict(self.form)


def _shown(value: object) -> str:
    text = (
        value
        if isinstance(value, str)
        else msgspec.json.encode(value).decode()
        if not isinstance(value, float)
        else str(value)
    )
    return text if len(text) <= 100 else text[:100] + "..."
