"""Files that say where addresses are, as operators get them: made of the addresses that are for examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mmdb_writer import MMDBWriter
from netaddr import IPSet

BERLIN, POTSDAM, SYDNEY, PARIS, NOWHERE = "192.0.2.7", "198.51.100.9", "203.0.113.5", "2001:db8::1", "100.64.0.1"


def city(continent: str, country: str, name: str, lat: float, long: float) -> dict[str, Any]:
    return {
        "continent": {"code": continent},
        "country": {"iso_code": country},
        "city": {"names": {"en": name}},
        "location": {"latitude": lat, "longitude": long},
    }


CITIES = {
    "192.0.2.0/24": city("EU", "DE", "Berlin", 52.52, 13.4),
    "198.51.100.0/24": city("EU", "DE", "Potsdam", 52.39, 13.06),
    "203.0.113.0/24": city("OC", "AU", "Sydney", -33.87, 151.21),
    "2001:db8::/32": city("EU", "FR", "Paris", 48.86, 2.35),
}
NETWORKS = {
    "192.0.2.0/24": {"autonomous_system_number": 64500, "autonomous_system_organization": "Spree Net"},
    "198.51.100.0/24": {"autonomous_system_number": 64501, "autonomous_system_organization": "Havel Net"},
}


def write(path: Path, entries: dict[str, dict[str, Any]], kind: str = "Test-City") -> str:
    writer = MMDBWriter(ip_version=6, ipv4_compatible=True, database_type=kind, languages=["en"])
    for network, record in entries.items():
        writer.insert_network(IPSet([network]), record)
    made = path.with_suffix(".new")
    writer.to_db_file(str(made))
    made.replace(path)
    return str(path)


def files(folder: Path) -> dict[str, str]:
    """Settings of a server that knows where addresses are, and hears them from the tests as from a proxy."""
    return {
        "geoip_file": write(folder / "cities.mmdb", CITIES),
        "geoip_asn_file": write(folder / "networks.mmdb", NETWORKS, "Test-ASN"),
        "trusted_proxies": "127.0.0.1",
    }
