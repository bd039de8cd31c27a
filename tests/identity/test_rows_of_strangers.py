"""What strangers, and members who may not, leave in the database by asking has an end, however often they ask."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

import httpx
import pytest
from sqlalchemy import func, select

from kith.base.db import METADATA, query
from kith.identity.audit.service import OF_REFUSED, OF_STRANGERS
from kith.identity.providers.oauth2.authentication.clients import FAILURES
from kith.identity.providers.oauth2.authorize.return_links import HAND_IN
from kith.identity.providers.sign_on.access import ENTRIES
from kith.identity.sessions.service import BEGINNINGS
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser
from tests.identity.records import API, owner_of, results
from tests.identity.relying_party import CALLBACK, make_party
from tests.identity.saml_services import authn_request, make_service
from tests.identity.scim_service import USER
from tests.identity.scim_service import make_service as make_scim_service
from tests.town import Town

_counts = {table.name: query(select(func.count()).select_from(table), int) for table in METADATA.sorted_tables}


async def rows(town: Town) -> dict[str, int]:
    async with town.house() as house, house.works.begin() as work:
        return {name: await work.db.one(counted) or 0 for name, counted in _counts.items()}


async def app_of_a_stranger(town: Town) -> str:
    form = {"client_name": "a", "redirect_uris": "https://app.example/back"}
    made = (await town.http.post("/api/v1/apps", data=form)).json()
    asked = {"client_id": made["client_id"], "redirect_uri": form["redirect_uris"], "response_type": "code"}
    return f"/oauth/authorize?{urlencode({**asked, 'state': 's' * 8000})}"


async def flow_for_signing_in(town: Town) -> str:
    return f"{API}/flows/executor/default-authentication-flow/"


async def saml_service(town: Town) -> str:
    return (await make_service(town)).redirect(authn_request())


async def saml_service_from_here(town: Town) -> str:
    return f"{(await make_service(town)).path}init/"


async def flow_that_refuses(town: Town) -> str:
    return "/flows/default-source-authentication/"


async def test_a_known_browser_signs_in_beside_strangers_who_use_up_its_address(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    person, browser = await town.sign_up(), Browser(town)
    await browser.sign_in(person)
    known = browser.http.cookies["kith_device"]
    flow, statuses = await flow_for_signing_in(town), list[int]()
    async with httpx.AsyncClient(base_url=town.base_url, transport=town.transport, timeout=60) as stranger:
        while 429 not in statuses and len(statuses) <= 2 * BEGINNINGS.most:
            stranger.cookies.clear()
            statuses.append((await stranger.get(flow)).status_code)
        stranger.cookies.clear()
        stranger.cookies.set("kith_device", known)
        ours = await stranger.get(flow)

    assert statuses[-1] == 429
    assert ours.status_code == 200


async def test_strangers_hide_nothing_that_others_do(new_town: TownBuilder) -> None:
    """Neither what a machine does from the same address, as which nobody signs in."""
    town = await new_town(rate_limits="on")
    service = await make_scim_service(town)
    async with httpx.AsyncClient(base_url=town.base_url, transport=town.transport, timeout=60) as stranger:
        for _ in range(OF_STRANGERS.most + 10):
            stranger.cookies.clear()
            await stranger.get("/flows/default-source-authentication/")

    made = await service.call("POST", "/Users", {"schemas": [USER], "userName": "zoe", "active": True}, expect=201)
    await service.call("DELETE", f"/Users/{made['id']}", expect=204)

    told = await results(await owner_of(town), "/audit/events/", username="scim")
    assert {"model_created", "model_deleted"} <= {one["action"] for one in told}


@pytest.mark.parametrize(
    ("address", "most"),
    [
        (app_of_a_stranger, {"identity_oauth_requests": HAND_IN.most}),
        (flow_for_signing_in, {"identity_sessions": BEGINNINGS.most, "identity_flow_runs": BEGINNINGS.most}),
        (flow_that_refuses, {"identity_sessions": BEGINNINGS.most, "identity_events": OF_STRANGERS.most}),
    ],
    ids=lambda value: getattr(value, "__name__", "most"),
)
async def test_looking_again_and_again_leaves_a_bounded_number_of_rows(
    new_town: TownBuilder, address: Callable[[Town], Awaitable[str]], most: dict[str, int]
) -> None:
    town = await new_town(rate_limits="on")
    path = await address(town)
    tries, statuses = 2 * max(most.values()) + 50, set()  # a new window may begin meanwhile
    before = await rows(town)

    async with httpx.AsyncClient(base_url=town.base_url, transport=town.transport, timeout=60) as stranger:
        for _ in range(tries):
            stranger.cookies.clear()
            answer = await stranger.get(path)
            statuses.add(answer.status_code)

    grown = {name: count - before[name] for name, count in (await rows(town)).items() if count > before[name]}
    assert 429 in statuses
    assert statuses <= {200, 302, 303, 403, 429}
    assert {name for name in grown if grown[name] >= tries} == set(), grown
    assert all(0 < grown[name] <= 2 * bound for name, bound in most.items()), grown


@pytest.mark.parametrize("address", [app_of_a_stranger, saml_service, saml_service_from_here])
async def test_nor_does_one_browser_that_keeps_its_session(
    new_town: TownBuilder, address: Callable[[Town], Awaitable[str]]
) -> None:
    """Its beginning was counted, and each request that is kept is counted as well."""
    town = await new_town(rate_limits="on")
    path, tries = await address(town), 2 * HAND_IN.most + 50
    before = await rows(town)

    async with httpx.AsyncClient(base_url=town.base_url, transport=town.transport, timeout=60) as stranger:
        statuses = {(await stranger.get(path)).status_code for _ in range(tries)}

    grown = {name: count - before[name] for name, count in (await rows(town)).items() if count > before[name]}
    assert 429 in statuses
    assert statuses <= {302, 303, 429}
    assert {name for name in grown if grown[name] > 2 * HAND_IN.most} == set(), grown


async def test_requests_that_are_pushed_are_counted_and_measured(new_town: TownBuilder) -> None:
    """Without a secret anybody knows the client's name."""
    town = await new_town(rate_limits="on")
    party = await make_party(town, await owner_of(town), client_type="public")
    form = {"client_id": party.id, "redirect_uri": CALLBACK, "response_type": "code", "scope": "openid"}
    form |= {"code_challenge": "A" * 43, "code_challenge_method": "S256"}

    long = await town.http.post("/application/o/par/", data=form | {"junk": "x" * 20_000})
    statuses = [(await town.http.post("/application/o/par/", data=form)).status_code for _ in range(HAND_IN.most + 1)]

    assert (long.status_code, long.json()["error"]) == (400, "invalid_request")
    assert (statuses[0], statuses[-1]) == (201, 429)


async def place_of_staff(town: Town) -> str:
    return f"{API}/core/users/?search={'z' * 1500}"


async def place_of_an_application(town: Town) -> str:
    party = await make_party(town, await owner_of(town))
    asked = {"client_id": party.id, "redirect_uri": CALLBACK, "response_type": "code", "scope": "openid"}
    return f"/application/o/authorize/?{urlencode({**asked, 'nonce': 'n' * 400})}"


@pytest.mark.parametrize(
    ("address", "most"),
    [
        (place_of_staff, {"identity_events": OF_REFUSED.most}),
        (place_of_an_application, {"identity_events": ENTRIES.most, "identity_oauth_grants": ENTRIES.most}),
    ],
    ids=lambda value: getattr(value, "__name__", "most"),
)
async def test_a_member_who_asks_again_and_again_leaves_a_bounded_number_of_rows(
    new_town: TownBuilder, address: Callable[[Town], Awaitable[str]], most: dict[str, int]
) -> None:
    town = await new_town(rate_limits="on")
    path, person, browser = await address(town), await town.sign_up(), Browser(town)
    await browser.sign_in(person)
    before, tries = await rows(town), 2 * max(most.values()) + 50

    statuses = {(await browser.http.get(path)).status_code for _ in range(tries)}

    grown = {name: count - before[name] for name, count in (await rows(town)).items() if count > before[name]}
    assert statuses <= {302, 403, 429}
    assert {name for name in grown if grown[name] >= tries} == set(), grown
    assert all(0 < grown[name] <= 2 * bound for name, bound in most.items()), grown


async def test_names_of_clients_that_are_made_up_are_counted_together(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")

    statuses = []
    for number in range(FAILURES.most + 1):
        form = {"grant_type": "client_credentials", "client_id": f"none{number}", "client_secret": "x"}
        statuses.append((await town.http.post("/application/o/token/", data=form)).status_code)

    assert set(statuses[:-1]) == {401}
    assert statuses[-1] == 429
