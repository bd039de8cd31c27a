"""SQLite and PostgreSQL are asked the same: every call of both APIs and every page once, with something there to see or
change. The answers have the same status and the same shape, and the tables as many rows.

Ids, moments and words may differ; how many there are of something, what is null, and what is true may not.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser
from sqlalchemy import and_, bindparam, select

from kith.base.db import Database, Instant, query
from kith.base.jobs.tables import DEAD, jobs
from tests import snapshots
from tests.every_route import addresses, get_templates, is_stream
from tests.every_write import LEFT, WRITES, Write, write_templates
from tests.identity.flow_browser import Browser
from tests.identity.record_maker import API, Maker
from tests.identity.seed import EVERYTHING, Collection
from tests.social import samples
from tests.social.members import Member, join, stranger
from tests.social.posts import PATIENCE, arrive, settle
from tests.social.staff import employ
from tests.town import Person, Town, build_town
from tests.town.town import Engine

ENGINES: tuple[Engine, ...] = ("sqlite", "postgresql")
_due = query(
    select(jobs.c.kind).where(and_(jobs.c.run_at <= bindparam("now", type_=Instant()), jobs.c.state != DEAD)), str
)
ADDRESSES = 2  # of one template
OF_THE_MOMENT = ("/api/v1/admin/jobs", "/api/v1/admin/jobs/counts", "/admin/jobs")  # how many jobs wait just now
_GAP = re.compile(r"\{([a-z_0-9]+)\}")

# Written by whoever serves, when it is time: that they live, what others hear, keys that nobody has yet.
OF_THE_PROCESS = ("base_id_slots", "base_news", "federation_keys", "base_rate_counts")


class Place:
    """A town, who lives there, and what the day has brought so far, by name."""

    def __init__(self, town: Town, people: dict[str, Member], names: dict[str, str]) -> None:
        self.town = town
        self.people = people
        self.names = names
        self.owner = Person(town.http, people["owner"].name, f"correct horse {people['owner'].name}")

    async def filled(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: await self.filled(one) for key, one in value.items()}
        if isinstance(value, list):
            return [await self.filled(one) for one in value]
        if not isinstance(value, str):
            return value
        for name in _GAP.findall(value):
            if name not in self.names:
                await settle(self.town)
                self.names[name] = str(await FOUND[name](self))
        return _GAP.sub(lambda gap: self.names[gap[1]], value)

    async def write(self, one: Write) -> httpx.Response:
        path, body = await self.filled(one.path), await self.filled(one.body)
        sent: dict[str, Any] = {"json": body}
        if one.picture:
            picture = ("x.png", samples.image_file("PNG", (32, 32)), "image/png")
            sent = {"data": body, "files": {one.picture: picture}}
        answer = await self.people[one.who].call(one.method, path, **sent)
        if one.keeps:
            self.names[one.keeps] = _id_in(answer.json())
        return answer


def _id_in(made: dict[str, Any]) -> str:
    """Some are told within their own name: `{"collection": {"id": …}}`."""
    if "id" not in made:
        [made] = made.values()
    return str(made["id"])


# What follows from a call by itself, and is looked up when it is first named.
FOUND: dict[str, Callable[[Place], Coroutine[Any, Any, Any]]] = {}


def found(find: Callable[[Place], Coroutine[Any, Any, Any]]) -> None:
    FOUND[find.__name__] = find


@found
async def poll(place: Place) -> Any:
    return (await place.people["ada"].get(f"/api/v1/statuses/{place.names['poll_post']}"))["poll"]["id"]


@found
async def group(place: Place) -> Any:
    return (await place.people["ada"].get("/api/v2/notifications"))["notification_groups"][0]["group_key"]


def _first(who: str, path: str) -> Callable[[Place], Coroutine[Any, Any, Any]]:
    async def find(place: Place) -> Any:
        return (await place.people[who].get(path))[0]["id"]

    return find


for _name, _who, _path in (
    ("conversation", "ada", "/api/v1/conversations"),
    ("notification", "ada", "/api/v1/notifications"),
    ("next_notification", "ada", "/api/v1/notifications"),
    *((f"request{number}", "ada", "/api/v1/notifications/requests") for number in (1, 2, 3, 4)),
    ("strike", "eve", "/api/v1/strikes"),
    ("next_strike", "eve", "/api/v1/strikes"),
    ("appeal", "owner", "/api/v1/admin/appeals?status=pending"),
    ("next_appeal", "owner", "/api/v1/admin/appeals?status=pending"),
    ("tag", "owner", "/api/v1/admin/tags"),
):
    FOUND[_name] = _first(_who, _path)


async def _settle_in(town: Town) -> Place:
    people = {name: await join(town, name) for name in ("ada", "bob", "eve", "kim", "lee", "max")}
    people["owner"] = await employ(town, "owner", "owner")
    away = await stranger(town)
    await arrive(*people.values())
    names = {name: one.id for name, one in people.items()} | {"away": str(away.id)}
    return Place(town, people, names | {f"{name}_name": one.name for name, one in people.items()})


@pytest.fixture(scope="module")
async def places(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[list[Place]]:
    async with AsyncExitStack() as stack:
        towns = [
            await stack.enter_async_context(build_town(engine, tmp_path_factory.mktemp(engine))) for engine in ENGINES
        ]
        yield list(await asyncio.gather(*(_settle_in(town) for town in towns)))


def shape(value: Any) -> Any:
    """What is there, without what it says."""
    if isinstance(value, dict):
        return {key: shape(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        kinds = {repr(one): one for one in map(shape, value)}  # in whichever order they are told
        return [len(value), *(kinds[name] for name in sorted(kinds))]
    if value is None or isinstance(value, bool):
        return value
    return type(value).__name__


def difference(one: Any, other: Any, path: str = "") -> list[str]:
    """Where two shapes differ."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [found for key in one for found in difference(one[key], other[key], f"{path}.{key}")]
    if isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [found for place, (a, b) in pairs for found in difference(a, b, f"{path}[{place}]")]
    return [] if one == other else [f"{path}: {one} | {other}"]


def shape_of(answer: httpx.Response) -> Any:
    kind = answer.headers.get("content-type", "").partition(";")[0]
    if kind.endswith("json") and answer.content:
        return answer.status_code, kind, shape(answer.json())
    if kind == "text/html":
        tags = Counter(node.tag for node in LexborHTMLParser(answer.content).css("body *"))
        return answer.status_code, kind, tags
    return answer.status_code, kind


async def _settle_all(town: Town) -> None:
    """Until nothing is due in either half: notifications of events are told by jobs, too."""
    await settle(town)
    until = time.monotonic() + PATIENCE
    async with town.house() as house:
        while due := await _due_kinds(house.database):
            assert time.monotonic() < until, f"still to be done: {due}"
            await asyncio.sleep(0.02)


async def _due_kinds(database: Database) -> list[str]:
    session = database.session()
    kinds = await session.all(_due, now=datetime.now(UTC))
    await session.rollback()
    return list(kinds)


async def _rows(town: Town) -> dict[str, int]:
    await _settle_all(town)
    return {name: len(rows) for name, rows in (await snapshots.take(town, {})).items()}


async def test_every_write_of_the_social_api_does_the_same(places: list[Place]) -> None:
    wrong = []
    for one in WRITES:
        # What follows from a call meets what the next one changes, or does not: an edit is told to those who have boosted by then.
        await asyncio.gather(*(_settle_all(place.town) for place in places))
        first, second = [await place.write(one) for place in places]
        if first.status_code != one.status:
            wrong.append(f"{one.method} {one.path}: {first.status_code} {first.text[:300]}")
        wrong += [f"{one.method} {one.path}: {found}" for found in difference(shape_of(first), shape_of(second))]
    assert wrong == []


def test_no_write_of_the_social_api_is_missing_from_the_day() -> None:
    made = {(one.method, _GAP.sub("{}", one.path)) for one in WRITES}
    missing = [
        f"{method} {template}"
        for method, template in sorted(write_templates())
        if not any(m == method and _fits(template, path.partition("?")[0]) for m, path in made)
        and f"{method} {template}" not in LEFT
    ]
    assert missing == []


def _fits(template: str, path: str) -> bool:
    return re.fullmatch(re.sub(r"\\\{[^}]+\\\}", "[^/]+", re.escape(template)), path) is not None


async def test_every_collection_of_the_identity_api_does_the_same(places: list[Place]) -> None:
    wrong: list[str] = []
    for collection in EVERYTHING:
        if collection.body:
            told = await asyncio.gather(*(_life(place, collection) for place in places))
            wrong += [f"{collection.path}: {found}" for found in difference(told[0], told[1])]
    assert wrong == []


async def _life(place: Place, collection: Collection) -> list[Any]:
    """A record is made, found, read, changed and deleted."""
    url, told = API + collection.path, []

    async def call(method: str, path: str, **sent: Any) -> Any:
        answer = await place.owner.call(method, path, **sent)
        assert answer.status_code < 300, (method, path, answer.text)
        told.append(shape_of(answer))
        return answer.json() if answer.content else None

    made = await call("POST", url, json=await Maker(place.owner).body(collection))
    await call("GET", url, params={"ordering": collection.key, "page_size": "100"})
    await call("GET", url, params={"search": "w"})
    item = f"{url}{made['pk']}/"
    whole = await call("GET", item)
    if "PATCH" in collection.methods:
        await call("PATCH", item, json=dict(collection.change))
    if "DELETE" in collection.methods:
        await _settle_all(place.town)  # a directory, say, is copied as soon as it is named
        await call("DELETE", item)
    assert whole["pk"] == made["pk"]
    return told


async def test_every_page_and_every_list_shows_the_same(places: list[Place]) -> None:
    """By an owner, signed in and with a token, so that nothing stays at the door."""
    told = await asyncio.gather(*(_look_everywhere(place) for place in places))
    wrong = [
        f"{template}: {found}" for template in told[0] for found in difference(told[0][template], told[1][template])
    ]
    assert wrong == []
    assert sum(one[0] == 200 for answers in told[0].values() for one in answers) > 350


async def _look_everywhere(place: Place) -> dict[str, list[Any]]:
    browser = Browser(place.town)
    await browser.sign_in(place.owner)
    by_token = {"Authorization": f"Bearer {place.people['owner'].token}"}
    await browser.http.get("/home")
    await _settle_all(place.town)
    names = place.names
    values = {
        "statuses/id": (names["reply"],), "@/name": ("bob",), "@/id": (names["reply"],), "accounts/id": (names["bob"],),
        "users/name": ("bob",), "users/id": ("1",), "name": ("bob", "garden"), "id": (names["reply"], "1"),
        "slug": ("default-invalidation-flow",), "designation": ("invalidation",), "key": ("nothing",), "handle": ("@bob",),
        "path": ("people/1",),
    }  # fmt: skip
    url = place.town.base_url
    query = f"?q=hello&uri={url}/@bob&url={url}/@bob/{names['reply']}&id[]={names['bob']}"
    told: dict[str, list[Any]] = {}
    for template, route in get_templates():
        if is_stream(route):
            continue
        for address in addresses(template, values, most=ADDRESSES):
            answer = await browser.http.get(f"{address}{query}")
            if answer.status_code == 401:
                answer = await browser.http.get(f"{address}{query}", headers=by_token)
            shown = shape_of(answer)
            told.setdefault(template, []).append(shown[:2] if template in OF_THE_MOMENT else shown)
    return told


async def test_every_table_has_as_many_rows(places: list[Place]) -> None:
    first, second = [await _rows(place.town) for place in places]
    differing = {name: (count, second[name]) for name, count in first.items() if count != second[name]}

    assert {name: counts for name, counts in differing.items() if name not in OF_THE_PROCESS} == {}
    assert sum(count > 0 for count in first.values()) > 90
