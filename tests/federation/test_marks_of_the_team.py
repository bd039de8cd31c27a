"""What the team decided of somebody elsewhere holds, whatever they or their server say of themselves."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.federation.inbox_street import Street, street
from tests.social.members import Member, join, until
from tests.social.staff import employ
from tests.town.town import Engine


@pytest.fixture
async def lane(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Street]:
    async with street(engine, tmp_path_factory.mktemp("marks")) as one:
        yield one


async def decide(boss: Member, lane: Street, id: int, type: str) -> None:
    answer = await boss.call("POST", f"/api/v1/admin/accounts/{id}/action", json={"type": type})
    assert answer.status_code == 200, answer.text
    await lane.settled()


async def test_a_handle_at_another_domain_frees_nobody(lane: Street) -> None:
    boss, bob = await employ(lane.here, "owner"), await join(lane.here)
    for action, column in (("silence", "silenced_at"), ("suspend", "suspended_at")):
        eve = lane.there.person(f"eve_{action}", key=1)
        await lane.sends(eve, eve.activity("Follow", bob.me["uri"]))
        await decide(boss, lane, (await lane.account_of(eve)).id, action)

        handle = f"{eve.name}@{lane.away.domain}"
        eve.document["webfinger"] = handle
        links = [{"rel": "self", "type": "application/activity+json", "href": eve.uri}]
        for server in (lane.away, lane.there):
            path = f"/.well-known/webfinger?resource=acct:{eve.name}@{server.domain}"
            server.serves(path, {"subject": f"acct:{handle}", "links": links}, type="application/jrd+json")
        eve.key_id = f"{eve.uri}#second-key"  # a key that is not known has the actor fetched anew
        eve.document["publicKey"] = eve.public_key
        await lane.says(eve, eve.activity("Like", bob.me["uri"]))
        await lane.settled()

        after = await lane.account_of(eve)
        assert after.domain == lane.away.domain
        assert getattr(after, column) is not None


async def test_who_says_that_they_are_suspended_is_so_by_the_team_as_well(lane: Street) -> None:
    boss, bob, eve = await employ(lane.here, "owner"), await join(lane.here), lane.there.person("eve", key=1)
    await lane.sends(eve, eve.activity("Follow", bob.me["uri"]))

    async def says(suspended: bool) -> bool:
        eve.document["suspended"] = suspended
        await lane.sends(eve, eve.activity("Update", dict(eve.document), id=f"{eve.uri}#says/{suspended}"))
        return (await lane.account_of(eve)).suspended_at is not None

    assert await says(True)
    await decide(boss, lane, (await lane.account_of(eve)).id, "suspend")

    assert await says(False)


async def test_a_block_that_is_lifted_frees_nobody_whom_the_team_suspended(lane: Street) -> None:
    boss, bob, eve = await employ(lane.here, "owner"), await join(lane.here), lane.there.person("eve", key=1)
    other = lane.there.person("other", key=2)
    for one in (eve, other):
        await lane.sends(one, one.activity("Follow", bob.me["uri"]))
    block = await boss.post("/api/v1/admin/domain_blocks", json={"domain": lane.there.domain, "severity": "suspend"})
    await lane.settled()
    await decide(boss, lane, (await lane.account_of(eve)).id, "suspend")

    await boss.delete(f"/api/v1/admin/domain_blocks/{block['id']}")

    async def is_free() -> bool:
        return (await lane.account_of(other)).suspended_at is None

    await until(is_free)
    assert (await lane.account_of(eve)).suspended_at is not None


async def test_counts_that_are_as_large_as_can_be_are_counted_on(lane: Street) -> None:
    bob, eve = await join(lane.here), lane.there.person("eve", key=1)
    most = 2**31 - 1
    for name in ("outbox", "followers", "following"):
        lane.there.serves_collection(f"/users/eve/{name}", [], totalItems=most)
    note = eve.note("big", "hello")

    found = await bob.get("/api/v2/search", params={"q": note["id"], "resolve": "true"})

    [status] = found["statuses"]
    assert 10**9 <= status["account"]["statuses_count"] < most
    assert (await bob.post(f"/api/v1/statuses/{status['id']}/favourite"))["favourites_count"] == 1
