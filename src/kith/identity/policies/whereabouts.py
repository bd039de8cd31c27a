"""Where the client is, for policies."""

from __future__ import annotations

from typing import Any

from kith.base.work import Work
from kith.identity.locations.service import Locations
from kith.identity.policies.request import PolicyRequest


def whereabouts(work: Work, request: PolicyRequest) -> dict[str, Any]:
    """`geoip` and `asn` of the client's address, None where they are not known.

    Whoever tries a policy out may say in the context where the client is said to be.
    """
    given = request.context if request.is_test else {}
    known = work.find(Locations)
    place, network = known.place(request.client_ip), known.network(request.client_ip)
    return {
        "geoip": given.get("geoip", place.facts() if place is not None else None),
        "asn": given.get("asn", network.facts() if network is not None else None),
    }
