"""Signing out: asked for by a client, and told to all the others."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
import pytest

from kith.identity.providers.oauth2.logout import LOOK, Look
from tests.conftest import TownBuilder
from tests.identity.making import make_flow, owner_of
from tests.identity.relying import RelyingParty, make_party, signed_in
from tests.identity.walking import Browser
from tests.town import Person, Town

BYE = "https://rp.example/bye"
EVENT = "http://schemas.openid.net/event/backchannel-logout"


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


class Listener:
    """A client's own server: keeps what it is sent, and fails as often as it is told to."""

    def __init__(self) -> None:
        self.heard: list[dict[str, list[str]]] = []
        self.failures = 0
        self.came = asyncio.Event()
        self.url = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        found = re.search(r"(?i)content-length: (\d+)", head)
        body = await reader.readexactly(int(found[1]) if found else 0)
        ok = self.failures == 0
        self.failures = max(0, self.failures - 1)
        writer.write(b"HTTP/1.1 200 OK\r\n" if ok else b"HTTP/1.1 400 Bad Request\r\n")
        writer.write(b"Content-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()
        if ok:
            self.heard.append(parse_qs(body.decode()))
            self.came.set()

    async def next(self) -> dict[str, list[str]]:
        async with asyncio.timeout(60):
            await self.came.wait()
        self.came.clear()
        return self.heard.pop(0)


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    made = Listener()
    server = await asyncio.start_server(made.answer, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/backchannel"
    async with server:
        yield made


async def leave(party: RelyingParty, browser: Browser, **sent: str) -> httpx.Response:
    return await browser.http.get(f"/application/o/{party.slug}/end-session/", params=sent)


async def test_a_client_signs_its_own_session_out_and_gets_people_back(town: Town, ada: Person) -> None:
    party = await make_party(town, ada, post_logout_redirect_uris=BYE)
    _, browser = await signed_in(town)
    tokens = await party.tokens(browser, scope="openid email")

    answer = await leave(party, browser, id_token_hint=tokens["id_token"], post_logout_redirect_uri=BYE, state="a&b")
    assert answer.status_code == 303
    assert await browser.who() is None
    onward = await browser.http.get(answer.headers["location"])
    assert onward.headers["location"] == f"{BYE}?state=a%26b"
    async with asyncio.timeout(30):
        while (await party.userinfo(tokens["access_token"])).status_code != 401:
            await asyncio.sleep(0.05)


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
    assert (await leave(party, nobody)).headers["location"] == "/"
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


async def test_clients_are_told_behind_the_scenes_however_a_session_ends(
    new_town: TownBuilder, listener: Listener
) -> None:
    town = await new_town(private_hosts="127.0.0.1")
    owner = await town.owner()
    party = await make_party(town, owner, logout_uri=listener.url)
    person = await town.sign_up()

    async def heard(claims: dict[str, Any]) -> None:
        token = (await listener.next())["logout_token"][0]
        assert jwt.get_unverified_header(token)["typ"] == "logout+jwt"
        told = await party.read(token)
        assert (told["sub"], told["sid"], told["events"]) == (claims["sub"], claims["sid"], {EVENT: {}})
        assert "nonce" not in told
        assert {"iat", "exp", "jti"} <= set(told)

    _, browser = await signed_in(town, person)
    lasting = await party.tokens(browser)
    claims = await party.read(lasting["id_token"])
    short = await party.tokens(browser, scope="openid")
    await browser.see("default-invalidation-flow")
    assert await browser.who() is None
    await heard(claims)
    assert (await party.userinfo(short["access_token"])).status_code == 401
    assert (await party.refresh(lasting["refresh_token"])).status_code == 200

    _, first = await signed_in(town, person)
    _, second = await signed_in(town, person)
    claims = await party.read((await party.tokens(first))["id_token"])
    page = await second.http.get("/settings/security")
    found = re.search(r'name="csrf" value="([^"]+)"', page.text)
    assert found is not None
    ended = await second.http.post("/settings/security/sessions/end-others", data={"csrf": found[1]})
    assert ended.status_code in (200, 303), ended.text
    async with town.house() as house, house.works.begin() as work:
        work.enqueue(LOOK, Look())
    await heard(claims)


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
