"""Relays: asked, enabled by their own answer alone, written to with public posts, heard only as a hint, and left."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from tests.federation.inbox_street import Street, street
from tests.federation.neighbour import PUBLIC
from tests.social.members import join
from tests.social.shapes import check, entity
from tests.social.staff import employ, verdict
from tests.town.town import Engine

RELAYS = "/api/v1/admin/relays"
RELAY = entity("Relay")


@pytest.fixture(scope="module")
async def lane(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Street]:
    async with street(engine, tmp_path_factory.mktemp("relays")) as made:
        yield made


async def test_a_relay_from_the_first_word_to_the_last(lane: Street) -> None:
    admin, bob = await employ(lane.here, "administrator"), await join(lane.here)
    relay = lane.there.person("relay", type="Application", inbox=f"{lane.there.url}/inbox")
    author = lane.away.person("author")
    note = author.note("1", "Passed on")

    made = await admin.post(RELAYS, json={"inbox_url": f"{lane.there.url}/inbox"})
    check(made, RELAY)
    asked = await lane.there.receives("Follow")
    assert (asked.activity["object"], asked.signer) == (PUBLIC, f"{lane.here.base_url}/actor")
    # somebody else cannot answer for it
    for other in (lane.away.person("other"), lane.there.person("neighbour")):
        await lane.sends(other, other.activity("Accept", asked.activity))
    assert (await admin.get(f"{RELAYS}/{made['id']}"))["state"] == "asked"
    # before it has accepted it is nobody in particular
    announced = relay.activity("Announce", note["id"], to=[PUBLIC], id=f"{relay.uri}/announce/0")
    await lane.sends(relay, announced)
    assert lane.away.asked.count("/users/author/statuses/1") == 0

    await lane.sends(relay, relay.activity("Accept", asked.activity))
    assert (await admin.get(f"{RELAYS}/{made['id']}"))["state"] == "enabled"
    await bob.post("/api/v1/statuses", json={"status": "quiet", "visibility": "unlisted"})
    loud = await bob.post("/api/v1/statuses", json={"status": "loud"})
    created = await lane.there.receives("Create")
    assert created.activity["object"]["id"] == loud["uri"]

    await lane.sends(relay, announced | {"id": f"{relay.uri}/announce/1"})
    assert lane.away.asked.count("/users/author/statuses/1") == 1
    found = await bob.get("/api/v1/timelines/public")
    assert [(one["uri"], one["reblog"]) for one in found if one["uri"] == note["id"]] == [(note["id"], None)]
    assert not [one for one in found if one["reblog"]]

    assert await admin.delete(f"{RELAYS}/{made['id']}") == {}
    undone = await lane.there.receives("Undo")
    assert undone.activity["object"]["id"] == asked.activity["id"]
    assert await admin.get(RELAYS) == []


async def test_a_relay_that_refuses_and_the_command_line(lane: Street) -> None:
    relay = lane.away.person("hub", type="Application")
    inbox = f"{lane.away.url}/users/hub/inbox"
    await lane.here.kith("federation", "relays", "add", inbox)
    asked = await lane.away.receives("Follow")
    await lane.sends(relay, relay.activity("Reject", asked.activity))

    [shown] = [
        one
        for one in json.loads(await lane.here.kith("federation", "relays", "list", "--json"))
        if one["inbox_url"] == inbox
    ]
    check(shown, RELAY)
    assert shown["state"] == "refused"
    await lane.here.kith("federation", "relays", "remove", inbox)
    assert "there is no relay" in await lane.here.kith("federation", "relays", "remove", inbox, expect=1)


async def test_what_is_no_relay_and_who_may_not_join_one(lane: Street) -> None:
    admin, bob = await employ(lane.here, "administrator"), await join(lane.here)
    await admin.post("/api/v1/admin/domain_blocks", json={"domain": "shut.example", "severity": "suspend"})
    for bad in ("", "relay", "http://plain.example/inbox", f"{lane.here.base_url}/inbox", "https://shut.example/inbox"):
        assert await verdict(admin, "POST", RELAYS, json={"inbox_url": bad}) == 422
    taken = {"inbox_url": "https://taken.example/inbox"}
    made = await admin.post(RELAYS, json=taken)
    assert await verdict(admin, "POST", RELAYS, json=taken) == 422
    await admin.delete(f"{RELAYS}/{made['id']}")
    assert await verdict(admin, "DELETE", f"{RELAYS}/{made['id']}") == 404
    assert await verdict(bob, "GET", RELAYS) == 403
