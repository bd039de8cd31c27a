"""What every request passes, tried from outside."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator

import httpx
import pytest

from tests.conftest import TownBuilder
from tests.town import Town
from tests.town.plain import PLAIN
from tests.town.ports import ReservedPort


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/api/v2/core/nothing/", {"detail": "Not found."}),
        ("/api/v2/", {"detail": "Not found."}),
        ("/api/v1/nothing", {"error": "Record not found"}),
        ("/api/v2/media/1", {"error": "Record not found"}),
        ("/api/v9/x", {"error": "Record not found"}),
    ],
)
async def test_unknown_paths_below_api_are_json_in_their_face(town: Town, path: str, shape: dict[str, str]) -> None:
    answer = await town.http.get(path)

    assert answer.status_code == 404
    assert answer.json() == shape


async def test_an_unknown_page_is_a_page(town: Town) -> None:
    answer = await town.http.get("/nowhere", headers={"accept": "text/html"})

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "Page not found" in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


async def test_a_method_that_is_not_there_is_told_with_those_that_are(town: Town) -> None:
    identity = await town.http.delete("/api/v2/core/users/")
    social = await town.http.post("/api/v1/instance")

    assert identity.status_code == 405
    assert identity.json() == {"detail": 'Method "DELETE" not allowed.'}
    assert identity.headers["allow"] == "GET, HEAD, OPTIONS, POST"
    assert social.status_code == 405
    assert set(social.json()) == {"error"}


async def test_head_is_get_without_a_body(town: Town) -> None:
    got = await town.http.get("/api/v1/instance")
    head = await town.http.head("/api/v1/instance")
    hot = await town.http.head("/api/v2/core/users/")

    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == got.headers["content-length"]
    assert hot.status_code == 401
    assert hot.content == b""


async def test_every_answer_carries_a_request_id_of_its_own(town: Town) -> None:
    answers = [await town.http.get(path) for path in ("/health", "/api/v1/instance", "/nowhere", "/api/v2/core/users/")]

    ids = [answer.headers["x-request-id"] for answer in answers]
    assert len(set(ids)) == len(ids)
    assert all(len(text) == 32 for text in ids)


async def test_other_sites_may_call_the_social_api_and_not_the_identity_api(town: Town) -> None:
    origin = {"origin": "https://app.example"}
    asked = origin | {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}

    social = await town.http.get("/api/v1/instance", headers=origin)
    preflight = await town.http.options("/api/v1/statuses", headers=asked)
    identity = await town.http.get("/api/v2/core/users/", headers=origin)
    refused = await town.http.options("/api/v2/core/users/", headers=asked)

    assert social.headers["access-control-allow-origin"] == "*"
    assert "Link" in social.headers["access-control-expose-headers"]
    assert preflight.status_code == 200
    assert "Authorization" in preflight.headers["access-control-allow-headers"]
    assert "access-control-allow-origin" not in identity.headers
    assert "access-control-allow-origin" not in refused.headers


async def test_a_body_over_the_limit_is_refused_before_it_is_read(new_town: TownBuilder) -> None:
    town = await new_town(max_body="2048")

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(64):
            yield b"x" * 1024

    told = await town.http.post("/setup/x", content=b"x" * 4096, headers={"content-type": "application/json"})
    counted = await town.http.post(
        "/setup/x",
        content=endless(),
        headers={"content-type": "application/json"},
    )

    assert told.status_code == 413
    assert told.json() == {"detail": "Request body too large."}
    assert counted.status_code == 413


async def test_garbage_instead_of_http_or_json_is_a_clear_no(town: Town) -> None:
    for body in (b"{", b"[]", b"\xff\xfe", b'{"username": "\\ud800"}', b"[" * 100_000):
        answer = await town.http.post("/setup/x", content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 400, body[:20]

    with socket.create_connection(("127.0.0.1", town.port), timeout=60) as raw:
        raw.sendall(b"NONSENSE\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 400")


async def test_the_client_address_is_believed_only_from_trusted_proxies(new_town: TownBuilder) -> None:
    forwarded = {"x-forwarded-for": "203.0.113.9, 198.51.100.7, 127.0.0.1"}
    wary = await new_town()
    trusting = await new_town(trusted_proxies="127.0.0.0/8")

    for town in (wary, trusting):
        await town.http.get("/health", headers=forwarded)
        await town.stop()

    assert [line["address"] for line in _lines(wary) if line["route"] == "/health"][-1] == "127.0.0.1"
    assert [line["address"] for line in _lines(trusting) if line["route"] == "/health"][-1] == "198.51.100.7"


async def test_the_log_tells_of_requests_and_never_of_secrets(new_town: TownBuilder) -> None:
    town = await new_town()
    token = town.setup_link().rsplit("/", 1)[1]
    sent = {"username": "ada", "email": "ada@example.org", "password": "a very secret one"}
    await town.http.post(f"/setup/{token}", json=sent)
    await town.http.get("/api/v2/core/users/", auth=("ada", "a very secret one"))
    await town.stop()

    lines = _lines(town)
    listed = next(line for line in lines if line["route"] == "/api/v2/core/users/")
    assert listed["status"] == 200
    assert listed["user"] == 1
    assert {"request", "method", "route", "status", "ms", "user", "address"} <= set(listed)
    told = "\n".join(json.dumps(line) for line in lines)
    assert "a very secret one" not in told
    assert token not in told


def _lines(town: Town) -> list[dict[str, object]]:
    said = [line for line in town.log().splitlines() if line.startswith("{")]
    return [entry for entry in map(json.loads, said) if entry["event"] == "request"]


async def test_too_many_anonymous_calls_are_told_so_in_each_faces_way(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")

    async with asyncio.TaskGroup() as group:
        social = [group.create_task(town.http.get("/api/v1/instance")) for _ in range(302)]
        identity = [group.create_task(town.http.get("/api/v2/core/users/")) for _ in range(302)]

    first = social[0].result()
    assert first.headers["x-ratelimit-limit"] == "300"
    assert 0 <= int(first.headers["x-ratelimit-remaining"]) < 300
    refused = [task.result() for task in social if task.result().status_code == 429]
    assert refused
    assert refused[0].json() == {"error": "Too many requests"}
    assert refused[0].headers["x-ratelimit-remaining"] == "0"
    throttled = [task.result() for task in identity if task.result().status_code == 429]
    assert throttled
    assert throttled[0].json()["detail"].startswith("Request was throttled. Expected available in ")
    assert int(throttled[0].headers["retry-after"]) > 0


async def test_a_word_to_stop_cuts_nobody_off(new_town: TownBuilder) -> None:
    """A request that is under way when the server is told to stop is answered, then the server ends well."""
    town = await new_town()
    body = json.dumps({"username": "ada", "email": "a@example.org", "password": "long enough"}).encode()
    link = town.setup_link()
    reader, writer = await asyncio.open_connection("127.0.0.1", town.port)
    path = link.removeprefix(town.base_url)
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body[:10])
    await writer.drain()
    await town.http.get("/health")

    stopping = asyncio.create_task(town.stop())
    await _refuses_newcomers(town)
    writer.write(body[10:])
    await writer.drain()
    answer = await reader.read(200)
    writer.close()
    await writer.wait_closed()

    assert answer.startswith(b"HTTP/1.1 201")
    assert await stopping == 0


async def _refuses_newcomers(town: Town) -> None:
    for _ in range(2000):
        try:
            async with httpx.AsyncClient(verify=PLAIN) as stranger:
                await stranger.get(f"{town.base_url}/health")
        except httpx.TransportError:
            return
        await asyncio.sleep(0.005)
    raise AssertionError("the server still takes new connections")


async def test_ready_means_database_schema_worker_and_loop(town: Town) -> None:
    for _ in range(100):
        answer = await town.http.get("/health/ready")
        if answer.status_code == 200:
            break
    checks = dict.fromkeys(("database", "migrations", "worker", "media", "room", "loop"), True)
    assert answer.json() == {"status": "ok"} | checks


async def test_a_server_without_a_worker_is_not_ready(new_town: TownBuilder) -> None:
    town = await new_town(worker="off")

    answer = await town.http.get("/health/ready")

    assert answer.status_code == 503
    assert answer.json()["worker"] is False


async def test_numbers_are_on_their_own_address_only(new_town: TownBuilder, metrics_port: ReservedPort) -> None:
    port = metrics_port.number
    town = await new_town(metrics_bind=f"127.0.0.1:{port}")

    await town.http.get("/api/v1/instance")
    public = await town.http.get("/metrics")
    own = await town.http.get(f"http://127.0.0.1:{port}/metrics")

    assert public.status_code == 404
    assert 'kith_request_seconds_count{method="GET",route="/api/v1/instance",status="200"}' in own.text
