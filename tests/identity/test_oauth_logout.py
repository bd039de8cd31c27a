"""Signing out: asked for by a client, and told to all the others."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit

import httpx
import msgspec
import pytest

from kith.base.jobs import store as jobs
from kith.identity.providers.oauth2.logout.front_channel import WITHOUT_BROWSER, FrontNotice
from kith.identity.providers.oauth2.logout.propagation import LOOK, SessionSweep
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser
from tests.identity.logout_receiver import Listener, listening
from tests.identity.records import make_flow, owner_of, results
from tests.identity.relying_party import RelyingParty, make_party, signed_in
from tests.town import Person, Town

BYE = "https://rp.example/bye"


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    async with listening() as made:
        yield made


async def leave(party: RelyingParty, browser: Browser, **sent: str) -> httpx.Response:
    return await browser.http.get(f"/application/o/{party.slug}/end-session/", params=sent)


async def test_a_client_signs_its_own_session_out_and_gets_people_back(town: Town, ada: Person) -> None:
    party = await make_party(town, ada, post_logout_redirect_uris=BYE)
    _, browser = await signed_in(town)
    tokens = await party.tokens(browser, scope="openid email")
    lasting = await party.tokens(browser, scope="openid offline_access")

    answer = await leave(party, browser, id_token_hint=tokens["id_token"], post_logout_redirect_uri=BYE, state="a&b")
    assert answer.status_code == 303
    assert await browser.who() is None
    onward = await browser.http.get(answer.headers["location"])
    assert onward.headers["location"] == f"{BYE}?state=a%26b"
    assert (await party.userinfo(tokens["access_token"])).status_code == 401
    assert (await party.userinfo(lasting["access_token"])).status_code == 401
    assert (await party.refresh(lasting["refresh_token"])).status_code == 200


async def test_a_mere_link_signs_nobody_out(town: Town, ada: Person) -> None:
    party = await make_party(town, ada, post_logout_redirect_uris=BYE)
    _, stranger = await signed_in(town)
    person, browser = await signed_in(town)
    foreign = (await party.tokens(stranger))["id_token"]

    for sent in ({}, {"id_token_hint": foreign}, {"id_token_hint": foreign, "post_logout_redirect_uri": BYE}):
        answer = await leave(party, browser, **sent)
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/flows/")
        page = await browser.http.get(answer.headers["location"])
        assert "Do you want to sign out" in page.text
        assert await browser.who() == person.username

    found = re.search(r'name="csrf" value="([^"]+)"', page.text)
    assert found is not None
    done = await browser.http.post(answer.headers["location"], data={"csrf": found[1], "component": "sign-out"})
    assert await browser.who() is None
    assert (await browser.http.get(done.headers["location"])).headers["location"] == BYE


async def test_nobody_is_sent_where_the_client_did_not_say(town: Town, ada: Person) -> None:
    party = await make_party(town, ada, post_logout_redirect_uris=f"{BYE} https://rp.example/bye?a=1")
    _, browser = await signed_in(town)
    hint = (await party.tokens(browser))["id_token"]
    nobody = Browser(town)
    for uri in (
        f"{BYE}/",
        "https://evil.example/",
        f"{BYE}?x",
        "https://rp.example/",
        "//evil.example",
        "/",
        f"{BYE}#x",
    ):
        assert (await leave(party, nobody, id_token_hint=hint, post_logout_redirect_uri=uri)).status_code == 400, uri
    assert (await leave(party, nobody, post_logout_redirect_uri=BYE)).status_code == 400
    assert (await leave(party, nobody, then="forged")).status_code == 400
    assert "You are signed out" in (await leave(party, nobody)).text
    answer = await leave(
        party, nobody, id_token_hint=hint, post_logout_redirect_uri="https://rp.example/bye?a=1", state="s"
    )
    assert answer.headers["location"] == "https://rp.example/bye?a=1&state=s"
    assert (await nobody.http.get("/application/o/nothing/end-session/")).status_code == 404
    posted = await nobody.http.post(
        "/application/o/end-session/", data={"id_token_hint": hint, "post_logout_redirect_uri": BYE}
    )
    assert posted.headers["location"] == BYE


async def test_clients_are_told_in_the_browser(town: Town, ada: Person) -> None:
    party = await make_party(
        town, ada, logout_uri="https://rp.example/out?x=1", logout_method="frontchannel", post_logout_redirect_uris=BYE
    )
    _, browser = await signed_in(town)
    tokens = await party.tokens(browser)
    claims = await party.read(tokens["id_token"])

    answer = await leave(party, browser, id_token_hint=tokens["id_token"], post_logout_redirect_uri=BYE)
    page = await browser.http.get(answer.headers["location"])
    assert page.status_code == 200
    [frame] = re.findall(r'<iframe src="([^"]+)"', page.text)
    query = parse_qs(urlsplit(frame.replace("&amp;", "&")).query)
    assert query == {"x": ["1"], "iss": [party.issuer], "sid": [claims["sid"]]}
    assert "frame-src https://rp.example" in page.headers["content-security-policy"]
    assert BYE in page.text

    _, browser = await signed_in(town)
    await party.tokens(browser)
    page = await browser.http.get("/flows/default-invalidation-flow/")
    found = re.search(r'name="csrf" value="([^"]+)"', page.text)
    assert found is not None
    done = await browser.http.post(
        "/flows/default-invalidation-flow/", data={"csrf": found[1], "component": "sign-out"}
    )
    assert "<iframe" in (await browser.http.get(done.headers["location"])).text


async def test_however_many_clients_are_told_in_the_browser_the_way_back_is_there(town: Town, ada: Person) -> None:
    _, browser = await signed_in(town)
    for number in range(16):
        uri = f"https://rp{number}.example/out"
        party = await make_party(town, ada, logout_uri=uri, logout_method="frontchannel", post_logout_redirect_uris=BYE)
        tokens = await party.tokens(browser)

    answer = await leave(party, browser, id_token_hint=tokens["id_token"], post_logout_redirect_uri=BYE)
    page = await browser.http.get(answer.headers["location"])

    assert page.status_code == 200
    assert 5 < page.text.count("<iframe") <= 16
    assert BYE in page.text
    assert await browser.who() is None


async def front_jobs(town: Town) -> set[str]:
    async with town.house() as house, house.works.begin() as work:
        found = await jobs.listed(work.db, state=None, kind=WITHOUT_BROWSER.name, most=1000)
    return {msgspec.json.decode(one.payload, type=FrontNotice).url for one in found}


async def test_clients_of_the_browser_are_told_directly_where_none_comes(
    new_town: TownBuilder, listener: Listener
) -> None:
    town = await new_town(private_hosts="127.0.0.1")
    owner = await town.owner()
    party = await make_party(town, owner, logout_uri=f"{listener.url}?x=1", logout_method="frontchannel")
    person, browser = await signed_in(town)
    sid = (await party.read((await party.tokens(browser))["id_token"]))["sid"]
    [user] = await results(owner, "/core/users/", username=person.username)
    await owner.call("PATCH", f"/api/v2/core/users/{user['pk']}/", json={"is_active": False})
    async with asyncio.timeout(30):
        loaded = await listener.loaded.get()
    assert parse_qs(urlsplit(loaded).query) == {"x": ["1"], "iss": [party.issuer], "sid": [sid]}

    # A session that ends leaves the browser some time, and what the browser has told is not told again.
    _, program = await signed_in(town)
    sid = (await party.read((await party.tokens(program))["id_token"]))["sid"]
    await program.sign_out()
    async with asyncio.timeout(30):
        while not any(sid in url for url in await front_jobs(town)):
            await asyncio.sleep(0.05)
    _, browser = await signed_in(town)
    tokens = await party.tokens(browser)
    sid = (await party.read(tokens["id_token"]))["sid"]
    answer = await leave(party, browser, id_token_hint=tokens["id_token"])
    assert "<iframe" in (await browser.http.get(answer.headers["location"])).text
    assert not any(sid in url for url in await front_jobs(town))
    assert listener.loaded.empty()


async def test_clients_are_told_behind_the_scenes_however_a_session_ends(
    new_town: TownBuilder, listener: Listener
) -> None:
    town = await new_town(private_hosts="127.0.0.1")
    owner = await town.owner()
    party = await make_party(town, owner, logout_uri=listener.url)
    person = await town.sign_up()

    _, browser = await signed_in(town, person)
    lasting = await party.tokens(browser)
    claims = await party.read(lasting["id_token"])
    short = await party.tokens(browser, scope="openid")
    await browser.sign_out()
    assert await browser.who() is None
    await listener.hears(party, claims)
    for one in (short, lasting):
        assert (await party.userinfo(one["access_token"])).status_code == 401
    assert (await party.refresh(lasting["refresh_token"])).status_code == 200

    _, first = await signed_in(town, person)
    _, second = await signed_in(town, person)
    claims = await party.read((await party.tokens(first))["id_token"])
    page = await second.http.get("/settings/security")
    found = re.search(r'name="csrf" value="([^"]+)"', page.text)
    assert found is not None
    ended = await second.http.post("/settings/security/sessions/end-others", data={"csrf": found[1]})
    assert ended.status_code == 303, ended.text
    async with town.house() as house, house.works.begin() as work:
        work.enqueue(LOOK, SessionSweep())
    await listener.hears(party, claims)


async def test_a_provider_may_have_its_own_way_out(town: Town, ada: Person) -> None:
    """A flow that does not end the session ends what this client got in it."""
    flow = await make_flow(ada, "invalidation")
    party = await make_party(town, ada, post_logout_redirect_uris=BYE, invalidation_flow=flow["pk"])
    person, browser = await signed_in(town)
    tokens = await party.tokens(browser, scope="openid")

    answer = await leave(party, browser, id_token_hint=tokens["id_token"], post_logout_redirect_uri=BYE)
    assert (await browser.http.get(answer.headers["location"])).headers["location"] == BYE
    assert await browser.who() == person.username
    assert (await party.userinfo(tokens["access_token"])).status_code == 401
