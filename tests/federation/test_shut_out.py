"""Servers that are shut out, or limited, or not listed: what they say, what is said to them, and back again."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import select

from kith.base.db import query
from kith.social.emojis.tables import Emoji, emojis
from tests.federation.inbox_street import Street, street
from tests.federation.neighbour import RemotePerson
from tests.federation.schedules import hurry
from tests.social.members import Member, join, until
from tests.social.posts import notices
from tests.social.staff import employ
from tests.town.town import Engine

ADMIN = "/api/v1/admin"
_names = iter(f"ada{number}" for number in range(1000))


@pytest.fixture(scope="module")
async def lane(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Street]:
    async with street(engine, tmp_path_factory.mktemp("gate")) as made:
        yield made


@pytest.fixture
def ada(lane: Street) -> RemotePerson:
    return lane.there.person(next(_names), key=0)


async def follows(lane: Street, member: Member, who: RemotePerson) -> None:
    """Each follows the other, and has been told so."""
    await lane.sends(who, who.activity("Follow", member.me["uri"]))
    await lane.there.receives(lambda one: one.type == "Accept" and one.signer == member.me["uri"])
    await member.to(await lane.account_of(who), "follow")
    asked = await lane.there.receives(lambda one: one.type == "Follow" and one.signer == member.me["uri"])
    await lane.sends(who, who.activity("Accept", asked.activity))


async def is_peer(lane: Street, wanted: bool) -> bool:
    """What is told of the instance is kept for a moment."""
    return (lane.there.domain in (await lane.here.http.get("/api/v1/instance/peers")).json()) is wanted


EMOJI = {"type": "Emoji", "name": ":smile:", "icon": {"type": "Image", "url": "https://far.example/smile.png"}}


async def knows_emoji(lane: Street) -> bool:
    async with lane.here.house() as house, house.works.begin() as work:
        return bool(await work.db.all(query(select(emojis).where(emojis.c.domain == lane.there.domain), Emoji)))


async def finds(member: Member, handle: str) -> list[str]:
    found = await member.get("/api/v2/search", params={"q": handle, "resolve": "true", "type": "accounts"})
    return [one["acct"] for one in found["accounts"]]


async def test_a_server_that_signs_for_itself_is_none_of_its_people(lane: Street) -> None:
    bob = await join(lane.here)

    async def people() -> int:
        peers = json.loads(await lane.here.kith("federation", "peers", "--json"))
        return sum(int(one["accounts"]) for one in peers if one["domain"] == lane.away.domain)

    before = await people()
    server = lane.away.person("server", key=2, type="Application")
    await lane.sends(server, server.activity("Flag", [bob.me["uri"]], content="Spam"))
    assert (await lane.account_of(server)).actor_type == "Application"
    assert await people() == before
    await finds(bob, lane.away.person("eve", key=3).handle)
    assert await people() == before + 1


async def test_who_is_shut_out_is_neither_heard_nor_written_to_nor_asked(lane: Street, ada: RemotePerson) -> None:
    bob = await join(lane.here)
    await follows(lane, bob, ada)
    peers = json.loads(await lane.here.kith("federation", "peers", "--json"))
    assert [(one["accounts"] > 0, one["block"]) for one in peers if one["domain"] == lane.there.domain] == [
        (True, None)
    ]
    resolved = json.loads(await lane.here.kith("federation", "resolve", ada.handle, "--json"))
    assert resolved["id"] == ada.uri

    await lane.sends(ada, ada.create(ada.note("smile", ":smile:", tag=[EMOJI])))
    assert await knows_emoji(lane)

    await lane.here.kith("federation", "block", lane.there.domain)
    await lane.settled()
    assert not await knows_emoji(lane)
    asked, arrived = len(lane.there.asked), len(lane.there.arrived)

    note = ada.note("shut", "Let me in")
    assert (await lane.says(ada, ada.create(note))).status_code == 403
    stranger = lane.there.person(next(_names), key=1)
    assert (await lane.says(stranger, stranger.activity("Follow", bob.me["uri"]))).status_code == 403
    assert await finds(bob, stranger.handle) == []
    assert "cannot be found" in await lane.here.kith("federation", "resolve", stranger.handle, expect=1)
    await bob.post("/api/v1/statuses", json={"status": f"@{ada.handle} are you there?"})
    await lane.settled()
    assert (len(lane.there.asked), len(lane.there.arrived)) == (asked, arrived)
    account = await lane.account_of(ada)
    seen = await bob.get(f"/api/v1/accounts/{account.id}")
    assert seen["suspended"] is True
    [event] = await bob.get("/api/v1/severed_relationships")
    assert (event["target_name"], event["followers_count"], event["following_count"]) == (lane.there.domain, 1, 1)
    await until(lambda: is_peer(lane, False))

    await lane.here.kith("federation", "allow", lane.there.domain)
    assert (await lane.says(ada, ada.activity("Follow", bob.me["uri"]))).status_code == 202
    await lane.settled()
    assert "suspended" not in await bob.get(f"/api/v1/accounts/{account.id}")
    assert (await bob.sees(account))["followed_by"]
    assert await finds(bob, stranger.handle) == [stranger.handle]
    await until(lambda: is_peer(lane, True))


async def has_asked(lane: Street, member: Member, times: int) -> bool:
    asked = [one for one in lane.there.arrived if one.type == "Follow" and one.signer == member.me["uri"]]
    return len(asked) == times


async def refused_by(lane: Street, uri: str) -> tuple[str, str, str]:
    """What somebody here has refused."""
    got = await lane.there.receives(lambda one: one.type == "Reject" and one.signer == uri)
    inner = got.activity["object"]
    return inner["type"], inner["actor"], inner["object"]


async def test_follows_that_were_cut_meanwhile_are_told_once_a_server_is_let_in(
    lane: Street, ada: RemotePerson
) -> None:
    """In both directions; what is begun anew stays."""
    admin, bob, cy = await employ(lane.here, "administrator"), await join(lane.here), await join(lane.here)
    for one in (bob, cy):
        await follows(lane, one, ada)
    arrived = len(lane.there.arrived)
    block = await admin.post(f"{ADMIN}/domain_blocks", json={"domain": lane.there.domain, "severity": "suspend"})
    await lane.settled()
    assert [len(await one.get("/api/v1/severed_relationships")) for one in (bob, cy)] == [1, 1]
    assert len(lane.there.arrived) == arrived

    await admin.delete(f"{ADMIN}/domain_blocks/{block['id']}")
    await cy.to(await lane.account_of(ada), "follow")
    undone = await lane.there.receives(lambda one: one.type == "Undo" and one.signer == bob.me["uri"])
    for uri in (bob.me["uri"], cy.me["uri"]):
        assert await refused_by(lane, uri) == ("Follow", ada.uri, uri)
    await until(lambda: has_asked(lane, cy, 2))

    inner = undone.activity["object"]
    assert (inner["type"], inner["actor"], inner["object"]) == ("Follow", bob.me["uri"], ada.uri)
    said = [one.type for one in lane.there.arrived if one.signer == cy.me["uri"] and one.type in ("Follow", "Undo")]
    assert said[-1] == "Follow"


async def test_who_is_limited_is_heard_by_those_who_follow_them(lane: Street, ada: RemotePerson) -> None:
    """And whoever comes from there later is limited from the beginning."""
    admin, fan, other = await employ(lane.here, "administrator"), await join(lane.here), await join(lane.here)
    await follows(lane, fan, ada)
    before = await admin.get(f"{ADMIN}/reports")
    block = await admin.post(
        f"{ADMIN}/domain_blocks",
        json={"domain": lane.there.domain, "severity": "silence", "reject_media": True, "reject_reports": True},
    )
    late = lane.there.person(next(_names), key=1, icon={"type": "Image", "url": f"{lane.there.url}/face.png"})

    for who in (ada, late):
        note = who.note(
            f"hello-{who.name}",
            "Hello",
            cc=[f"{who.uri}/followers", other.me["uri"], fan.me["uri"]],
            tag=[{"type": "Mention", "href": one.me["uri"], "name": f"@{one.name}"} for one in (other, fan)],
            attachment=[{"type": "Document", "mediaType": "image/png", "url": f"{lane.there.url}/{who.name}.png"}],
        )
        await lane.sends(who, who.create(note))
        await lane.sends(who, who.activity("Follow", other.me["uri"]))
    flagged = ada.activity("Flag", [other.me["uri"]], content="bad")
    await lane.sends(ada, flagged)

    accounts = [await lane.account_of(who) for who in (ada, late)]
    assert [one.silenced_at is not None for one in accounts] == [True, True]
    assert [one.pictures_rejected for one in accounts] == [True, True]
    home = [one["account"]["id"] for one in await fan.get("/api/v1/timelines/home")]
    assert home == [str(accounts[0].id)]
    public = await other.get("/api/v1/timelines/public", params={"remote": "true"})
    assert [one for one in public if one["account"]["id"] in {str(one.id) for one in accounts}] == []
    assert [kind for kind, _, _ in await notices(other) if kind == "mention"] == []
    assert [who for kind, who, _ in await notices(fan) if kind == "mention"] == [str(accounts[0].id)]
    for account in accounts:
        assert (await other.sees(account))["requested_by"]
        shown = await fan.get(f"/api/v1/accounts/{account.id}/statuses")
        assert [media["url"] for one in shown for media in one["media_attachments"] if media["type"] != "unknown"] == []
    assert await admin.get(f"{ADMIN}/reports") == before
    assert not [path for path in lane.there.asked if path.endswith(".png")]

    await admin.delete(f"{ADMIN}/domain_blocks/{block['id']}")
    await lane.settled()
    for who in (ada, late):
        assert (await lane.account_of(who)).silenced_at is None
        assert not (await lane.account_of(who)).pictures_rejected


async def test_only_listed_servers_are_heard_where_there_is_a_list(lane: Street, ada: RemotePerson) -> None:
    bob = await join(lane.here)
    await follows(lane, bob, ada)
    listed = lane.away.person(next(_names), key=1)
    await lane.here.kith("federation", "allow", lane.away.domain)

    await lane.here.stop()
    lane.here.change(federation="allow-list")
    await lane.here.start()
    try:
        assert (await lane.says(ada, ada.activity("Like", bob.me["uri"]))).status_code == 403
        assert (await lane.says(listed, listed.activity("Follow", bob.me["uri"]))).status_code == 202
        assert await finds(bob, lane.there.person(next(_names), key=2).handle) == []

        async def is_hidden() -> bool:
            return (await lane.account_of(ada)).suspended_at is not None

        async def is_heard() -> bool:
            """What a command has decided is known to the server once it has heard of it."""
            return (await lane.says(ada, ada.activity("Like", bob.me["uri"]))).status_code == 202

        await hurry(lane.here)
        await until(is_hidden)
        await lane.here.kith("federation", "allow", lane.there.domain)
        assert not await is_hidden()
        await until(is_heard)
        assert (await bob.sees(await lane.account_of(ada)))["following"]
    finally:
        await lane.here.stop()
        lane.here.change(federation="open")
        await lane.here.start()
