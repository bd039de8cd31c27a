"""The bounds a field is declared with (`msgspec.Meta`), in words for the client."""

from __future__ import annotations

import re
from collections.abc import Callable, Sized
from typing import Any

from msgspec import inspect

from kith.base.catalogues import counted
from kith.base.params.values import Reader, wrong

__all__ = ["check_length", "check_number", "check_text"]


def check_text(info: inspect.StrType, read: Reader) -> Reader:
    least, most = info.min_length or 0, info.max_length
    pattern = re.compile(info.pattern) if info.pattern else None
    if not least and most is None and pattern is None:
        return read

    def checked(value: Any) -> str:
        text: str = read(value)
        if least and not text:
            raise wrong("can't be blank", "empty")
        if len(text) < least:
            raise wrong(_too_short(least), "too_short")
        if most is not None and len(text) > most:
            raise wrong(_too_long(most), "too_long")
        if pattern and not pattern.search(text):
            raise wrong("is invalid", "invalid")
        return text

    return checked


def _too_short(least: int) -> str:
    return counted("is too short (minimum is {count} character)", "is too short (minimum is {count} characters)", least)


def _too_long(most: int) -> str:
    return counted("is too long (maximum is {count} character)", "is too long (maximum is {count} characters)", most)


def check_number(info: inspect.IntType | inspect.FloatType, read: Reader) -> Reader:
    if (info.ge, info.gt, info.le, info.lt, info.multiple_of) == (None,) * 5:
        return read

    def checked(value: Any) -> Any:
        number = read(value)
        if info.ge is not None and number < info.ge:
            raise wrong(f"must be greater than or equal to {info.ge}", "too_small")
        if info.gt is not None and number <= info.gt:
            raise wrong(f"must be greater than {info.gt}", "too_small")
        if info.le is not None and number > info.le:
            raise wrong(f"must be less than or equal to {info.le}", "too_big")
        if info.lt is not None and number >= info.lt:
            raise wrong(f"must be less than {info.lt}", "too_big")
        if info.multiple_of is not None and number % info.multiple_of:
            raise wrong(f"must be a multiple of {info.multiple_of}", "invalid")
        return number

    return checked


def check_length(info: Any) -> Callable[[Sized], None]:
    """Bounds of a list or an object, whose `info` names them alike."""
    least, most = info.min_length or 0, info.max_length

    def check(values: Sized) -> None:
        if len(values) < least:
            raise wrong(f"has too few elements (minimum is {least})", "too_few")
        if most is not None and len(values) > most:
            raise wrong(f"has too many elements (maximum is {most})", "too_many")

    return check
