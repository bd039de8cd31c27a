"""Signing out with SAML: asked for by a service, and told to all the others."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs

import httpx
import msgspec
import pytest

from kith.base.jobs import store as jobs
from kith.identity.providers.saml.logout.back_channel import WITHOUT_BROWSER
from kith.identity.providers.saml.logout.notices import SAMLLogoutNotice
from kith.identity.saml import bindings, signatures, xml
from kith.identity.saml.instants import new_id
from kith.identity.saml.logout_messages import read_logout_request, write_logout_request
from kith.identity.saml.names import PERSISTENT
from kith.identity.saml.protocol import LogoutRequest
from tests.identity.flow_browser import Browser
from tests.identity.records import API, make, new_name, owner_of, results
from tests.identity.relying_party import signed_in
from tests.identity.saml_keys import pair
from tests.identity.saml_services import (
    Service,
    authn_request,
    make_service,
    message_of,
    name_of,
    statuses,
    store_pair,
    wants,
)
from tests.town import Person, Town, build_town
from tests.town.plain import PLAIN
from tests.town.town import Engine

SLS = "https://sp.example/sls"


@pytest.fixture(scope="module")
async def town(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """One that may talk to services on this machine."""
    async with build_town(engine, tmp_path_factory.mktemp("saml"), private_hosts="127.0.0.1") as built:
        yield built


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def known_at(service: Service, browser: Browser) -> tuple[str, str]:
    """Somebody enters; by which name and session the service knows them."""
    assertion = service.assertion(await service.ask(browser, authn_request(inside=wants(PERSISTENT))))
    return name_of(assertion)[0], xml.only(assertion, "saml:AuthnStatement").get("SessionIndex")


def logout(service: Service, name: str, *indexes: str, ago: int = 0, **more: Any) -> bytes:
    given: dict[str, Any] = {
        "id": "_out",
        "issuer": "https://sp.example/",
        "name_id": name,
        "session_indexes": list(indexes),
        "destination": f"{service.town.base_url}{service.path}slo/binding/redirect/",
    }
    at = datetime.now(UTC) - timedelta(seconds=ago)
    return xml.to_bytes(write_logout_request(LogoutRequest(**given | more), at))


def out(service: Service, data: bytes, **signed: str) -> str:
    url = f"{service.path}slo/binding/redirect/"
    return bindings.write_query(url, "SAMLRequest", data, relay_state="rs", **signed)


async def follow(browser: Browser, answer: httpx.Response) -> httpx.Response:
    """Redirects within the server."""
    while answer.status_code in (302, 303) and answer.headers["location"].startswith("/"):
        answer = await browser.http.get(answer.headers["location"])
    return answer


@pytest.mark.parametrize("binding", ["redirect", "post"])
async def test_a_service_signs_its_session_out_and_is_answered(town: Town, binding: str) -> None:
    service = await make_service(town, sls_url=SLS, sls_binding=binding, sign_logout_response=True)
    _, browser = await signed_in(town)
    name, index = await known_at(service, browser)
    answer = await follow(browser, await browser.http.get(out(service, logout(service, name, index))))
    data, relay_state, to = message_of(answer)
    assert (relay_state, to) == ("rs", SLS)
    root = xml.parse(data)
    assert (root.get("InResponseTo"), statuses(root)) == ("_out", ["Success"])
    if binding == "post":
        signatures.verify(root, certificate=service.keys.certificate)
    else:
        assert "&SigAlg=" in answer.headers["location"]
    assert await browser.who() is None


async def test_a_posted_request_needs_no_cookie(town: Town) -> None:
    service = await make_service(town, sls_url=SLS)
    _, browser = await signed_in(town)
    name, index = await known_at(service, browser)
    url = f"{town.base_url}{service.path}slo/binding/post/"
    form = {"SAMLRequest": base64.b64encode(logout(service, name, index, destination=url)).decode()}
    async with httpx.AsyncClient(verify=PLAIN) as http:
        kept = await http.post(url, data=form)
    assert kept.status_code == 303
    await follow(browser, await browser.http.get(kept.headers["location"]))
    assert await browser.who() is None


async def test_a_request_that_does_not_know_the_session_ends_nothing(town: Town) -> None:
    service, other = await make_service(town, sls_url=SLS), await make_service(town, sls_url=SLS)
    person, browser = await signed_in(town)
    name, index = await known_at(service, browser)
    _, stranger = await signed_in(town)
    foreign = await known_at(service, stranger)
    for asked in (
        out(service, logout(service, "somebody", index)),
        out(service, logout(service, name, "0" * 64)),
        out(service, logout(service, *foreign)),
        out(other, logout(other, name, index)),
    ):
        answer = await follow(browser, await browser.http.get(asked))
        assert statuses(xml.parse(message_of(answer)[0])) == ["Requester", "UnknownPrincipal"]
    nobody = Browser(town)
    answer = await nobody.http.get(out(service, logout(service, name, index)))
    assert statuses(xml.parse(message_of(answer)[0])) == ["Requester", "UnknownPrincipal"], "unsigned, from elsewhere"
    assert await browser.who() == person.username
    asking = await browser.http.get(out(service, logout(service, name)))
    assert asking.headers["location"].startswith("/flows/"), "without the session's index a page asks first"
    assert await browser.who() == person.username


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"destination": "https://other.example/"}, "another address"),
        ({"not_on_or_after": "2020-01-01T00:00:00Z"}, "expired"),
        ({"ago": 600}, "too old"),
        ({"ago": -600}, "too old"),
    ],
)
async def test_a_bad_request_is_told_on_a_page(town: Town, more: dict[str, Any], words: str) -> None:
    service = await make_service(town, sls_url=SLS)
    _, browser = await signed_in(town)
    name, index = await known_at(service, browser)
    answer = await browser.http.get(out(service, logout(service, name, index, **more)))
    assert (answer.status_code, words in answer.text) == (400, True)
    assert await browser.who() is not None


async def test_a_signed_request_ends_sessions_in_other_browsers(town: Town, ada: Person) -> None:
    theirs = pair("sp")
    service = await make_service(town, sls_url=SLS, verification_kp=await store_pair(ada, theirs, private=False))
    signed = {"key": theirs.key, "algorithm": "rsa-sha256"}
    person, browser = await signed_in(town)
    _, second = await signed_in(town, person)
    request = authn_request(inside=wants(PERSISTENT))
    for one in (browser, second):
        assertion = service.assertion(await service.ask(one, request, **signed))
    name = name_of(assertion)[0]
    stranger = Browser(town)
    assert (await stranger.http.get(out(service, logout(service, name)))).status_code == 400
    forged = out(service, logout(service, name), key=pair("stranger").key)
    assert (await stranger.http.get(forged)).status_code == 400
    assert await browser.who() == person.username
    answer = await stranger.http.get(out(service, logout(service, name), **signed))
    assert statuses(xml.parse(message_of(answer)[0])) == ["Success"]
    assert (await browser.who(), await second.who()) == (None, None)


# Told to others


class Listening:
    def __init__(self) -> None:
        self.heard: asyncio.Queue[bytes] = asyncio.Queue()
        self.url = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        found = re.search(r"(?i)content-length: (\d+)", head)
        body = await reader.readexactly(int(found[1]) if found else 0)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()
        target = head.partition(" ")[2].partition(" ")[0]
        if head.startswith("GET"):
            message = bindings.read_query(target.partition("?")[2].encode(), "SAMLRequest")
            assert message is not None
            self.heard.put_nowait(message.data)
        else:
            self.heard.put_nowait(base64.b64decode(parse_qs(body.decode())["SAMLRequest"][0]))

    async def next(self) -> Any:
        async with asyncio.timeout(30):
            return xml.parse(await self.heard.get())


@asynccontextmanager
async def listening() -> AsyncIterator[Listening]:
    made = Listening()
    server = await asyncio.start_server(made.answer, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/sls"
    async with server:
        yield made


@pytest.fixture
async def listener() -> AsyncIterator[Listening]:
    async with listening() as made:
        yield made


async def back_channel_service(town: Town, listener: Listening) -> Service:
    return await make_service(
        town, sls_url=listener.url, sls_binding="post", logout_method="backchannel", sign_logout_request=True
    )


@pytest.mark.parametrize("how", ["session", "disabled", "expired", "membership", "deleted", "policy", "application"])
async def test_whatever_ends_is_told_directly(town: Town, ada: Person, listener: Listening, how: str) -> None:
    service = await back_channel_service(town, listener)
    person, browser = await signed_in(town)
    name, index = await known_at(service, browser)
    [user] = await results(ada, "/core/users/", username=person.username)
    match how:
        case "session":
            await browser.http.get("/flows/-/default/invalidation/")
            await browser.sign_out()
        case "disabled":
            await ada.call("PATCH", f"{API}/core/users/{user['pk']}/", json={"is_active": False})
        case "expired":
            soon = (datetime.now(UTC) + timedelta(seconds=1)).isoformat()
            await ada.call("PATCH", f"{API}/core/users/{user['pk']}/", json={"expires": soon})
        case "membership":
            soon = (datetime.now(UTC) + timedelta(seconds=1)).isoformat()
            group = await make(ada, "/core/groups/", name=new_name("crew"))
            sent = {"pk": user["pk"], "expires": soon}
            await ada.call("POST", f"{API}/core/groups/{group['pk']}/add_user/", json=sent)
        case "deleted":
            await ada.call("DELETE", f"{API}/core/users/{user['pk']}/")
        case "policy":
            policy = await make(ada, "/policies/expression/", name=new_name("no"), expression="return False")
            await make(ada, "/policies/bindings/", policy=policy["pk"], target=service.application["pk"], order=0)
        case "application":
            await ada.call("DELETE", f"{API}/core/applications/{service.application['pk']}/")
    root = signatures.verify(await listener.next(), certificate=service.keys.certificate)
    told = read_logout_request(root)
    assert (told.name_id, told.session_indexes, told.destination) == (name, [index], listener.url)
    assert told.issuer == service.provider["issuer"]
    assert listener.heard.empty()


async def front_jobs(town: Town) -> list[SAMLLogoutNotice]:
    async with town.house() as house, house.works.begin() as work:
        found = await jobs.listed(work.db, state=None, kind=WITHOUT_BROWSER.name, most=1000)
    return [msgspec.json.decode(one.payload, type=SAMLLogoutNotice) for one in found]


@pytest.mark.parametrize("binding", ["redirect", "post"])
@pytest.mark.parametrize("method", ["frontchannel_iframe", "frontchannel_native"])
async def test_services_of_the_browser_are_told_directly_where_none_comes(
    town: Town, ada: Person, listener: Listening, binding: str, method: str
) -> None:
    service = await make_service(town, sls_url=listener.url, sls_binding=binding, logout_method=method)
    person, browser = await signed_in(town)
    name, index = await known_at(service, browser)
    [user] = await results(ada, "/core/users/", username=person.username)
    await ada.call("PATCH", f"{API}/core/users/{user['pk']}/", json={"is_active": False})
    told = read_logout_request(await listener.next())
    assert (told.name_id, told.session_indexes) == (name, [index])
    assert listener.heard.empty()


async def test_services_of_the_browser_are_told_once(town: Town, listener: Listening) -> None:
    """A session that ends leaves the browser some time to tell them; what it tells is not told again."""
    frames = await make_service(town, sls_url=listener.url)
    tab = await make_service(town, sls_url=listener.url, logout_method="frontchannel_native")
    _, browser = await signed_in(town)
    indexes = {(await known_at(service, browser))[1] for service in (frames, tab)}
    ended = await browser.sign_out()
    assert ended["component"] == "redirect", "signed out by a program, which shows no page"
    async with asyncio.timeout(30):
        while len(indexes & {one.session_index for one in await front_jobs(town)}) < len(indexes):
            await asyncio.sleep(0.05)

    _, other = await signed_in(town)
    shown = {(await known_at(service, other))[1] for service in (frames, tab)}
    page = await sign_out(other)
    onward = re.search(r'url=(/saml/logout/[^"]+)"', page.text)
    assert onward is not None
    assert (await other.http.get(unescape(onward[1]))).headers["location"].startswith(listener.url)
    async with asyncio.timeout(30):
        while shown & {one.session_index for one in await front_jobs(town)}:
            await asyncio.sleep(0.05)
    assert listener.heard.empty()


# Their records


async def test_people_see_and_end_where_they_are_signed_in(town: Town, ada: Person, listener: Listening) -> None:
    service = await back_channel_service(town, listener)
    person, browser = await signed_in(town)
    name, index = await known_at(service, browser)
    path = "/providers/saml/sessions/"
    [one] = await results(ada, path, session_index=index)
    assert (one["name_id"], one["provider"], one["provider_name"]) == (
        name,
        service.provider["pk"],
        service.provider["name"],
    )
    assert (one["issuer"], one["pk"]) == (service.provider["issuer"], one["saml_session_uuid"])
    assert [found["pk"] for found in await results(ada, path, provider=service.provider["pk"])] == [one["pk"]]
    assert await results(ada, path, provider=0) == []
    assert (await ada.get(f"{API}{path}", params={"session": "no session"})).status_code == 400
    assert [found["pk"] for found in await results(ada, path, session=one["session"])] == [one["pk"]]
    assert [found["pk"] for found in await results(ada, path, search=index, ordering="-expires")] == [one["pk"]]
    assert (await ada.get(f"{API}{path}", params={"name_id": "\0"})).status_code == 200
    assert [found["pk"] for found in await results(person, path)] == [one["pk"]], "their own"
    stranger = await town.sign_up()
    item = f"{API}{path}{one['pk']}/"
    assert await results(stranger, path) == []
    assert (await stranger.get(item)).status_code == 404
    assert (await stranger.call("DELETE", item)).status_code == 404
    assert (await ada.call("POST", f"{API}{path}", json={})).status_code == 405
    assert (await ada.call("PATCH", item, json={"name_id": "x"})).status_code == 405
    assert (await person.call("DELETE", item)).status_code == 204
    told = read_logout_request(await listener.next())
    assert (told.name_id, told.session_indexes) == (name, [index])
    assert (await ada.get(item)).status_code == 404
    assert await browser.who() == person.username, "here they are still signed in"
    assert (await known_at(service, browser))[0] == name, "and can go there again"


async def sign_out(browser: Browser) -> httpx.Response:
    """By the page, as people do; the first answer after it."""
    page = await browser.http.get("/flows/default-invalidation-flow/")
    found = re.search(r'name="csrf" value="([^"]+)"', page.text)
    assert found is not None
    form = {"csrf": found[1], "component": "sign-out"}
    done = await browser.http.post("/flows/default-invalidation-flow/", data=form)
    if done.status_code == 200:  # a page in between
        onward = re.search(r'href="(/saml/logout/[^"]+)"', done.text)
        assert onward is not None, done.text[-1500:]
        return await browser.http.get(unescape(onward[1]))
    return done


async def test_services_are_told_in_frames(town: Town) -> None:
    one = await make_service(town, sls_url=SLS)
    two = await make_service(town, sls_url="https://two.example/sls", sls_binding="post")
    _, browser = await signed_in(town)
    first, second = await known_at(one, browser), await known_at(two, browser)
    page = await sign_out(browser)
    assert await browser.who() is None
    policy = page.headers["content-security-policy"]
    assert "frame-src 'self' https://sp.example https://two.example" in policy
    frames = [unescape(found) for found in re.findall(r'<iframe src="([^"]+)"', page.text)]
    [direct] = [frame for frame in frames if frame.startswith(SLS)]
    message = bindings.read_query(direct.partition("?")[2].encode(), "SAMLRequest")
    assert message is not None
    assert read_logout_request(xml.parse(message.data)).session_indexes == [first[1]]
    [own] = [frame for frame in frames if frame.startswith("/saml/logout/frame/")]
    inner = await browser.http.get(own)
    assert "frame-ancestors 'self'" in inner.headers["content-security-policy"]
    assert inner.headers["x-frame-options"] == "SAMEORIGIN"
    data, _, to = message_of(inner, "SAMLRequest")
    assert to == "https://two.example/sls"
    assert read_logout_request(xml.parse(data)).name_id == second[0]
    onward = re.search(r'url=(/saml/logout/[^"]+)"', page.text)
    assert onward is not None
    last = await browser.http.get(unescape(onward[1]))
    assert last.headers["location"] == "/"


async def test_services_are_told_one_after_the_other(town: Town) -> None:
    services = [
        await make_service(town, sls_url=f"https://{word}.example/sls", logout_method="frontchannel_native")
        for word in ("one", "two")
    ]
    _, browser = await signed_in(town)
    for service in services:
        await known_at(service, browser)
    answer = await sign_out(browser)
    for service, word in zip(services, ("one", "two"), strict=True):
        assert answer.headers["location"].startswith(f"https://{word}.example/sls?SAMLRequest="), answer.text[-500:]
        told = parse_qs(answer.headers["location"].partition("?")[2])
        response = (
            '<samlp:LogoutResponse xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_x" Version="2.0">'
            '<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>'
            "</samlp:LogoutResponse>"
        )
        back = bindings.write_query(
            f"{service.path}slo/binding/redirect/",
            "SAMLResponse",
            response.encode(),
            relay_state=told["RelayState"][0],
        )
        returned = await browser.http.get(back)
        answer = await browser.http.get(returned.headers["location"])
    assert answer.headers["location"] == "/"


async def test_signing_in_again_signs_nobody_out(town: Town, listener: Listening) -> None:
    service = await back_channel_service(town, listener)
    person, browser = await signed_in(town)
    before = await known_at(service, browser)
    query = {"again": "true"}
    await browser.see("default-authentication-flow", **query)
    await browser.answer("default-authentication-flow", query, component="identification", uid_field=person.username)
    await browser.answer("default-authentication-flow", query, component="password", password=person.password)
    async with asyncio.timeout(30):
        while (after := await known_at(service, browser)) != before:
            await asyncio.sleep(0.1)
    assert after == before
    assert listener.heard.empty()


def test_ids_cannot_be_guessed() -> None:
    assert len({new_id() for _ in range(100)}) == 100
