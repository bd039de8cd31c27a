"""Where people are: read from the operator's file, told in events and sessions, and decided by in policies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.base.settings import Settings
from kith.identity.locations import service
from kith.identity.locations.places import GeoPlace, Network, coordinates, distance_km, read_network, read_place
from kith.identity.locations.service import Locations
from tests.conftest import TownBuilder
from tests.identity.address_files import BERLIN, CITIES, NOWHERE, PARIS, POTSDAM, SYDNEY, city, files, write
from tests.identity.flow_browser import Browser
from tests.identity.records import (
    API,
    make,
    make_binding,
    make_stage,
    new_name,
    owner_of,
    person_who_may,
    results,
)
from tests.identity.relying_party import make_party, signed_in
from tests.town import Person, Town

BERLIN_AT, SYDNEY_AT = (52.52, 13.4), (-33.87, 151.21)


# What files say


@pytest.mark.parametrize(
    ("one", "other", "km"),
    [
        (BERLIN_AT, BERLIN_AT, 0),
        (BERLIN_AT, SYDNEY_AT, 16_095),
        ((0.0, 0.0), (0.0, 180.0), 20_015),
        ((90.0, 0.0), (-90.0, 77.0), 20_015),
        ((0.0, 179.5), (0.0, -179.5), 111),
    ],
)
def test_how_far_two_places_are_apart(one: tuple[float, float], other: tuple[float, float], km: int) -> None:
    assert round(distance_km(one, other)) == km


@pytest.mark.parametrize(
    ("record", "place", "network"),
    [
        (
            city("EU", "DE", "Berlin", *BERLIN_AT),
            GeoPlace(continent="EU", country="DE", city="Berlin", lat=52.52, long=13.4),
            None,
        ),
        (
            {"country_code": "fr", "continent_code": "EU", "asn": "AS64500", "as_name": "X"},
            GeoPlace(continent="EU", country="FR"),
            Network(asn=64500, as_org="X", network="n"),
        ),
        ({"autonomous_system_number": 7}, None, Network(asn=7, network="n")),
        ({"country": {"iso_code": "DE"}, "location": {"latitude": 900}}, GeoPlace(country="DE"), None),
        ({"country": "DE", "asn": "AS", "city": 7}, None, None),
        ({"asn": True}, None, None),
        ([], None, None),
        (None, None, None),
    ],
)
def test_what_a_record_says(record: Any, place: GeoPlace | None, network: Network | None) -> None:
    assert (read_place(record), read_network(record, "n")) == (place, network)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["country", "iso_code", "location", "latitude", "longitude", "asn", "city", "names", "en"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(_JSON)
def test_no_record_is_too_strange_to_be_read(record: Any) -> None:
    place = read_place(record)
    read_network(record, "n")
    assert place is None or coordinates(place.facts()) is None or abs(coordinates(place.facts())[0]) <= 90  # type: ignore[index]


def test_a_file_is_read_again_when_it_was_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LOOK_SECONDS", 0.0)
    path = tmp_path / "cities.mmdb"
    known = Locations(Settings(geoip_file=str(path)))
    told = [known.place(BERLIN)]
    write(path, CITIES)
    told += [known.place(BERLIN), known.place(PARIS), known.place(NOWHERE), known.place("no address")]
    write(path, {"192.0.2.0/24": {"country": {"iso_code": "AT"}}})
    told.append(known.place(BERLIN))
    path.write_bytes(b"not a database at all")
    told.append(known.place(BERLIN))
    path.unlink()
    told.append(known.place(BERLIN))
    known.close()

    assert [one.country if one else None for one in told] == [None, "DE", "FR", None, None, "AT", None, None]


def test_a_file_that_is_cut_off_or_mixed_up_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LOOK_SECONDS", 0.0)
    path = tmp_path / "cities.mmdb"
    whole = Path(write(path, CITIES)).read_bytes()
    known = Locations(Settings(geoip_file=str(path)))
    for cut in range(0, len(whole), 7):
        path.write_bytes(whole[:cut] + bytes([whole[cut] ^ 0xFF]) + whole[cut + 1 :])
        known.place(BERLIN)
        path.write_bytes(whole[:cut])
        assert known.place(BERLIN) is None
    path.write_bytes(whole)
    assert known.place(BERLIN) == GeoPlace(continent="EU", country="DE", city="Berlin", lat=52.52, long=13.4)
    known.close()


# What a server does with it


@pytest.fixture
async def town(new_town: TownBuilder, tmp_path: Path) -> Town:
    return await new_town(**files(tmp_path))


def _at(address: str) -> dict[str, str]:
    return {"X-Forwarded-For": address}


async def _tried(ada: Person, policy: dict[str, Any], user: int, address: str, **context: Any) -> dict[str, Any]:
    answer = await ada.call(
        "POST",
        f"{API}/policies/all/{policy['pk']}/test/",
        json={"user": user, "context": context},
        headers=_at(address),
    )
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def _me(person: Person) -> int:
    return int((await person.get(f"{API}/core/users/me/")).json()["user"]["pk"])


async def test_policies_decide_by_country_and_network(town: Town) -> None:
    ada = await town.owner()
    me = await _me(ada)
    countries = await make(ada, "/policies/geoip/", name="c", countries=["de", "FR"])
    networks = await make(ada, "/policies/geoip/", name="n", asns=["AS64500"])
    both = await make(ada, "/policies/geoip/", name="b", countries=["AU"], asns=[64500])
    nothing = await make(ada, "/policies/geoip/", name="x")

    async def told(policy: dict[str, Any], *addresses: str) -> list[Any]:
        found = [await _tried(ada, policy, me, address) for address in addresses]
        return [True if one["passing"] else one["messages"] for one in found]

    assert (countries["countries"], networks["asns"]) == (["DE", "FR"], [64500])
    wrong, unknown = ["You cannot enter from this country."], ["The country of this address is not known."]
    assert await told(countries, BERLIN, PARIS, SYDNEY, NOWHERE) == [True, True, wrong, unknown]
    wrong, unknown = ["You cannot enter from this network."], ["The network of this address is not known."]
    assert await told(networks, BERLIN, POTSDAM, SYDNEY) == [True, wrong, unknown]
    wrong = ["You cannot enter from this country or network."]
    assert await told(both, BERLIN, SYDNEY, POTSDAM) == [True, True, wrong]
    assert await told(nothing, NOWHERE) == [True]
    # Whoever tries a policy out says where the client is.
    said = await _tried(ada, countries, me, SYDNEY, geoip={"country": "FR"})
    assert said["passing"] is True


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"countries": ["XX"]}, "countries"),
        ({"countries": "DE"}, "countries"),
        ({"asns": [0]}, "asns"),
        ({"asns": ["AS99999999999"]}, "asns"),
        ({"asns": [True]}, "asns"),
        ({"asns": list(range(1, 600))}, "asns"),
        ({"history_login_count": 0}, "history_login_count"),
        ({"history_login_count": 101}, "history_login_count"),
        ({"impossible_tolerance_km": -1}, "impossible_tolerance_km"),
    ],
)
async def test_what_cannot_be_a_policy_is_refused(shared: Town, sent: dict[str, Any], field: str) -> None:
    ada = await shared.owner()

    answer = await ada.call("POST", f"{API}/policies/geoip/", json={"name": new_name("g"), **sent})

    assert (answer.status_code, list(answer.json())) == (400, [field])


async def test_nobody_can_have_been_in_two_places_at_once(town: Town) -> None:
    ada = await town.owner()
    person = await town.sign_up()
    [user] = await results(ada, "/core/users/", username=person.username)
    app = await make(ada, "/core/applications/", name="Wiki", slug="wiki")
    travel = await make(ada, "/policies/geoip/", name="t", check_impossible_travel=True)
    near = await make(ada, "/policies/geoip/", name="d", check_history_distance=True, history_max_distance_km=30)
    await make(ada, "/policies/bindings/", policy=travel["pk"], target=app["pbm_uuid"], order=0)

    async def may_enter(address: str) -> dict[str, Any]:
        path = f"{API}/core/applications/{app['pk']}/check_access/"
        told: dict[str, Any] = (await person.call("GET", path, headers=_at(address))).json()
        return told

    assert (await may_enter(SYDNEY))["passing"] is True  # they were nowhere yet
    browser = Browser(town)
    browser.http.headers.update(_at(BERLIN))
    await browser.sign_in(person)

    [event] = await results(ada, "/audit/events/", action="login", user=user["pk"])
    assert event["client_ip"] == BERLIN
    assert event["context"]["geo"] == {
        "continent": "EU", "country": "DE", "city": "Berlin", "lat": 52.52, "long": 13.4,
    }  # fmt: skip
    assert event["context"]["asn"] == {"asn": 64500, "as_org": "Spree Net", "network": "192.0.2.0/24"}
    assert (await may_enter(POTSDAM))["passing"] is True
    assert (await may_enter(PARIS))["passing"] is True
    refused = await may_enter(SYDNEY)
    assert refused["passing"] is False
    assert refused["messages"] == ["You cannot have travelled here since you last signed in."]
    assert (await may_enter(NOWHERE))["messages"] == ["Where this address is, is not known."]
    assert (await _tried(ada, near, user["pk"], POTSDAM))["passing"] is True
    far = await _tried(ada, near, user["pk"], PARIS)
    assert far["messages"] == ["This is too far away from where you signed in before."]


async def test_a_flow_turns_away_whoever_cannot_have_travelled(town: Town) -> None:
    ada, person = await town.owner(), await town.sign_up()
    [flow] = await results(ada, "/flows/instances/", slug="default-authentication-flow")
    travel = await make(ada, "/policies/geoip/", name="t", check_impossible_travel=True)
    deny = await make_stage(ada, "deny", deny_message="Not from there.")
    bound = await make_binding(ada, flow, deny, order=25, re_evaluate_policies=True)
    await make(ada, "/policies/bindings/", policy=travel["pk"], target=bound["pbm_uuid"], order=0, negate=True)
    told = []
    for address in (BERLIN, PARIS, SYDNEY):
        browser = Browser(town)
        browser.http.headers.update(_at(address))
        shown = await browser.sign_in(person)
        told.append((shown["component"], await browser.who() is not None))

    assert told == [("redirect", True), ("redirect", True), ("access-denied", False)]


async def test_an_application_that_renews_tokens_is_not_taken_for_the_person(town: Town) -> None:
    ada, person = await town.owner(), await town.sign_up()
    policy = await make(ada, "/policies/geoip/", name="g", countries=["DE"])
    service = await make_party(town, ada)
    device = await make_party(town, ada, client_type="public")
    browser = Browser(town)
    browser.http.headers.update(_at(BERLIN))
    await browser.sign_in(person)
    answers = []
    for party, secretly in ((service, True), (device, False)):
        target = party.application["pbm_uuid"]
        await make(ada, "/policies/bindings/", policy=policy["pk"], target=target, order=0)
        tokens = await party.tokens(browser, secretly=secretly)
        answers.append(await party.refresh(tokens["refresh_token"], secretly=secretly))

    assert [one.status_code for one in answers] == [200, 403]
    assert answers[1].json()["error"] == "access_denied"


async def test_expressions_know_where_the_client_is(town: Town) -> None:
    ada = await town.owner()
    body = "message(str(context['geoip']['country']) + ' ' + str(context['asn']))\nreturn True"
    policy = await make(ada, "/policies/expression/", name="e", expression=body)

    told = await _tried(ada, policy, await _me(ada), SYDNEY)

    assert told["messages"] == ["AU None"]


async def test_a_client_that_is_not_behind_a_trusted_proxy_cannot_say_where_it_is(
    new_town: TownBuilder, tmp_path: Path
) -> None:
    town = await new_town(**files(tmp_path) | {"trusted_proxies": "10.0.0.0/8"})
    ada = await town.owner()
    policy = await make(ada, "/policies/geoip/", name="g", countries=["DE"])

    told = await _tried(ada, policy, await _me(ada), BERLIN)

    assert told == {
        "passing": False,
        "messages": ["The country of this address is not known."],
        "log_messages": [],
    }


@pytest.fixture
async def shared(request: pytest.FixtureRequest, engine: Any, shared_towns: Any) -> Town:
    found: Town = await shared_towns.get(engine)
    return found


async def test_without_a_file_the_binding_says_what_counts(shared: Town) -> None:
    ada = await shared.owner()
    app = await make(ada, "/core/applications/", name="Wiki", slug=new_name("wiki"))
    policy = await make(ada, "/policies/geoip/", name=new_name("g"), countries=["DE"])
    bound = await make(ada, "/policies/bindings/", policy=policy["pk"], target=app["pbm_uuid"], order=0)
    path = f"{API}/core/applications/{app['pk']}/check_access/"

    closed = (await ada.get(path)).json()
    await ada.call("PATCH", f"{API}/policies/bindings/{bound['pk']}/", json={"failure_result": True})
    opened = (await ada.get(path)).json()

    assert (closed["passing"], opened["passing"]) == (False, True)
    assert closed["messages"] == [
        "Where this address is cannot be told: the server has no file of addresses (KITH_GEOIP_FILE)."
    ]


async def test_a_bound_session_ends_when_it_goes_on_from_elsewhere(town: Town) -> None:
    ada = await town.owner()
    [stage] = await results(ada, "/stages/user_login/", name="default-authentication-login")
    where = f"{API}/stages/user_login/{stage['pk']}/"
    ended = []
    for bound, moves in (
        ({"geoip_binding": "bind_continent"}, [POTSDAM, PARIS, SYDNEY]),
        ({"geoip_binding": "bind_continent_country"}, [POTSDAM, BERLIN, PARIS]),
        ({"geoip_binding": "bind_continent_country_city"}, ["192.0.2.99", POTSDAM]),
        ({"geoip_binding": "no_binding", "network_binding": "bind_asn"}, ["192.0.2.99", POTSDAM]),
        ({"network_binding": "bind_asn_network"}, ["192.0.2.99", NOWHERE]),
        ({"network_binding": "bind_asn_network_ip"}, [BERLIN, "192.0.2.99"]),
        ({"network_binding": "no_binding"}, [POTSDAM, SYDNEY, NOWHERE]),
    ):
        assert (await ada.call("PATCH", where, json=bound)).status_code == 200
        person = await town.sign_up()
        browser = Browser(town)
        browser.http.headers.update(_at(BERLIN))
        await browser.sign_in(person)
        stayed = []
        for address in moves:
            browser.http.headers.update(_at(address))
            stayed.append(await browser.who() == person.username)
        ended.append(stayed)

    assert ended[:-1] == [[True, True, False], [True, True, False], *[[True, False]] * 4]
    assert ended[-1] == [True, True, True]
    events = await results(ada, "/audit/events/", action="logout")
    assert len(events) == 6
    assert all(one["context"]["logout_reason"].startswith("bound session: ") for one in events)


async def test_people_see_where_they_are_signed_in(town: Town) -> None:
    ada = await town.owner()
    person, browser = await signed_in(town)
    other, _ = await signed_in(town)
    moved = Browser(town)
    moved.http.headers.update(_at(SYDNEY) | {"User-Agent": "Mozilla/5.0 (X11; Linux) Firefox/140.0"})
    await moved.sign_in(person)
    path = "/core/authenticated_sessions/"

    mine = (await browser.http.get(API + path, params={"ordering": "created"})).json()["results"]
    all_of_them = await results(ada, path)
    [here, there] = mine

    assert {one["user"] for one in mine} == {await _me(person)}
    assert {one["user"] for one in all_of_them} >= {await _me(person), await _me(other)}
    assert (here["current"], there["current"]) == (True, False)
    assert (here["geo_ip"], here["last_ip"]) == (None, "127.0.0.1")
    assert (there["geo_ip"]["city"], there["asn"]) == ("Sydney", None)
    assert (there["user_agent"]["user_agent"], there["user_agent"]["os"]) == ("Firefox", "Linux")
    assert "key_hash" not in there
    [theirs] = [one for one in all_of_them if one["user"] == await _me(other)]
    headers = {"X-CSRF-Token": browser.http.cookies.get("kith_csrf") or ""}
    assert (await browser.http.delete(f"{API}{path}{theirs['pk']}/", headers=headers)).status_code == 404
    assert (await browser.http.delete(f"{API}{path}{there['pk']}/", headers=headers)).status_code == 204
    assert (await moved.who(), await browser.who()) == (None, person.username)
    assert "203.0.113.5 (Sydney, AU)" not in (await browser.http.get("/settings/security")).text


async def test_where_somebody_tried_is_told_to_them_and_to_staff(town: Town) -> None:
    ada, person = await town.owner(), await town.sign_up()
    browser = Browser(town)
    browser.http.headers.update(_at(SYDNEY))
    await browser.sign_in(person)

    page = (await browser.http.get("/settings/security")).text
    [score] = await results(ada, "/policies/reputation/scores/", ip=SYDNEY)

    assert "203.0.113.5 (Sydney, AU)" in page
    assert (score["ip_geo_data"]["city"], score["ip_asn_data"]) == ("Sydney", None)
    assert score["expires"] > score["updated"]


async def test_staff_end_all_sessions_of_people(shared: Town) -> None:
    ada, people = await owner_of(shared), [await signed_in(shared) for _ in range(2)]
    staff = await person_who_may(shared, ada, "core.delete_authenticatedsession")
    path = f"{API}/core/authenticated_sessions/bulk_delete/"
    ids = [await _me(person) for person, _ in people]

    above = await staff.call("DELETE", path, params={"user_pks": [*ids, await _me(ada)]})
    kept = [await browser.who() is not None for _, browser in people]
    done = await staff.call("DELETE", path, params={"user_pks": ids})
    gone = [await browser.who() for _, browser in people]
    wrong = [await staff.call("DELETE", path, params=sent) for sent in ({}, {"user_pks": "x"})]
    stranger = await people[0][0].call("DELETE", path, params={"user_pks": ids})

    assert (above.status_code, kept) == (403, [True, True])
    assert (done.status_code, done.json(), gone) == (200, {"deleted": 2}, [None, None])
    assert [one.status_code for one in wrong] == [400, 400]
    assert stranger.status_code == 403
