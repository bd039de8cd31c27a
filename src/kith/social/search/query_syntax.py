"""What somebody wrote into the search field, read: words, phrases, and what narrows them.

Reading never fails. What looks like a filter and is none is looked for as the words it is made of.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

import msgspec

from kith.social.search.words import MOST_TERMS, Term, to_term

Within = Literal["all", "library", "public"]
LONGEST = 2048

_PIECE = re.compile(
    r'(?P<sign>[+-]?)(?:(?P<prefix>[a-z]{2,8}):)?(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))', re.IGNORECASE
)
_HAS = frozenset({"media", "image", "video", "audio", "poll", "link", "embed"})
_IS = frozenset({"reply", "sensitive", "quote"})
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]{2,4})?\Z", re.IGNORECASE)
_HANDLE = re.compile(r"@?[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?(?:@[^\s@]+)?\Z", re.IGNORECASE)
_SECONDS = re.compile(r"\d{9,11}\Z", re.ASCII)


class SearchOperator(msgspec.Struct, frozen=True):
    """One thing that is wanted (or, `negated`, unwanted) of a status. `kind` names the clause for it."""

    kind: str
    value: Any = None
    negated: bool = False


class SearchQuery(msgspec.Struct, frozen=True):
    wanted: tuple[Term, ...] = ()
    unwanted: tuple[Term, ...] = ()
    filters: tuple[SearchOperator, ...] = ()
    within: Within = "all"


def read(text: str) -> SearchQuery:
    wanted: list[Term] = []
    unwanted: list[Term] = []
    filters: list[SearchOperator] = []
    within: Within = "all"
    for match in _PIECE.finditer(text[:LONGEST]):
        negated = match["sign"] == "-"
        given = match["word"] or match["phrase"] or ""
        prefix = (match["prefix"] or "").lower()
        place = _place(prefix, given.lower(), negated=negated)
        if place is not None:
            within = place
            continue
        found = _READERS[prefix](given) if prefix in _READERS else None
        if found is not None:
            filters.append(SearchOperator(found[0], found[1], negated))
            continue
        term = to_term(f"{match['prefix']} {given}" if prefix else given)
        if term is not None:
            (unwanted if negated else wanted).append(term)
    return SearchQuery(
        tuple(dict.fromkeys(wanted))[:MOST_TERMS],
        tuple(dict.fromkeys(unwanted))[:MOST_TERMS],
        tuple(dict.fromkeys(filters))[:MOST_TERMS],
        within,
    )


def _place(prefix: str, given: str, *, negated: bool) -> Within | None:
    """Outside of one's library is what is public, and the other way round."""
    if prefix != "in":
        return None
    places: dict[tuple[str, bool], Within] = {
        ("all", False): "all",
        ("library", False): "library",
        ("public", False): "public",
        ("library", True): "public",
        ("public", True): "library",
    }
    return places.get((given, negated))


def _one_of(prefix: str, known: frozenset[str]) -> Callable[[str], tuple[str, Any] | None]:
    def reader(given: str) -> tuple[str, Any] | None:
        return (f"{prefix}:{given.lower()}", None) if given.lower() in known else None

    return reader


def _from(given: str) -> tuple[str, Any] | None:
    return ("from", given.lower().removeprefix("@")) if _HANDLE.match(given) else None


def _language(given: str) -> tuple[str, Any] | None:
    return ("language", given.lower()) if _LANGUAGE.match(given) else None


def _moment(kind: str, *, days: int = 0) -> Callable[[str], tuple[str, Any] | None]:
    """`days` are added to a date: what is after a day is after its end."""

    def reader(given: str) -> tuple[str, Any] | None:
        try:
            if _SECONDS.match(given):
                return kind, datetime.fromtimestamp(int(given), UTC)
            return kind, _start_of(date.fromisoformat(given)) + timedelta(days=days)
        except (ValueError, OverflowError, OSError):
            return None

    return reader


def _during(given: str) -> tuple[str, Any] | None:
    """A day, as when it begins and when the next one does."""
    start, end = _moment("", days=0)(given), _moment("", days=1)(given)
    if start is None or end is None:
        return None
    day = _start_of(start[1].date())
    return "during", (day, day + timedelta(days=1))


def _start_of(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


_READERS: dict[str, Callable[[str], tuple[str, Any] | None]] = {
    "has": _one_of("has", _HAS),
    "is": _one_of("is", _IS),
    "from": _from,
    "language": _language,
    "before": _moment("before"),
    "after": _moment("after", days=1),
    "during": _during,
}
