"""Sessions that are bound to where they began: from elsewhere, their cookie is worth nothing."""

from __future__ import annotations

import msgspec

from kith.base.work import Work
from kith.identity.locations.places import GeoPlace, Network
from kith.identity.locations.service import Locations
from kith.identity.sessions.tables import LoginSession

NONE = "no_binding"
NETWORKS = (NONE, "bind_asn", "bind_asn_network", "bind_asn_network_ip")
PLACES = (NONE, "bind_continent", "bind_continent_country", "bind_continent_country_city")


class SessionBinding(msgspec.Struct, frozen=True):
    network: str = NONE
    geoip: str = NONE


def broken_by(work: Work, session: LoginSession, address: str) -> str | None:
    """Why a session may not go on from another address than the one it was last used from; None if it may.

    What is not known of an address is no proof that it is in the same place.
    """
    if address == session.last_ip:
        return None
    known = work.find(Locations)
    if session.network_binding in NETWORKS[1:]:
        degree = NETWORKS.index(session.network_binding)
        if degree == len(NETWORKS) - 1:
            return f"the address changed from {session.last_ip} to {address}"
        if not _is_same_network(known.network(session.last_ip), known.network(address), degree):
            return f"the network changed between {session.last_ip} and {address}"
    if session.geoip_binding in PLACES[1:]:
        degree = PLACES.index(session.geoip_binding)
        if not _is_same_place(known.place(session.last_ip), known.place(address), degree):
            return f"the place changed between {session.last_ip} and {address}"
    return None


def _is_same_network(before: Network | None, now: Network | None, degree: int) -> bool:
    if before is None or now is None:
        return False
    return (before.asn, before.network)[:degree] == (now.asn, now.network)[:degree]


def _is_same_place(before: GeoPlace | None, now: GeoPlace | None, degree: int) -> bool:
    if before is None or now is None:
        return False
    names = [(one.continent, one.country, one.city)[:degree] for one in (before, now)]
    return names[0] == names[1] and all(names[0])
