"""Fields for text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import msgspec
from sqlalchemy import Column, String
from sqlalchemy import Text as SQLText
from sqlalchemy.types import TypeEngine

from kith.base.http.urls import parse_url
from kith.identity.rest.fields.base import Field, InvalidValue

LONGEST_URL = 2048  # a host of many strange letters takes long to write in plain ones
MOST_CHARACTERS = 65_536  # of a field that names no limit of its own


class Text(Field, frozen=True, kw_only=True):
    most: int | None = None
    blank: bool | None = None
    trim: bool = True
    pattern: str | None = None
    refusal: str = "Enter a valid value."

    @property
    def may_be_blank(self) -> bool:
        """By default only if the field is not required and its default is empty."""
        if self.blank is not None:
            return self.blank
        return not self.required and self.default in (msgspec.UNSET, "", None)

    def take(self, value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise InvalidValue("Not a valid string.")
        text = str(value)
        if len(text) > MOST_CHARACTERS and len(text) > (self.most or 0):
            raise InvalidValue(
                f"Ensure this field has no more than {self.most or MOST_CHARACTERS} characters.", "too_long"
            )
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InvalidValue("Not a valid string.") from None
        if "\0" in text:
            raise InvalidValue("Null characters are not allowed.")
        if self.trim:
            text = text.strip()
        if not text:
            if not self.may_be_blank:
                raise InvalidValue("This field may not be blank.", "blank")
            return text
        if self.most is not None and len(text) > self.most:
            raise InvalidValue(f"Ensure this field has no more than {self.most} characters.", "too_long")
        return self.checked(text)

    def checked(self, text: str) -> str:
        if self.pattern is not None and not re.fullmatch(self.pattern, text):
            raise InvalidValue(self.refusal)
        return text

    def empty(self) -> str:
        return ""

    def holds(self) -> str:
        return "str"

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
        name=name,
        pattern=r"[-a-zA-Z0-9_]+",
        refusal="Enter a valid 'slug' consisting of letters, numbers, underscores or hyphens.",
        **({"most": 50} | options),
    )


_NOT_IN_URL = re.compile(r"[\s\x00-\x1f\x7f<>\"\\^`{|}]|%(?![0-9a-fA-F]{2}|\(\w+\)s)")


def read_url(text: str, schemes: tuple[str, ...]) -> str | None:
    """An ASCII form of the URL, or None if it is not valid or has no host."""
    if len(text) > LONGEST_URL:
        return None
    try:
        url = text if text.isascii() else str(parse_url(text))
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
            raise InvalidValue("Enter a valid URL.")
        if self.most is not None and len(url) > self.most:
            raise InvalidValue(f"Ensure this field has no more than {self.most} characters.", "too_long")
        return url

    def shape(self) -> dict[str, Any]:
        return Text.shape(self) | ({} if self.may_be_blank else {"format": "uri"})


class Email(Text, frozen=True, kw_only=True):
    most: int | None = 254

    def checked(self, text: str) -> str:
        if not re.fullmatch(r"[^\s@<>\"(),:;\[\]\\]+@[^\s@<>\"(),:;\[\]\\.]+(\.[^\s@<>\"(),:;\[\]\\.]+)*", text):
            raise InvalidValue("Enter a valid email address.")
        return text

    def shape(self) -> dict[str, Any]:
        return Text.shape(self) | ({} if self.may_be_blank else {"format": "email"})


class Offset(Text, frozen=True, kw_only=True):
    """A duration as text: `hours=3;minutes=1`; `least` is in seconds."""

    least: float | None = None

    def checked(self, text: str) -> str:
        seconds = read_offset(text)
        if seconds is None:
            raise InvalidValue(f"{text} is not in the correct format of 'hours=3;minutes=1'.")
        if abs(seconds) >= LONGEST_SECONDS:
            raise InvalidValue("Ensure this time is less than 100 years.", "too_big")
        if self.least is not None and seconds < self.least:
            raise InvalidValue(f"Ensure this value is greater than or equal to seconds={self.least:g}.", "too_small")
        return text


LONGEST_SECONDS = 36_500 * 86_400.0
_UNITS = {
    "weeks": 604_800.0,
    "days": 86_400.0,
    "hours": 3600.0,
    "minutes": 60.0,
    "seconds": 1.0,
    "milliseconds": 1e-3,
    "microseconds": 1e-6,
}


def read_offset(text: str) -> float | None:
    """The seconds of a duration, at most a hundred years; unknown units are ignored, but one must be known."""
    total, known = 0.0, False
    for part in text.split(";"):
        name, equals, number = part.partition("=")
        if not equals or not re.fullmatch(r"\s*[+-]?\d{1,12}(\.\d{1,9})?\s*", number):
            return None
        unit = _UNITS.get(name.strip().lower())
        if unit is not None:
            known, total = True, total + unit * float(number)
    return max(-LONGEST_SECONDS, min(total, LONGEST_SECONDS)) if known else None


class Secret(Text, frozen=True, kw_only=True):
    """Stored encrypted. Never shown, or with `shown` when it is made and to those who may see secrets.

    `sent_to` names the fields that say where it is sent, and how it is protected on the way. Changing one of them needs
    the secret to be sent again, so that nobody can have a secret sent to themselves; only switching one on does not.
    """

    trim: bool = False
    write_only: bool = True
    shown: bool = False
    sent_to: tuple[str, ...] = ()

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
    """Write-only and not stored: hooks use it, as for a new password."""

    trim: bool = False
    write_only: bool = True

    @property
    def is_stored(self) -> bool:
        return False


class Expression(Text, frozen=True, kw_only=True):
    """An expression: its syntax is checked when it is saved, and nothing is run."""

    trim: bool = False
    private: bool = True
    check: Callable[[str], str | None] | None = None
    most: int | None = 65_536

    def checked(self, text: str) -> str:
        wrong = self.check(text) if self.check is not None else None
        if wrong is not None:
            raise InvalidValue(f"Expression Syntax Error: {wrong}", "syntax")
        return text

    @property
    def may_be_blank(self) -> bool:
        return False
