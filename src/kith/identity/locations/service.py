"""Looking addresses up in the operator's files (`KITH_GEOIP_FILE`, `KITH_GEOIP_ASN_FILE`).

A file is opened when first needed, and again when it was replaced. It is read piece by piece rather than mapped into
memory, so that a file that is written over in place gives a wrong answer at worst and does not end the server.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from kith.base.caches import ForAWhile
from kith.base.settings import Settings
from kith.identity.locations.mmdb import open_file
from kith.identity.locations.places import GeoPlace, Network, read_network, read_place

if TYPE_CHECKING:
    from maxminddb.reader import Reader

__all__ = ["Locations"]

LOOK_SECONDS = 1.0  # between two looks at whether a file was replaced
KEPT_SECONDS = 600.0
MOST_KEPT = 10_000
_log = structlog.get_logger()


class Locations:
    """Where addresses are; nowhere, as long as there is no file."""

    def __init__(self, settings: Settings) -> None:
        self._kept: ForAWhile[tuple[GeoPlace | None, Network | None]] = ForAWhile(
            "locations", seconds=KEPT_SECONDS, most=MOST_KEPT
        )
        self._places = _File(settings.geoip_file, self._kept.clear)
        self._networks = _File(settings.geoip_asn_file, self._kept.clear)

    @property
    def knows_places(self) -> bool:
        return self._places.is_set

    def place(self, address: str) -> GeoPlace | None:
        return self._find(address)[0]

    def network(self, address: str) -> Network | None:
        return self._find(address)[1]

    def facts(self, address: str) -> dict[str, Any]:
        """`geo` and `asn`, as far as they are known, for the audit trail."""
        place, network = self._find(address)
        told: dict[str, Any] = {}
        if place is not None:
            told["geo"] = place.facts()
        if network is not None:
            told["asn"] = network.facts()
        return told

    def _find(self, address: str) -> tuple[GeoPlace | None, Network | None]:
        if not address or not (self._places.is_set or self._networks.is_set):
            return None, None
        self._places.look()
        self._networks.look()
        found = self._kept.get(address)
        if found is None:
            record, network = self._places.read(address)
            place, known = read_place(record), read_network(record, network)
            if self._networks.is_set:
                known = read_network(*self._networks.read(address)) or known
            found = place, known
            self._kept.put(address, found)
        return found

    def close(self) -> None:
        self._places.close()
        self._networks.close()


class _File:
    """One `.mmdb` file, as it is at the moment."""

    def __init__(self, path: str, changed: Callable[[], None]) -> None:
        self._path = path
        self._changed = changed
        self._reader: Reader | None = None
        self._state: tuple[int, ...] | None = ()
        self._looked_at = -1e9

    @property
    def is_set(self) -> bool:
        return bool(self._path)

    def look(self) -> None:
        """Open the file again if it is another than before."""
        now = time.monotonic()
        if not self._path or now - self._looked_at < LOOK_SECONDS:
            return
        self._looked_at = now
        state = _state(self._path)
        if state == self._state:
            return
        self.close()
        self._state = state
        self._changed()
        try:
            self._reader = open_file(self._path)
        except (OSError, ValueError) as error:
            _log.warning("locations.unreadable", file=self._path, error=str(error))

    def read(self, address: str) -> tuple[Any, str]:
        """The record of an address, and the network that it is for."""
        if self._reader is None:
            return None, ""
        try:
            record, length = self._reader.get_with_prefix_len(address)
        except Exception as error:  # noqa: BLE001 - whatever a broken file leads to; also an IPv6 address in one of IPv4
            _log.debug("locations.not_found", file=self._path, error=str(error))
            return None, ""
        return record, str(ip_network(f"{address}/{length}", strict=False))

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None


def _state(path: str) -> tuple[int, ...] | None:
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
