"""Whatever is sent, the answer is a no in the API's own words, or a yes: never a fault of ours, never silence."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpcore
import pytest

from tests.conftest import TownBuilder
from tests.modes import sized
from tests.social.garbage import Garbage, Wrong, social_routes
from tests.social.members import Member, join_all, stranger
from tests.social.posts import arrive, post, settle
from tests.social.samples import image_file
from tests.social.staff import employ
from tests.town import Town

MANY = {"sqlite": sized(2_000, 10_000), "postgresql": 1_000}
AT_ONCE = 24
PATIENCE = {"timeout": {"connect": 120, "read": 120, "write": 120, "pool": 120}}


async def _furnish(ada: Member, bob: Member) -> list[str]:
    """Things of one's own and of somebody else, by their ids."""
    await bob.to(ada, "follow")
    await ada.to(bob, "follow")
    known = [ada.id, bob.id, str((await stranger(ada.town)).id)]
    for one in (ada, bob):
        picture = await one.post("/api/v2/media", files={"file": ("a.png", image_file("PNG"), "image/png")})
        loose = await one.post("/api/v2/media", files={"file": ("b.png", image_file("PNG"), "image/png")})
        poll = await post(one, "which?", poll={"options": ["a", "b"], "expires_in": 3600})
        shown = await post(one, "look #tag", media_ids=[picture["id"]])
        answer = await post(one, f"so @{ada.name} @{bob.name}", in_reply_to_id=shown["id"])
        secret = await post(one, "hush", visibility="direct")
        later = await post(one, "later", scheduled_at="2035-01-01T00:00:00Z")
        named = await one.post("/api/v1/lists", json={"title": "friends"})
        featured = await one.post("/api/v1/featured_tags", json={"name": "tag"})
        known += [loose["id"], poll["id"], poll["poll"]["id"], shown["id"], answer["id"], secret["id"], later["id"]]
        known += [named["id"], featured["id"]]
    await arrive(ada, bob)
    known += [one["id"] for one in await ada.get("/api/v1/notifications")]
    return [*known, "tag"]


async def _furnish_for_team(owner: Member, ada: Member, bob: Member) -> list[str]:
    """One of everything that the team makes and deals with, by their ids."""
    report = await ada.post("/api/v1/reports", json={"account_id": bob.id})
    await owner.post(f"/api/v1/admin/accounts/{bob.id}/action", json={"type": "sensitive", "report_id": report["id"]})
    [strike] = await bob.get("/api/v1/strikes")
    await bob.post(f"/api/v1/strikes/{strike['id']}/appeal", json={"text": "no"})
    [appeal] = await owner.get("/api/v1/admin/appeals")
    made = [
        await owner.post(f"/api/v1/admin/{path}", json=sent)
        for path, sent in {
            "rules": {"text": "be kind"},
            "roles": {"name": "helper", "permissions_as_keys": ["manage_reports"]},
            "report_notes": {"report_id": report["id"], "content": "hm"},
            "warning_presets": {"text": "careful"},
            "announcements": {"text": "hello"},
            "webhooks": {"url": "https://hook.example/", "events": ["report.created"]},
            "invites": {"single_use": False},
            "domain_blocks": {"domain": "blocked.example"},
            "domain_allows": {"domain": "allowed.example"},
            "email_domain_blocks": {"domain": "mail.example"},
            "canonical_email_blocks": {"email": "eve@example.org"},
            "ip_blocks": {"ip": "10.0.0.1", "severity": "no_access"},
        }.items()
    ]
    picture = {"image": ("a.png", image_file("PNG"), "image/png")}
    made.append(await owner.post("/api/v1/admin/custom_emojis", data={"shortcode": "blob"}, files=picture))
    return [one["id"] for one in (report, strike, appeal, *made)]


@pytest.fixture
async def ada(new_town: TownBuilder) -> Member:
    """Somebody in a town of their own, since nobody knows what will be left of it."""
    town = await new_town(log_level="warning")
    [ada] = await join_all(town, 1)
    return ada


# Of collections, what is wrong stands one level deeper, as in Mastodon.
NESTED = (b"/api/v1/collections", b"/api/v1_alpha/collections")
SWITCHED_OFF = b"/api/v1/instance/domain_blocks"


class Sender:
    """Sends what it is given, some at a time, and keeps what was answered wrongly.

    By a plain client: for thousands of requests a comfortable one would need more time than the server.
    """

    def __init__(self, member: Member, http: httpcore.AsyncConnectionPool) -> None:
        self._token = f"Bearer {member.token}".encode()
        self._http = http
        self._server = httpcore.URL(member.town.base_url)
        self.faults: list[str] = []
        self.counted: dict[int, int] = {}

    async def send(self, requests: Iterator[Wrong]) -> None:
        for request in requests:
            fault = await self._fault_of(request)
            if fault:
                self.faults.append(f"{request}: {fault}")

    async def _fault_of(self, request: Wrong) -> str:
        headers = [(b"accept", b"*/*")]
        if request.with_token:
            headers.append((b"authorization", self._token))
        if request.content_type:
            headers.append((b"content-type", request.content_type.encode("latin-1")))
        there = self._server
        url = httpcore.URL(scheme=there.scheme, host=there.host, port=there.port, target=request.path.encode())
        try:
            async with self._http.stream(
                request.method, url, headers=headers, content=request.body or None, extensions=PATIENCE
            ) as answer:
                if dict(answer.headers).get(b"content-type") != b"text/event-stream":  # which would never end by itself
                    await answer.aread()
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
            return f"no answer: {error!r}"
        self.counted[answer.status] = self.counted.get(answer.status, 0) + 1
        if answer.status >= 500:
            return f"{answer.status} {answer.content!r}"
        return "" if answer.status < 400 else _wrong_refusal(url.target, answer)


def _wrong_refusal(target: bytes, answer: httpcore.Response) -> str:
    """A no is an object with `error`, in words; only what the operator has switched off is not there at all."""
    if target.startswith(SWITCHED_OFF) and (answer.status, answer.content) == (404, b""):
        return ""
    if answer.status == 414:
        return ""  # the server itself refuses such an address, before anybody knows in which dialect
    try:
        said: Any = json.loads(answer.content)
    except ValueError:
        return f"{answer.status} is no JSON: {answer.content!r}"
    if target.startswith(NESTED) and isinstance(said, dict) and isinstance(said.get("error"), dict):
        said = said["error"]
    fine = isinstance(said, dict) and isinstance(said.get("error"), str) and said["error"]
    is_json = dict(answer.headers)[b"content-type"].startswith(b"application/json")
    return "" if fine and is_json else f"{answer.status} {said!r}"


async def _send_all(ada: Member, requests: Iterator[Wrong]) -> Sender:
    async with httpcore.AsyncConnectionPool(max_connections=AT_ONCE) as http:
        sender = Sender(ada, http)
        await asyncio.gather(*(sender.send(requests) for _ in range(AT_ONCE)))
    return sender


def _faults_in(town: Town) -> list[str]:
    """What the server itself thinks went wrong."""
    lines = [json.loads(line) for line in town.log().splitlines() if line.startswith("{")]
    return [str(line) for line in lines if line["level"] in ("error", "critical")]


async def test_thousands_of_wrong_requests_are_all_answered(ada: Member) -> None:
    [bob] = await join_all(ada.town, 1)
    routes = [route for route in social_routes() if "/admin/" not in route.path]
    known = await _furnish(ada, bob)
    count = MANY[ada.town.engine]

    sender = await _send_all(ada, Garbage(routes, known, seed=1817).requests(count))

    assert len(routes) > 100
    assert sender.faults == []
    assert sum(sender.counted.values()) == count
    assert sender.counted[200] > count / 20, "nearly everything stayed at the door"
    await settle(ada.town)  # what they asked for can also be done
    assert _faults_in(ada.town) == []
    assert (await bob.get("/api/v1/accounts/verify_credentials"))["id"] == bob.id


async def test_wrong_requests_of_the_team_are_all_answered(new_town: TownBuilder) -> None:
    """By somebody who may do everything, at people, reports and blocks that are there."""
    town = await new_town(log_level="warning")
    owner, (ada, bob) = await employ(town, "owner"), await join_all(town, 2)
    routes = [route for route in social_routes() if "/admin/" in route.path]
    known = [ada.id, bob.id, owner.id, "1", "-99", "none", "suspend", *await _furnish_for_team(owner, ada, bob)]
    count = MANY[town.engine] // 5

    sender = await _send_all(owner, Garbage(routes, known, seed=1815).requests(count))

    assert sender.faults == []
    assert sum(sender.counted.values()) == count
    assert sender.counted[200] > count / 20, "nearly everything stayed at the door"
    assert _faults_in(town) == []
    assert (await owner.get("/api/v1/accounts/verify_credentials"))["role"]["id"] == "3"
