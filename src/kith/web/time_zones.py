"""In which time zone pages tell moments: the one that somebody has chosen, else universal time.

Where nothing is chosen, scripts tell them in the zone of the browser, which the server cannot know.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from itertools import groupby
from zoneinfo import ZoneInfo, available_timezones

from kith.base.exchange import Exchange
from kith.identity import for_pages as identity

__all__ = ["LOCAL_FIELD", "is_zone", "said_in", "zone_named", "zone_of", "zones_by_region"]

LOCAL_FIELD = "%Y-%m-%dT%H:%M"  # what a field for a date and a time of day holds
_REGIONS = frozenset(
    ("Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")
)


def zone_of(exchange: Exchange) -> str:
    """The chosen one by its name, or an empty text. Whoever views as a member keeps their own clock."""
    visitor = identity.known_visitor(exchange)
    chosen = "" if visitor is None or visitor.is_acting else visitor.timezone
    return chosen if is_zone(chosen) else ""


def is_zone(name: str) -> bool:
    return name in _names()


def zone_named(name: str) -> tzinfo:
    """Universal time for names that are none."""
    return ZoneInfo(name) if is_zone(name) else UTC


def said_in(value: datetime, zone: str) -> str:
    """A moment for people: `2026-11-17 05:30 CET`. Zones without letters of their own are told by their distance."""
    local = value.astimezone(zone_named(zone))
    name = local.tzname() or ""
    return f"{local:%Y-%m-%d %H:%M} {name if name[:1].isalpha() else f'UTC{name}'}"


@lru_cache(1)
def _names() -> frozenset[str]:
    return frozenset(name for name in available_timezones() if name.partition("/")[0] in _REGIONS or name == "UTC")


@lru_cache(1)
def zones_by_region() -> list[tuple[str, list[tuple[str, str]]]]:
    """For a form: names, and how they are shown, by region."""
    named = sorted(name for name in _names() if "/" in name)
    return [
        (region, [(name, name.partition("/")[2].replace("_", " ").replace("/", ", ")) for name in names])
        for region, names in groupby(named, key=lambda name: name.partition("/")[0])
    ]
