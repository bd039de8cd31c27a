"""From when to when figures are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import BigInteger, ColumnElement, and_, bindparam

from kith.base.errors import Invalid, Unprocessable
from kith.base.ids import id_at

LONGEST = timedelta(days=1100)
ID_SLACK = timedelta(days=1)


class Period(msgspec.Struct, frozen=True):
    """Whole days, both included."""

    first: date
    last: date

    @property
    def start(self) -> datetime:
        return midnight(self.first)

    @property
    def end(self) -> datetime:
        """The moment after it."""
        return midnight(self.last + timedelta(days=1))

    def bounds(self) -> dict[str, Any]:
        """For statements: moments, days, and the ids of rows of about that time."""
        return {
            "start": self.start,
            "end": self.end,
            "first": self.first.isoformat(),
            "last": self.last.isoformat(),
            "first_id": id_at(self.start - ID_SLACK),
            "end_id": id_at(self.end + ID_SLACK),
        }

    def days(self) -> Iterator[date]:
        for place in range((self.last - self.first).days + 1):
            yield self.first + timedelta(days=place)

    def before(self) -> Period:
        """As many days, just before it."""
        length = self.last - self.first + timedelta(days=1)
        return Period(self.first - length, self.last - length)


def is_about_then(id: ColumnElement[Any]) -> ColumnElement[bool]:
    """Beside the moment itself: an id tells it nearly, and by id a period is found among the rows of years."""
    return and_(id >= bindparam("first_id", type_=BigInteger()), id < bindparam("end_id", type_=BigInteger()))


def midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def read_period(start_at: str, end_at: str) -> Period:
    first, last = _day("start_at", start_at), _day("end_at", end_at)
    if last < first or last - first > LONGEST or first.year < 2000 or last.year > 2500:
        raise Unprocessable("Invalid date supplied")
    return Period(first, last)


def _day(name: str, text: str) -> date:
    if not text.strip():
        raise Invalid(f"param is missing or the value is empty or invalid: {name}")
    try:
        at = datetime.fromisoformat(text.strip())
        return (at if at.tzinfo is None else at.astimezone(UTC)).date()
    except (ValueError, OverflowError) as error:
        raise Unprocessable("Invalid date supplied") from error
