"""Moments and durations at both ends of what Python and the databases can hold, wherever one is taken.

Nothing is broken by them, and what is refused changes nothing. Where they are taken is read from the application: the
fields of the identity API's records, and the structs that the routes of the social API fill.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import msgspec
import pytest

from kith.app import ROUTES
from kith.base.moments import moment_at, read_http_date, read_moment
from kith.base.routing import Route
from kith.identity.collections import RESOURCES
from kith.identity.rest.fields import Moment, Offset
from kith.identity.saml.errors import SAMLError
from kith.identity.saml.instants import read_instant
from tests import snapshots
from tests.every_route import addresses, get_templates, is_stream
from tests.identity.flow_browser import Browser
from tests.identity.record_maker import BY_PATH, Maker
from tests.identity.records import API, new_name
from tests.search_size import is_whole_search
from tests.social.posts import post
from tests.social.staff import employ
from tests.town import Person, Town, build_town
from tests.town.town import Engine

MOMENTS = (
    "9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59-23:59", "9999-01-01T00:00:00Z", "9998-12-31T23:59:59Z",
    "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "0999-12-31T00:00:00Z", "1000-01-01T00:00:00+00:01",
    "10000-01-01T00:00:00Z", "-0001-01-01T00:00:00Z", "infinity", "-infinity", "1970-01-01T00:00:00",
    "2038-01-19T03:14:08Z", "294277-01-01T00:00:00Z", "2030-02-30T00:00:00Z", "2016-12-31T23:59:60Z",
)  # fmt: skip
DAYS = ("9999-12-31", "0001-01-01", "9998-12-31", "0999-12-31", "10000-01-01", "2030-02-30")
SECONDS = (2**31 - 1, 2**31, 2**53, 2**63 - 1, 2**63, 10**30, -1, -(2**63), 10**11, 10**12, 315_537_897_600)
DURATIONS = ("weeks=999999999999", "days=999999999999", "days=-999999999999", "days=36499", "days=36500")
LASTING = ("expires_in", "duration", "max_age", "min_status_age", "seen", "days", "last", "minutes")
# What a route wants besides, so that its moments are looked at.
BESIDES: dict[str, dict[str, Any]] = {
    "/api/v1/admin/announcements": {"text": "Hello", "all_day": True, "starts_at": "2030-01-01T00:00:00Z"},
    "/api/v1/admin/announcements/{id}": {"all_day": True},
    "/api/v1/statuses": {"status": "Hello", "poll": {"options": ["a", "b"], "expires_in": 300}},
    "/api/v1/accounts": {
        "username": "nobody_new", "email": "nobody@example.org", "password": "correct horse", "agreement": True,
        "locale": "en",
    },
    "/api/v1/filters": {"phrase": "x", "context": ["home"]},
    "/api/v2/filters": {"title": "x", "context": ["home"]},
    "/api/v1/admin/ip_blocks": {"ip": "192.0.2.1", "severity": "no_access"},
    "/api/v1/admin/measures": {"keys": ["new_users"], "start_at": "2026-01-01", "end_at": "2026-01-02"},
    "/api/v1/admin/dimensions": {"keys": ["languages"], "start_at": "2026-01-01", "end_at": "2026-01-02"},
    "/api/v1/admin/retention": {"start_at": "2026-01-01", "end_at": "2026-01-02", "frequency": "day"},
}  # fmt: skip

SHOWS_MOMENTS = (
    "/api/v1/admin/announcements", "/api/v1/announcements", "/api/v1/scheduled_statuses", "/api/v1/admin/ip_blocks",
    "/api/v2/filters", "/api/v2/core/tokens/", "/api/v2/core/users/", "/api/v2/policies/bindings/",
    "/api/v2/stages/invitation/invitations/", "/announcements", "/scheduled", "/admin/announcements", "/admin/ip_blocks",
    "/admin/invitations", "/admin/tokens", "/settings/filters", "/home",
)  # fmt: skip


class Place(msgspec.Struct, frozen=True):
    """A field of a route, and what is tried there."""

    route: Route
    field: str
    values: tuple[Any, ...]


def _places() -> Iterator[Place]:
    for route in ROUTES:
        if not route.template.startswith("/api/v1") and not route.template.startswith("/api/v2/filters"):
            continue
        for parameter in route.parameters:
            if parameter.place not in ("query", "body") or not _is_struct(parameter.kind):
                continue
            for one in msgspec.structs.fields(parameter.kind):
                kinds = str(one.type)
                if "datetime" in kinds:
                    yield Place(route, one.name, MOMENTS)
                elif "date" in kinds and "Update" not in kinds:
                    yield Place(route, one.name, DAYS)
                elif one.name in ("start_at", "end_at"):
                    yield Place(route, one.name, (*MOMENTS, *DAYS))
                elif one.name in LASTING:
                    yield Place(route, one.name, SECONDS)


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


class Scene(msgspec.Struct):
    town: Town
    owner: Person
    http: httpx.AsyncClient
    values: dict[str, tuple[str, ...]]


@pytest.fixture(scope="module")
async def scene(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    async with build_town(engine, tmp_path_factory.mktemp("moments"), worker="off") as town:
        staff, owner = await employ(town, "owner"), await town.owner()
        said = await post(staff, "Hello")
        await staff.post("/api/v1/admin/announcements", json={"text": "Hello"})
        [told] = await staff.get("/api/v1/admin/announcements")
        planned = await post(staff, "Later", scheduled_at="2030-01-01T00:00:00Z")
        async with httpx.AsyncClient(base_url=town.base_url, timeout=60) as http:
            http.headers["Authorization"] = f"Bearer {staff.token}"
            values: dict[str, tuple[str, ...]] = {
                "statuses/id": (said["id"],), "announcements/id": (told["id"],), "accounts/id": (staff.id,),
                "scheduled_statuses/id": (planned["id"],), "id": (said["id"],),
            }  # fmt: skip
            yield Scene(town, owner, http, values)


async def _check_all(scene: Scene, tries: Iterator[tuple[str, str, dict[str, Any]]]) -> tuple[int, int]:
    """How many were taken and how many refused."""
    taken = refused = 0
    before = await _content(scene.town)
    for method, address, body in tries:
        asked: dict[str, Any] = {"params": body} if method == "GET" else {"json": body}
        answer = await scene.http.request(method, address, **asked)
        assert answer.status_code < 500, (method, address, body, answer.text)
        if answer.status_code < 300:
            taken += 1
            before = await _content(scene.town) if is_whole_search() else before
        else:
            refused += 1
            assert answer.json(), (method, address, body)
            if is_whole_search():
                after = await _content(scene.town)
                assert snapshots.differences(before, after) == {}, (method, address, body)
    return taken, refused


async def _content(town: Town) -> snapshots.Snapshot:
    if not is_whole_search():
        return {}
    notes = ("base_id_slots", "base_rate_counts", "identity_events", "identity_refusals")
    return await snapshots.take(town, dict.fromkeys(notes, snapshots.WHOLE) | {"identity_sessions": ("last_used_at",)})


async def test_moments_of_the_social_api(scene: Scene) -> None:
    places = list(_places())
    assert {"ends_at", "scheduled_at", "expires_in", "date_of_birth", "start_at"} <= {one.field for one in places}

    def tries() -> Iterator[tuple[str, str, dict[str, Any]]]:
        for place in places:
            [address] = addresses(place.route.template, scene.values, most=1)
            for value in place.values:
                body = BESIDES.get(place.route.template, {}) | {place.field: value}
                yield place.route.methods[0], address, body
                if place.field == "expires_in" and "poll" in body:
                    yield place.route.methods[0], address, body | {"poll": {"options": ["a", "b"], "expires_in": value}}

    taken, refused = await _check_all(scene, tries())
    assert taken > 20
    assert refused > 100


async def test_moments_and_durations_of_the_identity_api(scene: Scene) -> None:
    """Made with them, and changed to them."""
    resources = [
        (resource, [one for one in resource.fields if isinstance(one, Moment | Offset) and not one.read_only])
        for resource in RESOURCES
        if resource.path in BY_PATH
    ]
    found = {(resource.path, one.name) for resource, fields in resources for one in fields}
    assert len(found) > 15, found
    scene.http.headers.pop("Authorization", None)
    scene.http.auth = httpx.BasicAuth(scene.owner.username, scene.owner.password)
    maker = Maker(scene.owner)
    tries: list[tuple[str, str, dict[str, Any]]] = []
    for resource, fields in resources:
        if not fields:
            continue
        made = await maker.make(BY_PATH[resource.path])
        body = await maker.body(BY_PATH[resource.path])
        for one in fields:
            values = MOMENTS if isinstance(one, Moment) else DURATIONS
            tries += [("PATCH", f"{API}{resource.path}{made['pk']}/", {one.name: value}) for value in values]
            tries.append(("POST", f"{API}{resource.path}", body | {one.name: values[0]}))
    group = (await maker.make(BY_PATH["/core/groups/"]))["pk"]
    tries += [("POST", f"{API}/core/groups/{group}/add_user/", {"pk": 1, "expires": value}) for value in MOMENTS]

    taken, refused = await _check_all(scene, iter(tries))
    assert taken > 10
    assert refused > 30


async def test_what_was_taken_can_be_read(scene: Scene) -> None:
    """After the others: lists and pages, as the owner sees them."""
    browser = Browser(scene.town)
    await browser.sign_in(scene.owner)
    tried = 0
    for template, route in get_templates():
        if "{" in template or is_stream(route) or not (is_whole_search() or template in SHOWS_MOMENTS):
            continue
        answer = await browser.http.get(template)
        assert answer.status_code != 500, (template, answer.text)
        tried += 1
    assert tried >= len(SHOWS_MOMENTS)


@pytest.mark.parametrize("text", MOMENTS)
def test_moments_of_saml(text: str) -> None:
    try:
        at = read_instant(text)
    except SAMLError:
        return
    assert at + dt.timedelta(days=300) > at - dt.timedelta(days=300)


DATES = (
    "Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 9999 23:59:59 -2359", "Mon, 01 Jan 0001 00:00:00 GMT",
    "Mon, 01 Jan 0001 00:00:00 +2359", "Thu, 01 Jan 1970 00:00:00", "Sat, 01 Jan 99999 00:00:00 GMT",
    "Sat, 01 Jan 2050 00:00:00 +99999999999999999999", "31 Feb 2030 00:00:00 GMT", "", "0",
)  # fmt: skip
NUMBERS = (*SECONDS, float("inf"), float("-inf"), float("nan"), -1e300, 1e300)


@pytest.mark.parametrize(
    "at", [*map(read_moment, MOMENTS), *map(read_moment, DAYS), *map(read_http_date, DATES), *map(moment_at, NUMBERS)]
)
def test_a_moment_has_room_around_it(at: dt.datetime | None) -> None:
    """Read from text, from the dates of headers, and from the numbers of tokens."""
    assert at is None or at - dt.timedelta(days=364) < at < at + dt.timedelta(days=364)


async def test_moments_of_blueprints(scene: Scene) -> None:
    """The social half reads its values by itself."""
    taken, text = 0, new_name("at the ends of time ")
    for value in MOMENTS:
        words = (
            "version: 1\nmetadata: {name: x}\nentries:\n- model: social.announcement\n"
            f"  identifiers: {{text: {text}}}\n"
            f"  attrs: {{all_day: true, starts_at: '2030-01-01T00:00:00Z', ends_at: '{value}'}}\n"
        )
        answer = await scene.owner.call(
            "POST", f"{API}/managed/blueprints/import/", files={"file": ("a.yaml", words.encode())}
        )
        assert answer.status_code < 500, (value, answer.text)
        told = answer.json()
        taken += told["success"]
        assert told["success"] or "ends_at" in str(told), (value, told)
    assert 0 < taken < len(MOMENTS) / 2
