"""What somebody tries who may enter one place, to get into another, and what a client sends that is no request."""

from __future__ import annotations

import asyncio
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from kith.identity.gateway.paths import readings
from tests.identity.gateway.gateways import make_gateway, refuse_everybody, visitor_of
from tests.identity.gateway.test_gateway_endings import app_password, basic
from tests.identity.gateway.test_gateway_proxy import _cookie, _raw, entered
from tests.identity.gateway.test_gateway_questions import KINDS, ask, enter, forward
from tests.identity.gateway.upstream_app import UpstreamApp
from tests.identity.records import owner_of
from tests.town import Town

WAYS_IN = (
    "/admin", "/admin/x", "/%61dmin/x", "//admin/x", "/page//../admin/x", "/page/../admin/x", "/page/%2e%2e/admin/x",
    "/page/.%2E/admin", "/page/..%2fadmin", "/%2fadmin", "/page/..;/admin", "/page/..;a=b/admin", "/admin;a/x",
    "/page/..%5cadmin", "/./admin", "/page/%252e%252e/admin",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
async def test_no_spelling_of_a_path_leads_around_its_gateway(town: Town, kind: str) -> None:
    owner = await owner_of(town)
    whole = await forward(town)
    strict = await make_gateway(
        town, owner, mode="forward_single", internal_host="", external_host=f"http://{whole.host}/admin"
    )
    await refuse_everybody(owner, strict)
    _, visitor = await visitor_of(town)
    await enter(visitor, whole)

    open_ones = [
        (await ask(visitor, kind, whole.at(path))).status_code for path in ("/page", "/administrator", "/page")
    ]
    ways = [path for path in WAYS_IN if kind != "envoy" or ".." not in path]  # which our client would resolve itself
    tried = {path: (await ask(visitor, kind, whole.at(path))).status_code for path in ways}

    assert open_ones == [200, 200, 200]
    assert [path for path, status in tried.items() if status == 200] == []


@pytest.mark.parametrize("path", WAYS_IN)
async def test_no_spelling_of_a_path_leads_around_a_gateway_in_proxy_mode(
    town: Town, app: UpstreamApp, path: str
) -> None:
    owner = await owner_of(town)
    whole, _, visitor = await entered(town, app)
    strict = await make_gateway(town, owner, internal_host=app.url, external_host=f"http://{whole.host}/admin")
    await refuse_everybody(owner, strict)
    asked = app.asked

    answer = await _raw(town, _request(whole.host, _cookie(visitor, whole), path))

    assert answer.split()[1] in (b"302", b"403", b"404"), answer[:200]
    assert app.asked == asked


@pytest.mark.parametrize(
    "path", ["/../secret", "/x/%2e%2e/%2e%2e/secret", "/..%2fsecret", "/..;/secret", "/.%5c..%5csecret"]
)
async def test_nobody_climbs_out_of_the_part_of_a_host_that_a_gateway_is_for(
    town: Town, app: UpstreamApp, path: str
) -> None:
    whole, _, visitor = await entered(town, app)
    await (await owner_of(town)).call(
        "PATCH", f"/api/v2/providers/applicationgateway/{whole.id}/", json={"internal_host": f"{app.url}/part"}
    )
    asked = app.asked

    inside = await _raw(town, _request(whole.host, _cookie(visitor, whole), "/page"))
    answer = await _raw(town, _request(whole.host, _cookie(visitor, whole), path))

    assert b"/part/page" in inside
    assert answer.startswith(b"HTTP/1.1 404")
    assert app.asked == asked + 1


def _request(host: str, cookie: str, path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nhost: {host}\r\ncookie: {cookie}\r\nconnection: close\r\n\r\n".encode()


@pytest.mark.parametrize("kind", ["app password", "access token"])
async def test_a_socket_ends_with_what_it_was_opened_with(town: Town, app: UpstreamApp, kind: str) -> None:
    gateway = await make_gateway(town, await owner_of(town), internal_host=app.url)
    person = await town.sign_up()
    identifier, key = await app_password(person)
    headers = basic(person.username, key)
    if kind == "access token":
        form = {
            "grant_type": "password", "client_id": gateway.record["client_id"], "username": person.username,
            "password": key, "scope": "openid profile",
        }  # fmt: skip
        token = (await town.http.post("/application/o/token/", data=form)).json()["access_token"]
        headers = {"Authorization": f"Bearer {token}"}
    raw = socket.create_connection(("127.0.0.1", town.port))

    async with (
        asyncio.timeout(30),
        connect(f"ws://{gateway.host}/ws", sock=raw, additional_headers=headers, proxy=None) as opened,
    ):
        assert await opened.recv() == person.username
        if kind == "access token":
            ended = await town.http.post(
                "/application/o/revoke/", data={"token": token, "client_id": gateway.record["client_id"]}
            )
        else:
            ended = await person.call("DELETE", f"/api/v2/core/tokens/{identifier}/")
        assert ended.status_code < 300, ended.text
        with pytest.raises(ConnectionClosed):
            await opened.recv()

    assert opened.close_code == 1008


NO_REQUESTS = {
    "two hosts": "GET / HTTP/1.1\r\nhost: {host}\r\nhost: x\r\n{cookie}\r\n",
    "length with a sign": "POST /up HTTP/1.1\r\nhost: {host}\r\n{cookie}content-length: +5\r\n\r\nhello",
    "two lengths": "POST /up HTTP/1.1\r\nhost: {host}\r\n{cookie}content-length: 5\r\ncontent-length: 6\r\n\r\nhello!",
    "a list of lengths": "POST /up HTTP/1.1\r\nhost: {host}\r\n{cookie}content-length: 5, 5\r\n\r\nhello",
    "no chunks": "POST /up HTTP/1.1\r\nhost: {host}\r\n{cookie}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunks not last": "POST /up HTTP/1.1\r\nhost: {host}\r\n{cookie}transfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
    "a tab in front": "POST /up HTTP/1.1\r\nhost: {host}\r\n{cookie}transfer-encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
    "a blank in a name": "GET / HTTP/1.1\r\nhost: {host}\r\n{cookie}x-kith-username : boss\r\n\r\n",
    "a folded line": "GET / HTTP/1.1\r\nhost: {host}\r\n{cookie}x-a: b\r\n x-kith-username: boss\r\n\r\n",
    "a zero": "GET / HTTP/1.1\r\nhost: {host}\r\n{cookie}x-a: b\0c\r\n\r\n",
    "a bare return": "GET / HTTP/1.1\r\nhost: {host}\r\n{cookie}x-a: b\rx-kith-username: boss\r\n\r\n",
    "a chunk of a strange size": (
        "POST /up HTTP/1.1\r\nhost: {host}\r\n{cookie}transfer-encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n"
    ),
    "an endless size": (
        "POST /up HTTP/1.1\r\nhost: {host}\r\n{cookie}transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\nh\r\n"
    ),
    "a tunnel": "CONNECT x:443 HTTP/1.1\r\nhost: {host}\r\n{cookie}\r\n",
}


@pytest.mark.parametrize("name", NO_REQUESTS)
async def test_what_two_servers_could_read_differently_reaches_none(town: Town, app: UpstreamApp, name: str) -> None:
    whole, _, visitor = await entered(town, app)
    cookie = f"cookie: {_cookie(visitor, whole)}\r\nconnection: close\r\n"
    asked = app.asked

    answer = await _raw(town, NO_REQUESTS[name].format(host=whole.host, cookie=cookie).encode())

    assert answer.split()[1].startswith(b"4"), answer[:100]
    assert app.asked == asked


@pytest.mark.parametrize(
    "name", ["X-Kith-Username", "X_Kith_Username", "x.kith.username", "X~Kith-Username", "X-Kith_Jwt"]
)
async def test_no_spelling_of_a_header_makes_somebody_else_of_anybody(town: Town, app: UpstreamApp, name: str) -> None:
    whole, person, visitor = await entered(town, app)
    cookie = f"{_cookie(visitor, whole)}\r\n{name}: boss"

    answer = await _raw(town, _request(whole.host, cookie, "/page"))

    assert person.username.encode() in answer
    assert b"boss" not in answer


@given(st.lists(st.sampled_from(["/", "..", ".", "%2e", "%2f", "%5c", "\\", ";", ";a", "a", "%25"]), max_size=12))
def test_after_all_its_readings_a_path_has_no_step_left(parts: list[str]) -> None:
    raw = "/" + "".join(parts)
    found = readings(raw)

    assert raw in found
    assert all(".." not in one.split("/") for one in found - {raw})
