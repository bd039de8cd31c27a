"""Values of a staged row, as ours have them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from kith.base.db.copy_format import NotACopy, read_array
from kith.base.ids import id_at
from kith.cli.imports.mastodon.staging import Row
from kith.social.webpages.values import is_web

__all__ = ["at", "document", "is_true", "must_at", "numbers", "past_id", "text", "uri_in", "web_address", "words"]

_NUL = "\0"
LATEST = datetime(2100, 1, 1, tzinfo=UTC)


def web_address(row: Row, name: str) -> str:
    """An address that browsers may follow; empty if it is any other."""
    found = text(row, name)
    return found if is_web(found) else ""


def uri_in(row: Row, name: str) -> str:
    """An id of elsewhere: an address, or one of the old kind, `tag:host,date:what`; empty if it is any other."""
    found = text(row, name)
    return found if is_web(found) or found.startswith("tag:") else ""


def text(row: Row, name: str) -> str:
    """Empty where there is none; a letter that no database takes is left out."""
    value = row[name]
    return "" if value is None else str(value).replace(_NUL, "")


def is_true(row: Row, name: str, default: bool = False) -> bool:
    value = row[name]
    return default if value is None else value == "t"


def at(row: Row, name: str) -> datetime | None:
    """Moments are in UTC there. `infinity` and the like are none."""
    value = row[name]
    if not value:
        return None
    try:
        found = datetime.fromisoformat(value.replace("+00", "+00:00") if value.endswith("+00") else value)
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def must_at(row: Row, name: str, default: datetime) -> datetime:
    return at(row, name) or default


def words(row: Row, name: str) -> list[str]:
    try:
        return [one.replace(_NUL, "") for one in read_array(row[name]) if one is not None]
    except NotACopy:
        return []


def numbers(row: Row, name: str) -> list[int]:
    return [int(one) for one in words(row, name) if one.lstrip("-").isdigit()]


def document(row: Row, name: str) -> Any:
    """What a JSON column holds; None where it holds nothing that can be read."""
    value = row[name]
    if not value:
        return None
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError:
        return None


def past_id(moment: datetime, number: int) -> int:
    """An id of ours for something that had a small number there: by its moment, told apart by that number."""
    return id_at(moment, number & 0xFFFF)
