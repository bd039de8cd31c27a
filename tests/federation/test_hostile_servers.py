"""A server that means harm is asked for something: it is asked little, and nobody else waits for it."""

from __future__ import annotations

import asyncio
import gzip
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from aiohttp import web

from kith.federation.signatures.digests import sha256
from kith.federation.signatures.signing import RequestToSign, SigningScheme, sign
from kith.federation.sync.headers import write_header
from tests.federation.inbox_street import Street, street
from tests.federation.neighbour import ACTIVITY, AS, Neighbour, RemotePerson
from tests.social.members import Member, join, until
from tests.town.town import Engine

LITTLE = 700  # requests, from one thing that came in


@pytest.fixture(scope="module")
async def lane(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Street]:
    async with street(engine, tmp_path_factory.mktemp("lane")) as made:
        yield made


@pytest.fixture(scope="module")
async def bob(lane: Street) -> Member:
    return await join(lane.here)


async def looked_up(member: Member, address: str) -> tuple[int, int]:
    """How many people and posts an address leads to."""
    answer = await member.call("GET", "/api/v2/search", params={"q": address, "resolve": "true"})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    return len(found["accounts"]), len(found["statuses"])


def plain_answer(body: bytes, type: str = ACTIVITY, **headers: str) -> web.Response:
    return web.Response(body=body, headers={"Content-Type": type, **headers})


# Single documents


async def test_documents_that_are_not_what_they_say(lane: Street, bob: Member) -> None:
    there, away = lane.there, lane.away
    eve, carol = there.person("eve", key=0), away.person("carol", key=1)
    carols = carol.note("1")
    note = eve.note("good")
    raw = msgspec.json.encode
    far = f"{there.url}/far"
    hostile: dict[str, Any] = {
        "id of another host": raw(note | {"id": f"{carol.uri}/statuses/x"}),
        "id of ours": raw(note | {"id": f"{bob.me['uri']}/statuses/1"}),
        "author of another host": raw(note | {"id": far, "attributedTo": carol.uri}),
        "author of ours": raw(note | {"id": far, "attributedTo": bob.me["uri"]}),
        "another's post whole": raw(carols | {"content": "<p>Forged</p>", "id": far}),
        "actor of ours": raw(eve.document | {"id": bob.me["uri"]}),
        "actor of another host": raw(eve.document | {"id": f"{away.url}/users/forged"}),
        "actor with an inbox elsewhere": raw(eve.document | {"id": far, "inbox": carol.document["inbox"]}),
        "no id": raw({name: one for name, one in note.items() if name != "id"}),
        "deep": b'{"a":' * 90_000 + b"1" + b"}" * 90_000,
        "more than a megabyte": raw(note | {"id": far, "content": "x" * 1_100_000}),
        "many values": raw(note | {"id": far, "tag": [0] * 200_000}),
        "no JSON": b"<html>",
        "nothing": b"",
    }
    for number, (name, body) in enumerate(hostile.items()):
        address = there.serves(
            f"/hostile/{number}", body.replace(far.encode(), f"{there.url}/hostile/{number}".encode())
        )
        before = len(there.asked) + len(away.asked)
        assert await looked_up(bob, address) == (0, 0), name
        assert len(there.asked) + len(away.asked) - before <= 6, name
    for type in (
        "text/html",
        "application/json",
        "image/png",
        "application/ld+json",
        "text/plain; application/activity+json",
    ):
        address = there.serves("/hostile/type", note | {"id": f"{there.url}/hostile/type"}, type=type)
        assert await looked_up(bob, address) == (0, 0), type
    assert await looked_up(bob, note["id"]) == (0, 1)


async def test_a_bomb_is_not_unpacked(lane: Street, bob: Member) -> None:
    there = lane.gone
    bomb = gzip.compress(b'{"a":"' + b"x" * 30_000_000 + b'"}')

    async def packed(request: web.Request) -> web.StreamResponse:
        return plain_answer(bomb, **{"Content-Encoding": request.path.rpartition("/")[2]})

    there.answers("/bomb/", packed)
    for coding in ("gzip", "deflate", "br", "gzip, gzip"):
        assert await looked_up(bob, f"{there.url}/bomb/{coding}") == (0, 0)


async def test_redirects_lead_nowhere(lane: Street, bob: Member) -> None:
    there, away = lane.there, lane.away
    carol = away.person("carol2", key=1)
    carols = carol.note("1")
    private = "http://127.0.0.1:9/"
    ways = {
        "round": "/to/round",
        "further": "/to/further/more",
        "private": private,
        "loopback": "http://localhost:1/",
        "metadata": "http://169.254.169.254/latest/meta-data/",
        "file": "file:///etc/passwd",
        "script": "javascript:alert(1)",
        "ours": bob.me["uri"],
    }

    async def to(request: web.Request) -> web.StreamResponse:
        name = request.path.split("/")[2]
        where = request.path + "/more" if name == "further" else ways[name]
        return web.Response(status=302, headers={"Location": where})

    there.answers("/to/", to)
    for name in ways:
        before = len(there.asked)
        assert await looked_up(bob, f"{there.url}/to/{name}") == (0, 0), name
        assert len(there.asked) - before <= 10, name
    # to what another host has under its own id it may lead
    ways["carol"] = carols["id"]
    assert await looked_up(bob, f"{there.url}/to/carol") == (0, 1)


# How much is asked


def endless(home: Neighbour, path: str, item: Any) -> str:
    """A collection whose every page has a next one. `item` makes what stands on a page, of its number."""

    async def page(request: web.Request) -> web.StreamResponse:
        number = int(request.query.get("page", "0"))
        kind = "OrderedCollectionPage" if number else "OrderedCollection"
        following = {"next" if number else "first": f"{home.url}{path}?page={number + 1}"}
        body = {"@context": AS, "id": home.url + request.path_qs, "type": kind, "totalItems": 10**9}
        return plain_answer(msgspec.json.encode(body | {"orderedItems": item(number)} | following))

    return home.answers(path, page)


async def test_collections_without_an_end(lane: Street, bob: Member) -> None:
    there = lane.there
    eve = there.person("endless", key=6)
    for name in ("outbox", "featured", "featuredTags", "followers", "following"):
        eve.document[name] = endless(there, f"/lists/{name}", lambda number: [f"{there.url}/none/{number}"])
    before = len(there.asked)
    await bob.post("/api/v1/follows", json={"uri": eve.handle})
    asked = {"type": "Follow", "actor": bob.me["uri"], "object": eve.uri}
    await lane.sends(eve, eve.activity("Accept", asked))
    assert len(there.asked) - before < 100


async def test_a_list_of_followers_without_an_end(lane: Street, bob: Member) -> None:
    there = lane.there
    eve = there.person("listing", key=6)
    await lane.sends(eve, eve.activity("Follow", bob.me["uri"]))
    url = endless(there, "/sync", lambda number: [f"{lane.here.base_url}/users/x{number}"])
    note = eve.note("private", to=[eve.document["followers"]], cc=[bob.me["uri"]])
    header = write_header(eve.document["followers"], url, "0" * 63 + "1")
    before = len(there.asked)
    body = msgspec.json.encode(eve.create(note))
    headers = {"content-type": ACTIVITY, "collection-synchronization": header}
    signed = sign(
        eve.signer, RequestToSign("POST", lane.inbox, sha256(body), headers), SigningScheme.CAVAGE, datetime.now(UTC)
    )
    answer = await there.http.post(lane.inbox, content=body, headers=signed | headers)
    assert answer.status_code == 202
    await lane.settled()
    assert 0 < len([path for path in there.asked[before:] if path.startswith("/sync")]) <= 20


async def test_threads_that_go_round_or_never_end(lane: Street, bob: Member) -> None:
    """Every post answers another one, quotes a third, has answers and names people whom nobody knows."""
    there, away = lane.there, lane.away
    eve = there.person("threading", key=7)
    count = iter(range(1, 10**9))

    def note(name: str) -> dict[str, Any]:
        mine = f"{there.url}/thread/{name}"
        others = [f"{there.url}/thread/{next(count)}" for _ in range(2)]
        people = [{"type": "Mention", "href": f"{away.url}/nobody/{next(count)}"} for _ in range(60)]
        replies = [f"{there.url}/thread/{next(count)}" for _ in range(5)]
        return eve.note("unused") | {
            "id": mine,
            "inReplyTo": others[0],
            "quote": others[1],
            "tag": people,
            "replies": {"type": "Collection", "id": f"{mine}/replies", "items": replies},
        }

    async def threads(request: web.Request) -> web.StreamResponse:
        return plain_answer(msgspec.json.encode(note(request.path.removeprefix("/thread/"))))

    there.answers("/thread/", threads)
    first = note("0")
    first["tag"] = [*first["tag"], {"type": "Mention", "href": bob.me["uri"]}]
    before = Counter(there=len(there.asked), away=len(away.asked))
    await lane.sends(eve, eve.create(first))

    assert len(there.asked) - before["there"] <= LITTLE
    assert len(away.asked) - before["away"] <= LITTLE


async def test_posts_that_answer_each_other(lane: Street, bob: Member) -> None:
    eve = lane.there.person("round", key=8)
    uris = [f"{eve.uri}/statuses/{number}" for number in range(4)]
    for number in range(4):
        eve.note(str(number), inReplyTo=uris[(number + 1) % 4], quote=uris[(number + 2) % 4])
    own = eve.note("own", inReplyTo=f"{eve.uri}/statuses/own", quote=f"{eve.uri}/statuses/own")
    before = len(lane.there.asked)
    assert await looked_up(bob, uris[0]) == (0, 1)
    assert await looked_up(bob, own["id"]) == (0, 1)
    await lane.settled()
    assert len(lane.there.asked) - before < 60
    for uri in uris:
        found = await bob.get("/api/v2/search", params={"q": uri, "resolve": "true", "type": "statuses"})
        context = await bob.get(f"/api/v1/statuses/{found['statuses'][0]['id']}/context")
        assert len(context["ancestors"]) <= 3


async def test_whoever_moves_on_and_on(lane: Street, bob: Member) -> None:
    """Homes that lead to further homes are not followed."""
    there = lane.there
    for number in range(30):
        there.person(f"mover{number}", key=9, movedTo=f"{there.url}/users/mover{number + 1}")
    before = len(there.asked)
    await looked_up(bob, there.people["mover0"].handle)
    await lane.settled()
    assert len(there.asked) - before < 40


async def test_whoever_drips_holds_nobody(lane: Street, bob: Member) -> None:
    there, ada = lane.there, lane.away.person("ada", key=2)
    enough = asyncio.Event()

    async def drips(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": ACTIVITY})
        with suppress(ConnectionError):
            await response.prepare(request)
            while not enough.is_set():
                await response.write(b" ")
                with suppress(TimeoutError):
                    await asyncio.wait_for(enough.wait(), 0.2)
        return response

    there.answers("/users/slow", drips)
    mallory = there.person("mallory3", key=4)
    await lane.sends(mallory, mallory.activity("Like", mallory.uri))
    slow = [RemotePerson(there, f"slow{number}", 3) for number in range(12)]
    waiting = [asyncio.create_task(lane.says(one, one.activity("Follow", bob.me["uri"]))) for one in slow]
    tags = [{"type": "Mention", "href": one.uri} for one in slow] + [{"type": "Mention", "href": bob.me["uri"]}]
    for number in range(12):
        note = mallory.note(f"slow-{number}", tag=tags)
        assert (await lane.says(mallory, mallory.create(note))).status_code == 202
    grete = lane.away.person("grete", key=5)
    reply = ada.note("meanwhile", tag=[{"type": "Mention", "href": one.uri} for one in (grete,)] + tags[-1:])
    assert (await lane.says(ada, ada.create(reply))).status_code == 202

    async def told() -> bool:
        return any(one.get("status", {}).get("uri") == reply["id"] for one in await notices())

    async def notices() -> list[Any]:
        return list(await bob.get("/api/v1/notifications"))

    await until(told)
    assert mallory.uri not in [one["account"]["uri"] for one in await notices()]
    assert (await lane.here.http.get("/api/v2/instance")).status_code == 200
    enough.set()
    answers = await asyncio.gather(*waiting)
    assert {one.status_code for one in answers} <= {401, 503}
    await lane.settled()
