"""Passes by where the client is: by country or network, and by how far that is from earlier sign-ins.

Where an address is comes from the operator's file (`KITH_GEOIP_FILE`). Of an address that is in no file, and without a
file of all addresses, nothing can be told: the binding's `failure_result` counts.
"""

from __future__ import annotations

from typing import Any

from kith.base.work import Work
from kith.identity.audit import store as events
from kith.identity.locations.countries import COUNTRIES
from kith.identity.locations.places import coordinates, distance_km
from kith.identity.locations.service import Locations
from kith.identity.policies.family import POLICIES, PolicyRecord
from kith.identity.policies.request import CannotTell, PolicyRequest, PolicyVerdict
from kith.identity.policies.whereabouts import whereabouts
from kith.identity.rest.fields import Boolean, Choices, Integer, InvalidValue
from kith.identity.rest.resource import Resource, kind_table

FASTEST_KM_PER_HOUR = 1000  # of whoever travels by air
MOST_ASN = 2**32 - 1
MOST_KM = 20_100  # half way around the earth, and a little
NO_FILE = "Where this address is cannot be told: the server has no file of addresses (KITH_GEOIP_FILE)."
NO_COUNTRY = "The country of this address is not known."
NO_NETWORK = "The network of this address is not known."
NO_PLACE = "Where this address is, is not known."
WRONG_COUNTRY = "You cannot enter from this country."
WRONG_NETWORK = "You cannot enter from this network."
WRONG_PLACE = "You cannot enter from this country or network."
TOO_FAR = "This is too far away from where you signed in before."
IMPOSSIBLE = "You cannot have travelled here since you last signed in."


class AutonomousSystems(Choices, frozen=True, kw_only=True):
    """Numbers of autonomous systems; `AS64500` is understood, too."""

    def _one(self, item: Any) -> int:
        text = item.upper().removeprefix("AS") if isinstance(item, str) else item
        if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= 10:
            text = int(text)
        if isinstance(text, int) and not isinstance(text, bool) and 0 < text <= MOST_ASN:
            return text
        raise InvalidValue("Enter numbers of autonomous systems such as 64500.")

    def holds(self) -> str:
        return "list[int]"

    def shape(self) -> dict[str, Any]:
        item = {"type": "integer", "minimum": 1, "maximum": MOST_ASN}
        return {"type": "array", "items": item, "maxItems": self.most}


FIELDS = (
    AutonomousSystems(name="asns", most=500, help="Networks (autonomous systems) that pass."),
    Choices(
        name="countries",
        choices=COUNTRIES,
        also={code.lower(): code for code in COUNTRIES},
        most=len(COUNTRIES),
        help="Countries that pass, as ISO 3166 codes. With networks too, one of the two is enough.",
    ),
    Boolean(name="check_history_distance", default=False, help="Refuse what is far from earlier sign-ins."),
    Integer(name="history_max_distance_km", default=100, least=0, most=MOST_KM),
    Integer(name="distance_tolerance_km", default=50, least=0, most=MOST_KM, help="Added, as places are not exact."),
    Integer(name="history_login_count", default=5, least=1, most=100, help="How many earlier sign-ins count."),
    Boolean(
        name="check_impossible_travel",
        default=False,
        help=f"Refuse what nobody can have reached since, at {FASTEST_KM_PER_HOUR} km an hour.",
    ),
    Integer(name="impossible_tolerance_km", default=100, least=0, most=MOST_KM),
)


class GeoIPPolicy(PolicyRecord, kw_only=True):
    asns: list[int]
    countries: list[str]
    check_history_distance: bool
    history_max_distance_km: int
    distance_tolerance_km: int
    history_login_count: int
    check_impossible_travel: bool
    impossible_tolerance_km: int


async def passes(work: Work, record: GeoIPPolicy, request: PolicyRequest) -> PolicyVerdict:
    known = whereabouts(work, request)
    verdict = _check_lists(work, record, known)
    if verdict.passing and (record.check_history_distance or record.check_impossible_travel):
        verdict = await _check_travel(work, record, request, known)
    verdict.log.insert(0, f"place: {_told(known['geoip'])}; network: {_told(known['asn'])}")
    return verdict


def _check_lists(work: Work, record: GeoIPPolicy, known: dict[str, Any]) -> PolicyVerdict:
    """One list that has the client is enough; one that cannot be told is no."""
    wanted = (
        (record.asns, _fact(known["asn"], "asn"), WRONG_NETWORK, NO_NETWORK),
        (record.countries, _fact(known["geoip"], "country"), WRONG_COUNTRY, NO_COUNTRY),
    )
    asked = [one for one in wanted if one[0]]
    if not asked or any(value in allowed for allowed, value, _, _ in asked):
        return PolicyVerdict(passing=True)
    unknown = [words for _, value, _, words in asked if not value]
    if unknown:
        raise CannotTell(_unknown(work, known, unknown[0]))
    words = asked[0][2] if len(asked) == 1 else WRONG_PLACE
    return PolicyVerdict(passing=False, messages=[words])


async def _check_travel(
    work: Work, record: GeoIPPolicy, request: PolicyRequest, known: dict[str, Any]
) -> PolicyVerdict:
    """Compared with each of the last sign-ins whose place is known; without any, everything is possible."""
    here = coordinates(known["geoip"])
    if here is None:
        raise CannotTell(_unknown(work, known, NO_PLACE))
    if request.person is None:
        return PolicyVerdict(passing=True, log=["nobody is signed in yet"])
    log = []
    for at, context in await events.logins_of(work.db, request.person.user.id, record.history_login_count):
        there = coordinates(context.get("geo"))
        if there is None:
            continue
        far, hours = distance_km(here, there), max((work.now - at).total_seconds() / 3600, 1.0)
        log.append(f"{far:.0f} km from the sign-in of {at:%Y-%m-%d %H:%M}")
        reach = FASTEST_KM_PER_HOUR * hours + record.impossible_tolerance_km
        if record.check_history_distance and far > record.history_max_distance_km + record.distance_tolerance_km:
            return PolicyVerdict(passing=False, messages=[TOO_FAR], log=log)
        if record.check_impossible_travel and far > reach:
            return PolicyVerdict(passing=False, messages=[IMPOSSIBLE], log=log)
    return PolicyVerdict(passing=True, log=log)


def _told(facts: Any) -> str:
    told = ", ".join(str(value) for value in facts.values() if value) if isinstance(facts, dict) else ""
    return told or "not known"


def _fact(facts: Any, name: str) -> Any:
    return facts.get(name) if isinstance(facts, dict) else None


def _unknown(work: Work, known: dict[str, Any], words: str) -> str:
    has_file = work.find(Locations).knows_places or known["geoip"] is not None
    return words if has_file else NO_FILE


RESOURCE = Resource(
    path="/policies/geoip/",
    name="GeoIPPolicy",
    record=GeoIPPolicy,
    key="policy_uuid",
    family=POLICIES,
    kind="geoip",
    table=kind_table("identity_policies_geoip", POLICIES, FIELDS),
    fields=FIELDS,
    exact=("name", "check_history_distance", "check_impossible_travel"),
)
