"""Single values: from what clients write to what the field means.

A reader takes whatever stood in the JSON or the form and returns the value, or raises `Wrong`.
"""

from __future__ import annotations

import base64
import datetime as dt
import math
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kith.base.errors import Complaint
from kith.base.moments import EARLIEST, LATEST, read_moment
from kith.base.params.upload import Upload

__all__ = [
    "Dropped",
    "Reader",
    "Wrong",
    "choice_reader",
    "read_any",
    "read_bool",
    "read_date",
    "read_datetime",
    "read_float",
    "read_int",
    "read_text",
    "read_upload",
    "read_uuid",
    "wrong",
]

Reader = Callable[[Any], Any]

_INT = re.compile(r"([+-]?[0-9]+)(?:\.0*)?", re.ASCII)
_FLOAT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_DATA_URI = re.compile(r"data:([\w.+-]{1,80}/[\w.+-]{1,80})?(?:;[\w.+-]{1,80}=[\w.+-]{1,80})*;base64,", re.ASCII)
_LONGEST_NUMBER = 1000
MOST_BYTES = 64 * 1024  # of any text, before anybody looks into it; a field that takes less says so itself
_LEAST, _MOST = -(2**63), 2**63 - 1
_TRUE = dict.fromkeys(("true", "1", "on", "t", "yes", "y"), True)
_FALSE = dict.fromkeys(("false", "0", "off", "f", "no", "n"), False)
_BOOLS = {**_TRUE, **_FALSE}


class Dropped(Exception):  # noqa: N818 - says what becomes of the value
    """The value is not of the kind that belongs there, and is as if it had not been sent."""


class Wrong(Exception):  # noqa: N818 - says what the value is
    """What is wrong with a value: complaints by the dotted name of the place inside it."""

    def __init__(self, fields: dict[str, list[str]]) -> None:
        super().__init__()
        self.fields = fields

    def add_to(self, bad: dict[str, list[str]], place: str) -> None:
        for inner, complaints in self.fields.items():
            bad.setdefault(f"{place}.{inner}" if inner else place, []).extend(complaints)


def wrong(words: str, code: str) -> Wrong:
    return Wrong({"": [Complaint(words, code)]})


def read_text(value: Any) -> str:
    if type(value) is not str:
        value = _number_as_text(value)
    if len(value) > MOST_BYTES:
        raise _too_long()
    if "\0" in value:
        raise wrong("contains a NUL character", "invalid")
    if not value.isascii():
        try:
            size = len(value.encode())
        except UnicodeEncodeError as error:
            raise wrong("is not valid Unicode text", "invalid") from error
        if size > MOST_BYTES:
            raise _too_long()
    return str(value)


def _too_long() -> Wrong:
    return wrong(f"is too long (maximum is {MOST_BYTES} bytes)", "too_long")


def _number_as_text(value: Any) -> str:
    if (type(value) is int and _LEAST <= value <= _MOST) or (type(value) is float and math.isfinite(value)):
        return str(value)
    raise wrong("is not text", "not_text")


def read_int(value: Any) -> int:
    if type(value) is int:
        number = value
    elif type(value) is str and len(value) <= _LONGEST_NUMBER and (match := _INT.fullmatch(value.strip())):
        number = int(match[1])
    elif type(value) is float and value.is_integer():
        number = int(value)
    else:
        raise wrong("is not a whole number", "not_an_integer")
    if not _LEAST <= number <= _MOST:
        raise wrong("is out of range", "out_of_range")
    return number


def read_float(value: Any) -> float:
    if type(value) is str and len(value) <= _LONGEST_NUMBER and _FLOAT.fullmatch(value.strip()):
        number = float(value)
    elif type(value) is float:
        number = value
    elif type(value) is int and _LEAST <= value <= _MOST:
        number = float(value)
    else:
        raise wrong("is not a number", "not_a_number")
    if not math.isfinite(number):
        raise wrong("is out of range", "out_of_range")
    return number


def read_bool(value: Any) -> bool:
    if type(value) is bool:
        return value
    if type(value) is str:
        value = value[:_LONGEST_NUMBER].strip().lower()
    elif type(value) is int and 0 <= value <= 1:
        value = str(value)
    else:
        value = ""
    found = _BOOLS.get(value)
    if found is None:
        raise wrong("is not true or false", "not_a_boolean")
    return found


def read_datetime(value: Any) -> dt.datetime:
    """Read ISO 8601 into UTC; a time that names no zone is UTC already."""
    moment = read_moment(value[:_LONGEST_NUMBER].strip()) if type(value) is str else None
    if moment is not None:
        return moment
    raise wrong("is not a valid date and time", "not_a_time")


def read_date(value: Any) -> dt.date:
    try:
        if type(value) is str:
            day = dt.date.fromisoformat(value[:_LONGEST_NUMBER].strip())
            if EARLIEST.date() <= day < LATEST.date():
                return day
    except ValueError:
        pass
    raise wrong("is not a valid date", "not_a_date")


def read_uuid(value: Any) -> uuid.UUID:
    try:
        if type(value) is str:
            return uuid.UUID(value[:_LONGEST_NUMBER].strip())
    except ValueError:
        pass
    raise wrong("is not a valid UUID", "not_a_uuid")


def read_upload(value: Any) -> Upload:
    """A file of a multipart body, or one that is written out as `data:image/png;base64,...`."""
    if isinstance(value, Upload):
        return value
    match = _DATA_URI.match(value) if type(value) is str else None
    if match is None:
        raise wrong("is not a file", "not_a_file")
    try:
        content = base64.b64decode(value[match.end() :].strip(), validate=True)
    except ValueError as error:
        raise wrong("is not a file", "not_a_file") from error
    return Upload.holding(content, match[1] or "application/octet-stream")


def read_any(value: Any) -> Any:
    """Take any JSON value as it is, so long as its texts and numbers can be stored."""
    waiting = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, str):
            read_text(here)
        elif isinstance(here, float):
            read_float(here)
        elif isinstance(here, Mapping):
            waiting += [*here.keys(), *here.values()]
        elif isinstance(here, list):
            waiting += here
    return value


def choice_reader(choices: Iterable[tuple[Any, Any]]) -> Reader:
    """Read one of `choices`, pairs of the value on the wire and the value meant."""
    meanings = {str(wire): meant for wire, meant in choices}
    words = f"must be one of: {', '.join(meanings)}"

    def read(value: Any) -> Any:
        if type(value) is int and _LEAST <= value <= _MOST:
            value = str(value)
        if type(value) is str and value in meanings:
            return meanings[value]
        raise wrong(words, "inclusion")

    return read
