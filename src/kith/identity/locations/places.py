"""What is known of an address, and how far two places are apart."""

from __future__ import annotations

from math import asin, cos, radians, sin, sqrt
from typing import Any

import msgspec

EARTH_KM = 6371.0
MOST_NAME = 200


class GeoPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where an address is. Databases of countries know no city and no coordinates."""

    continent: str = ""
    country: str = ""
    city: str = ""
    lat: float | None = None
    long: float | None = None

    def facts(self) -> dict[str, Any]:
        """As events and policies know it."""
        return {
            "continent": self.continent,
            "country": self.country,
            "city": self.city,
            "lat": self.lat,
            "long": self.long,
        }


class Network(msgspec.Struct, frozen=True, kw_only=True):
    """The autonomous system that an address belongs to: in most cases, an internet provider."""

    asn: int
    as_org: str = ""
    network: str = ""

    def facts(self) -> dict[str, Any]:
        return {"asn": self.asn, "as_org": self.as_org, "network": self.network}


def read_place(record: Any) -> GeoPlace | None:
    """From a record as MaxMind and most others write it, or a flat one as of IPinfo; None if it says nothing."""
    if not isinstance(record, dict):
        return None
    found = GeoPlace(
        continent=_text(_within(record, "continent", "code") or record.get("continent_code")),
        country=_text(_within(record, "country", "iso_code") or record.get("country_code")).upper(),
        city=_text(_within(record, "city", "names", "en") or record.get("city")),
        lat=_degrees(_within(record, "location", "latitude"), 90.0),
        long=_degrees(_within(record, "location", "longitude"), 180.0),
    )
    return found if found != GeoPlace() else None


def read_network(record: Any, network: str) -> Network | None:
    if not isinstance(record, dict):
        return None
    number = record.get("autonomous_system_number", record.get("asn"))
    if isinstance(number, str):
        digits = number.upper().removeprefix("AS")
        number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 10 else None
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 2**32:
        return None
    name = record.get("autonomous_system_organization", record.get("as_name"))
    return Network(asn=number, as_org=_text(name), network=network)


def distance_km(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Along a great circle, on a ball as large as the earth; both are latitude and longitude."""
    lat, long, other_lat, other_long = (radians(value) for value in (*one, *other))
    half = sin((other_lat - lat) / 2) ** 2 + cos(lat) * cos(other_lat) * sin((other_long - long) / 2) ** 2
    return 2 * EARTH_KM * asin(sqrt(min(1.0, half)))


def coordinates(facts: Any) -> tuple[float, float] | None:
    """The coordinates in the facts of a place, if it has any."""
    if not isinstance(facts, dict):
        return None
    lat, long = _degrees(facts.get("lat"), 90.0), _degrees(facts.get("long"), 180.0)
    return (lat, long) if lat is not None and long is not None else None


def _within(record: Any, *names: str) -> Any:
    for name in names:
        record = record.get(name) if isinstance(record, dict) else None
    return record


def _text(value: Any) -> str:
    return value[:MOST_NAME] if isinstance(value, str) else ""


def _degrees(value: Any, most: float) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and -most <= value <= most else None
