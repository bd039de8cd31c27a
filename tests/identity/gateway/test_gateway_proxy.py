"""Proxy mode: requests, bodies and sockets go through the gateway, and nothing else does."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import socket
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from kith.identity.gateway.additional_names import MOST_CHANGED, AdditionalNames
from kith.identity.users.service import UserChanged
from tests.identity.gateway.gateways import Gateway, Visitor, make_gateway, sent, visitor_of
from tests.identity.gateway.upstream_app import UpstreamApp
from tests.identity.records import make, new_name, owner_of, results
from tests.town import Person, Town


async def entered(town: Town, app: UpstreamApp, **fields: Any) -> tuple[Gateway, Person, Visitor]:
    """A gateway, and somebody who has signed in there."""
    gateway = await make_gateway(town, await owner_of(town), **{"internal_host": app.url} | fields)
    person, visitor = await visitor_of(town)
    answer, _ = await visitor.follow(gateway.at("/"))
    assert sent(answer)["x-kith-username"] == person.username
    return gateway, person, visitor


async def test_whoever_signs_in_reaches_the_application_and_it_learns_who_they_are(
    town: Town, app: UpstreamApp
) -> None:
    owner = await owner_of(town)
    gateway = await make_gateway(town, owner, internal_host=app.url)
    person, visitor = await visitor_of(town)
    [user] = await results(owner, "/core/users/", username=person.username)
    group = await make(owner, "/core/groups/", name=new_name("team"), attributes={"additionalHeaders": {"X-Team": "b"}})
    await owner.call("PATCH", f"/api/v2/core/users/{user['pk']}/", json={"name": "Ada \u00c4", "groups": [group["pk"]]})

    answer, where = await visitor.follow(gateway.at("/page?a=1&b=%2F"))

    told = sent(answer)
    assert (where, answer.json()["target"]) == (gateway.at("/page?a=1&b=%2F"), "/page?a=1&b=%2F")
    assert told["x-kith-username"] == person.username
    assert told["x-kith-name"].encode("latin-1").decode() == "Ada \u00c4"
    assert told["x-kith-groups"] == group["name"]
    assert told["x-team"] == "b"
    assert (told["x-kith-meta-app"], told["x-kith-meta-provider"]) == (gateway.application["slug"],) * 2
    assert len(told["x-kith-uid"]) == 64
    assert told["x-kith-jwt"].count(".") == 2
    assert told["x-forwarded-host"] == gateway.host
    assert told["x-forwarded-proto"] == "http"
    assert told["x-forwarded-for"] == "127.0.0.1"
    assert told["host"] == f"127.0.0.1:{app.port}"
    assert "cookie" not in told
    assert answer.headers.get_list("set-cookie") == ["app=1", "other=2"]
    assert "x-hop" not in answer.headers
    events = await results(owner, "/audit/events/", action="authorize_application", user=user["pk"])
    assert [one["context"]["authorized_application"]["name"] for one in events] == [gateway.application["name"]]


async def test_a_stranger_is_sent_to_sign_in_and_the_application_hears_nothing(town: Town, app: UpstreamApp) -> None:
    gateway = await make_gateway(town, await owner_of(town), internal_host=app.url)
    stranger = Visitor(town)

    page = await stranger.ask(gateway.at("/x?y=1"))
    script = await stranger.ask(gateway.at("/x"), headers={"Sec-Fetch-Mode": "cors"})
    start = await stranger.ask(page.headers["location"])
    sign_in, where = await stranger.follow(start.headers["location"])

    assert page.status_code == 302
    assert page.headers["location"].startswith(gateway.at("/outpost.kith/start?rd="))
    assert script.status_code == 401
    assert start.headers["location"].startswith(f"{town.base_url}/application/o/authorize/?")
    [cookie] = start.headers.get_list("set-cookie")
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= {one.strip() for one in cookie.split(";")}
    assert "Secure" not in cookie
    assert (sign_in.status_code, where.startswith(town.base_url)) == (200, True)
    assert app.asked == 0


async def test_made_up_headers_do_not_reach_the_application(town: Town, app: UpstreamApp) -> None:
    gateway, person, visitor = await entered(town, app)
    made_up = {
        "X-Kith-Username": "root", "X_Kith_Username": "root", "X-Kith_Groups": "admins", "X-Other": "fine",
        "Connection": "keep-alive, X-Kith-Jwt, X-Kith-Username", "X-Forwarded-For": "6.6.6.6", "X-Real-Ip": "6.6.6.6",
    }  # fmt: skip

    answer = await visitor.ask(gateway.at("/"), headers=made_up)

    names = [name for name, _ in answer.json()["headers"]]
    told = sent(answer)
    assert told["x-kith-username"] == person.username
    assert names.count("x-kith-username") == 1
    assert "x_kith_username" not in names
    assert "x-kith_groups" not in names
    assert told["x-kith-jwt"]
    assert told["x-other"] == "fine"
    assert (told["x-forwarded-for"], told["x-real-ip"]) == ("127.0.0.1", "127.0.0.1")


async def test_headers_that_somebody_was_given_are_sent_by_nobody_else(town: Town, app: UpstreamApp) -> None:
    """Neither by members who have none or another value, nor by strangers, in whatever spelling."""
    gateway, person, visitor = await entered(town, app, skip_path_regex="^/open/.*")
    owner = await owner_of(town)
    name, word = f"X-Role-{new_name('r')[-6:]}", new_name("r")[-6:]
    given = {"additionalHeaders": {name: "admin", "Accept-Language": "eo"}}
    await make(owner, "/core/groups/", name=new_name("admins"), attributes=given)
    await make(
        owner, "/core/users/", username=new_name("x"), name="X",
        attributes={"additionalHeaders": {f"X.Of.{word}": "admin"}},
    )  # fmt: skip
    spelled = [name, name.replace("-", "_"), name.upper(), name.replace("-", "."), f"X-Of-{word}", f"X_Of_{word}"]

    async def told(path: str, who: Visitor) -> dict[str, str]:
        made_up = dict.fromkeys(spelled, "admin") | {"X-Other": "fine", "Accept-Language": "de"}
        found: dict[str, str] = {}
        for one, value in made_up.items():
            found |= sent(await who.ask(gateway.at(path), headers={one: value}))
        return found

    for path, who in (("/", visitor), ("/open/x", Visitor(town))):
        found = await told(path, who)
        assert "admin" not in found.values(), found
        assert (found["x-other"], found["accept-language"]) == ("fine", "de")
    [user] = await results(owner, "/core/users/", username=person.username)
    own = {"additionalHeaders": {name: "user", "Accept-Language": "eo"}}
    await owner.call("PATCH", f"/api/v2/core/users/{user['pk']}/", json={"attributes": own})

    found = await told("/", visitor)

    assert "admin" not in found.values(), found
    assert (found[name.lower()], found["accept-language"]) == ("user", "eo")


async def test_bodies_go_both_ways_as_they_come(town: Town, app: UpstreamApp) -> None:
    gateway, _, visitor = await entered(town, app)
    data = bytes(range(256)) * 12_000

    async def pieces() -> Any:
        for start in range(0, len(data), 300_000):
            yield data[start : start + 300_000]

    whole = await visitor.ask(gateway.at("/up"), "POST", content=data)
    small = await visitor.ask(gateway.at("/up"), "PUT", content=b"x")
    chunked = await visitor.ask(gateway.at("/up"), "POST", content=pieces())
    none = await visitor.ask(gateway.at("/up"), "DELETE")
    head = await visitor.ask(gateway.at("/up"), "HEAD")
    again = await visitor.ask(gateway.at("/up"))

    digest = hashlib.sha256(data).hexdigest()
    assert [(one.json()["size"], one.json()["sha256"]) for one in (whole, chunked)] == [(len(data), digest)] * 2
    assert (small.json()["size"], small.json()["method"], none.json()["method"]) == (1, "PUT", "DELETE")
    assert dict(chunked.json()["headers"])["transfer-encoding"] == "chunked"
    assert (head.status_code, head.content, int(head.headers["content-length"]) > 0) == (200, b"", True)
    assert again.json()["method"] == "GET"


async def test_an_answer_is_handed_on_while_it_is_being_made(town: Town, app: UpstreamApp) -> None:
    gateway, _, visitor = await entered(town, app)
    headers = {"Host": gateway.host, "Cookie": _cookie(visitor, gateway)}

    async with httpx.AsyncClient() as http, http.stream("GET", f"{town.base_url}/stream", headers=headers) as answer:
        parts = answer.aiter_raw()
        first = await anext(parts)
        app.go_on.set()
        rest = b"".join([part async for part in parts])

    assert (first, rest) == (b"one", b"two")


async def test_when_the_browser_leaves_the_application_learns_it(town: Town, app: UpstreamApp) -> None:
    gateway, _, visitor = await entered(town, app)
    reader, writer = await asyncio.open_connection("127.0.0.1", town.port)
    writer.write(f"GET /ws HTTP/1.1\r\nhost: {gateway.host}\r\ncookie: {_cookie(visitor, gateway)}\r\n".encode())
    writer.write(b"upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n")
    writer.write(b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
    await reader.readuntil(b"\r\n\r\n")
    app.left.clear()

    writer.close()

    async with asyncio.timeout(20):
        await app.left.wait()


async def test_half_an_answer_is_not_taken_for_a_whole_one(town: Town, app: UpstreamApp) -> None:
    gateway, _, visitor = await entered(town, app)

    with pytest.raises(httpx.HTTPError):
        await visitor.ask(gateway.at("/half"))
    whole = await visitor.ask(gateway.at("/until-the-end"))
    early = await visitor.ask(gateway.at("/early"), "POST", content=b"x" * 3_000_000)

    assert whole.text == "all of it"
    # 502 where the connection broke before the early answer could be read, which is a race.
    assert early.status_code in (413, 502)


async def test_an_application_that_is_away_is_told_on_a_page(town: Town, app: UpstreamApp) -> None:
    gateway, _, visitor = await entered(town, app)

    vanished = await visitor.ask(gateway.at("/vanish"))
    await app.stop()
    away = await visitor.ask(gateway.at("/"))

    assert [vanished.status_code, away.status_code] == [502, 502]
    assert "cannot be reached" in away.text
    assert away.headers["content-security-policy"].startswith("default-src 'none'")


async def test_a_connection_that_the_application_has_ended_is_no_error(town: Town, app: UpstreamApp) -> None:
    gateway, _, visitor = await entered(town, app)
    opened = app.opened
    await visitor.ask(gateway.at("/"))
    kept = app.opened
    app.cut_all()

    answer = await visitor.ask(gateway.at("/"))

    assert answer.status_code == 200
    assert (kept, app.opened) == (opened, opened + 1)


async def test_a_request_within_a_request_stays_one(town: Town, app: UpstreamApp) -> None:
    gateway, _, visitor = await entered(town, app)
    asked = app.asked
    hidden = "GET /hidden HTTP/1.1\r\nhost: x\r\n\r\n"
    both = (
        f"POST /up HTTP/1.1\r\nhost: {gateway.host}\r\ncookie: {_cookie(visitor, gateway)}\r\n"
        f"content-length: {len(hidden) + 5}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{hidden}"
    )

    answer = await _raw(town, both.encode())

    assert answer.startswith(b"HTTP/1.1 400")
    assert app.asked == asked


async def test_a_socket_is_passed_on_and_knows_whose_it_is(town: Town, app: UpstreamApp) -> None:
    gateway, person, visitor = await entered(town, app)

    async with _socket(town, gateway, visitor) as opened:
        name = await opened.recv()
        await opened.send("hello" * 10_000)
        heard = b""
        while len(heard) < 50_000:
            heard += await app.heard.get()

    assert name == person.username
    with pytest.raises(InvalidStatus) as refused:
        async with _socket(town, gateway, Visitor(town)):
            pass
    assert refused.value.response.status_code == 401
    with pytest.raises(InvalidStatus) as elsewhere:
        async with _socket(town, gateway, visitor, "/no-socket-here"):
            pass
    assert elsewhere.value.response.status_code == 200


async def test_open_sockets_and_streams_of_somebody_disabled_are_ended(town: Town, app: UpstreamApp) -> None:
    owner = await owner_of(town)
    gateway, person, visitor = await entered(town, app)
    [user] = await results(owner, "/core/users/", username=person.username)
    headers = {"Host": gateway.host, "Cookie": _cookie(visitor, gateway)}

    async with (
        asyncio.timeout(30),
        _socket(town, gateway, visitor) as opened,
        httpx.AsyncClient(timeout=30) as http,
        http.stream("GET", f"{town.base_url}/stream", headers=headers) as answer,
    ):
        await opened.recv()
        parts = answer.aiter_raw()
        assert await anext(parts) == b"one"
        done = await owner.call("PATCH", f"/api/v2/core/users/{user['pk']}/", json={"is_active": False})
        assert done.status_code == 200
        with pytest.raises(ConnectionClosed):
            await opened.recv()
        with pytest.raises(httpx.HTTPError):
            await anext(parts)

    assert opened.close_code == 1008


async def test_nobody_waits_for_a_socket_whose_browser_has_left(town: Town) -> None:
    left = asyncio.Event()

    async def says_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            await reader.read(1 << 16)
            asked.set()
            await reader.read()
        left.set()
        writer.close()

    asked, server = asyncio.Event(), await asyncio.start_server(says_nothing, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    gateway = await make_gateway(town, await owner_of(town), internal_host=url, skip_path_regex="^/public/")
    async with server, asyncio.timeout(20):
        _, writer = await asyncio.open_connection("127.0.0.1", town.port)
        writer.write(f"GET /public/ws HTTP/1.1\r\nhost: {gateway.host}\r\nupgrade: websocket\r\n".encode())
        writer.write(b"connection: upgrade\r\nsec-websocket-version: 13\r\n")
        writer.write(b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        await asked.wait()
        writer.close()
        await left.wait()


async def test_what_is_open_to_everybody_goes_on_without_a_name(town: Town, app: UpstreamApp) -> None:
    gateway, person, visitor = await entered(town, app, skip_path_regex="^/public/")
    stranger = Visitor(town)

    opened = await stranger.ask(gateway.at("/public/a?b=/admin"), headers={"X-Kith-Username": "root"})
    known = await visitor.ask(gateway.at("/public/a"))
    closed = [
        await _raw(town, f"GET {path} HTTP/1.1\r\nhost: {gateway.host}\r\nconnection: close\r\n\r\n".encode())
        for path in ("/public/../admin", "/public/%2e%2e/admin", "/public//x", "/public/;x", "/x?/public/", "/PUBLIC/")
    ]

    assert "x-kith-username" not in sent(opened)
    assert sent(known)["x-kith-username"] == person.username
    assert [one.split(b" ")[1] for one in closed] == [b"302"] * len(closed)


async def test_basic_to_the_application_is_of_this_gateway_only(town: Town, app: UpstreamApp) -> None:
    owner = await owner_of(town)
    with_basic: dict[str, Any] = {
        "basic_auth_enabled": True, "basic_auth_user_attribute": "wiki_user",
        "basic_auth_password_attribute": "wiki_password",
    }  # fmt: skip
    one = await make_gateway(town, owner, internal_host=app.url, **with_basic)
    # Mappings see the password masked; what they pass on of it is what is stored.
    passes_on = 'return {"kith_proxy": {"user_attributes": dict(request.user.attributes)}}'
    mapping = await make(
        owner, "/propertymappings/scope/", name=new_name("proxy"), scope_name="kith_proxy", expression=passes_on
    )
    mapped = await make_gateway(town, owner, internal_host=app.url, property_mappings=[mapping["pk"]], **with_basic)
    other = await make_gateway(town, owner, internal_host=app.url)
    person, visitor = await visitor_of(town)
    [user] = await results(owner, "/core/users/", username=person.username)
    attributes = {"wiki_user": "u", "wiki_password": "p"}
    await owner.call("PATCH", f"/api/v2/core/users/{user['pk']}/", json={"attributes": attributes})

    first, _ = await visitor.follow(one.at("/"))
    second, _ = await visitor.follow(other.at("/"))
    third, _ = await visitor.follow(mapped.at("/"))

    assert sent(first)["authorization"] == sent(third)["authorization"] == "Basic dTpw"
    assert "authorization" not in sent(second)


async def test_a_mapping_may_choose_the_upstream_but_not_lead_inwards(town: Town, app: UpstreamApp) -> None:
    owner = await owner_of(town)
    expression = (
        'return {"kith_proxy": {"backend_override": request.user.attributes["where"], "host_header": "inside.example"}}'
    )
    mapping = await make(
        owner, "/propertymappings/scope/", name=new_name("proxy"), scope_name="kith_proxy", expression=expression
    )
    gateway = await make_gateway(town, owner, internal_host=app.url, property_mappings=[mapping["pk"]])
    person, visitor = await visitor_of(town)
    [user] = await results(owner, "/core/users/", username=person.username)
    answers = []
    for where in (f"{app.url}/deep", f"http://127.0.0.1:{town.port}", "file:///etc/passwd"):
        await owner.call("PATCH", f"/api/v2/core/users/{user['pk']}/", json={"attributes": {"where": where}})
        answers.append((await visitor.follow(gateway.at("/x")))[0])

    assert answers[0].json()["target"] == "/deep/x"
    assert sent(answers[0])["host"] == "inside.example"
    assert answers[1].status_code == 502
    assert answers[2].json()["target"] == "/x"


def _cookie(visitor: Visitor, gateway: Gateway) -> str:
    return "; ".join(f"{name}={value}" for name, value in visitor.cookies[gateway.host].items())


def _socket(town: Town, gateway: Gateway, visitor: Visitor, path: str = "/ws") -> connect:
    held = visitor.cookies.get(gateway.host, {})
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in held.items())} if held else {}
    raw = socket.create_connection(("127.0.0.1", town.port))
    return connect(f"ws://{gateway.host}{path}", sock=raw, additional_headers=headers, proxy=None)


async def _raw(town: Town, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", town.port)
    writer.write(request)
    try:
        return await asyncio.wait_for(reader.read(), 20)
    finally:
        writer.close()


async def test_names_of_headers_are_known_however_many_people_change_at_once(town: Town) -> None:
    owner, names = await owner_of(town), AdditionalNames()
    async with town.house() as house, house.works.begin() as work:
        await names.refresh(work)
    header = new_name("X-Late").lower()
    made = await make(
        owner, "/core/users/", username=new_name("late"), name="Late", attributes={"additionalHeaders": {header: "a"}}
    )

    for user_id in (*range(10_000, 12_000), made["pk"]):
        names.note(UserChanged(user_id=user_id))

    assert len(names._people) <= MOST_CHANGED
    async with town.house() as house, house.works.begin() as work:
        await names.refresh(work)
    assert header.encode() in names.plain
