"""What people elsewhere do towards people here, in whatever order it comes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
import pytest

from tests.federation.inbox_street import Street, street
from tests.federation.neighbour import Arrived, RemotePerson
from tests.social.members import Member, join, set_state
from tests.social.posts import notices, post
from tests.social.staff import employ
from tests.town.town import Engine

_names = iter(f"ada{number}" for number in range(1000))


@pytest.fixture(scope="module")
async def lane(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Street]:
    async with street(engine, tmp_path_factory.mktemp("lane")) as made:
        yield made


@pytest.fixture
def ada(lane: Street) -> RemotePerson:
    return lane.there.person(next(_names), key=0)


async def is_followed(lane: Street, member: Member, by: RemotePerson) -> bool:
    return bool((await member.sees(await lane.account_of(by)))["followed_by"])


# Following somebody here


async def test_whoever_is_locked_is_asked_first(lane: Street, ada: RemotePerson) -> None:
    bob = await join(lane.here)
    await bob.patch("/api/v1/accounts/update_credentials", json={"locked": True})

    await lane.sends(ada, ada.activity("Follow", bob.me["uri"]))

    account = await lane.account_of(ada)
    assert [one["id"] for one in await bob.get("/api/v1/follow_requests")] == [str(account.id)]
    assert await notices(bob) == [("follow_request", str(account.id), None)]
    await bob.post(f"/api/v1/follow_requests/{account.id}/authorize")
    assert await is_followed(lane, bob, ada)


async def test_who_is_limited_asks_first(lane: Street, ada: RemotePerson) -> None:
    bob = await join(lane.here)
    await lane.sends(ada, ada.activity("Like", bob.me["uri"]))
    account = await lane.account_of(ada)
    await set_state(lane.here, account.id, lambda work: {"silenced_at": work.now})

    await lane.sends(ada, ada.activity("Follow", bob.me["uri"]))

    assert (await bob.sees(account))["requested_by"]


async def test_whom_one_blocks_or_whose_server_cannot_follow(lane: Street, ada: RemotePerson) -> None:
    bob, cy = await join(lane.here), await join(lane.here)
    await lane.sends(ada, ada.activity("Like", bob.me["uri"]))
    await bob.to(await lane.account_of(ada), "block")
    await cy.post("/api/v1/domain_blocks", json={"domain": lane.there.domain})

    for one in (bob, cy):
        await lane.sends(ada, ada.activity("Follow", one.me["uri"]))
        seen = await one.sees(await lane.account_of(ada))
        assert not seen["followed_by"]
        assert not seen["requested_by"]


async def test_a_follow_ends_by_what_it_was_or_by_its_id(lane: Street, ada: RemotePerson) -> None:
    bob = await join(lane.here)
    for way in ("whole", "id", "id and type"):
        follow = ada.activity("Follow", bob.me["uri"])
        await lane.sends(ada, follow)
        assert await is_followed(lane, bob, ada)

        named = {"id": follow["id"], "type": "Follow"}
        undone = {"whole": follow, "id": follow["id"], "id and type": named}[way]
        await lane.sends(ada, ada.activity("Undo", undone))

        assert not await is_followed(lane, bob, ada)
        await lane.sends(ada, follow | {"id": follow["id"] + "again"})
        assert await is_followed(lane, bob, ada)
        await lane.sends(ada, ada.undo(follow))
        assert not await is_followed(lane, bob, ada)


async def test_whoever_is_followed_may_be_named_by_their_page(lane: Street, ada: RemotePerson) -> None:
    bob = await join(lane.here)
    follow = ada.activity("Follow", bob.me["url"])
    await lane.sends(ada, follow)
    assert await is_followed(lane, bob, ada)
    await lane.sends(ada, ada.undo(follow))
    assert not await is_followed(lane, bob, ada)

    for other in (
        f"{bob.me['url']}/1",
        f"{lane.here.base_url}.example/@{bob.name}",
        f"{bob.me['url']}@elsewhere.example",
    ):
        await lane.sends(ada, ada.activity("Follow", other))
        assert not await is_followed(lane, bob, ada)


@pytest.mark.parametrize("by_id", [False, True])
async def test_a_follow_that_was_undone_before_it_came_is_too_late(
    lane: Street, ada: RemotePerson, by_id: bool
) -> None:
    bob = await join(lane.here)
    follow = ada.activity("Follow", bob.me["uri"])

    await lane.sends(ada, ada.activity("Undo", follow["id"]) if by_id else ada.undo(follow))
    await lane.sends(ada, follow)

    assert not await is_followed(lane, bob, ada)
    await lane.sends(ada, ada.activity("Follow", bob.me["uri"]))
    assert await is_followed(lane, bob, ada)


async def test_a_follow_that_is_sent_again_after_its_end_stays_ended(lane: Street, ada: RemotePerson) -> None:
    bob = await join(lane.here)
    follow = ada.activity("Follow", bob.me["uri"])
    body, url = msgspec.json.encode(follow), lane.inbox
    headers = ada.signed("POST", url, body)
    assert (await lane.there.http.post(url, content=body, headers=headers)).status_code == 202
    await lane.settled()
    await lane.sends(ada, ada.undo(follow))

    assert (await lane.there.http.post(url, content=body, headers=headers)).status_code == 202
    await lane.settled()

    assert not await is_followed(lane, bob, ada)


async def test_the_followers_server_is_told_by_what_it_calls_the_follow(lane: Street, ada: RemotePerson) -> None:
    bob, cy = await join(lane.here), await join(lane.here)
    await lane.sends(ada, ada.activity("Like", bob.me["uri"]))
    await cy.to(await lane.account_of(ada), "block")
    wanted, unwanted = ada.activity("Follow", bob.me["uri"]), ada.activity("Follow", cy.me["uri"])
    of_server = ada.activity("Follow", f"{lane.here.base_url}/actor")

    for follow in (wanted, unwanted, of_server):
        await lane.sends(ada, follow)

    for kind, follow in (("Accept", wanted), ("Reject", unwanted), ("Reject", of_server)):
        told = await lane.there.receives(_answers(kind, follow))
        assert told.signer == told.activity["actor"] == follow["object"]
    again = wanted | {"id": f"{wanted['id']}-again"}
    await lane.sends(ada, again)
    await lane.there.receives(_answers("Accept", again))


def _answers(kind: str, follow: dict[str, Any]) -> Callable[[Arrived], bool]:
    return lambda one: one.type == kind and one.activity["object"]["id"] == follow["id"]


# Following somebody there


async def _asks(lane: Street, member: Member, other: RemotePerson) -> dict[str, Any]:
    """A member wants to follow somebody there; the Follow as the other server knows it."""
    await lane.sends(other, other.activity("Like", member.me["uri"]))
    account = await lane.account_of(other)
    seen = await member.to(account, "follow")
    assert seen["requested"]
    return {"type": "Follow", "actor": member.me["uri"], "object": other.uri}


async def test_an_answer_to_a_request_is_heard(lane: Street, ada: RemotePerson) -> None:
    bob = await join(lane.here)
    follow = await _asks(lane, bob, ada)
    account = await lane.account_of(ada)

    await lane.sends(ada, ada.activity("Accept", follow))
    assert (await bob.sees(account))["following"]

    await lane.sends(ada, ada.activity("Reject", follow))
    seen = await bob.sees(account)
    assert not seen["following"]
    assert not seen["requested"]

    await bob.to(account, "follow")
    await lane.sends(ada, ada.activity("Reject", follow))
    assert not (await bob.sees(account))["requested"]


async def test_an_answer_may_name_the_follow_by_its_id_and_type(lane: Street, ada: RemotePerson) -> None:
    bob, eve = await join(lane.here), lane.there.person(next(_names), key=1)
    await _asks(lane, bob, ada)
    account = await lane.account_of(ada)
    follow = await lane.there.receives(lambda one: one.type == "Follow" and one.signer == bob.me["uri"])
    named = {"id": follow.activity["id"], "type": "Follow"}

    await lane.sends(eve, eve.activity("Accept", named))
    assert not (await bob.sees(account))["following"]
    await lane.sends(ada, ada.activity("Accept", named))
    assert (await bob.sees(account))["following"]
    await lane.sends(ada, ada.activity("Reject", named))
    assert not (await bob.sees(account))["following"]


async def test_nobody_answers_for_somebody_else(lane: Street, ada: RemotePerson) -> None:
    bob, eve = await join(lane.here), lane.there.person(next(_names), key=1)
    follow = await _asks(lane, bob, ada)

    await lane.sends(eve, eve.activity("Accept", follow))

    assert not (await bob.sees(await lane.account_of(ada)))["following"]
    assert not (await bob.sees(await lane.account_of(eve)))["following"]
    assert not [one for one in lane.there.arrived if one.type == "Undo" and one.signer == bob.me["uri"]]


async def test_an_accept_that_nobody_has_asked_for_changes_nothing(lane: Street, ada: RemotePerson) -> None:
    bob = await join(lane.here)
    follow = {"type": "Follow", "actor": bob.me["uri"], "object": ada.uri}

    await lane.sends(ada, ada.activity("Accept", follow))

    assert not (await bob.sees(await lane.account_of(ada)))["following"]


async def test_an_accept_that_is_taken_back_leaves_the_wish(lane: Street, ada: RemotePerson) -> None:
    bob = await join(lane.here)
    accept = ada.activity("Accept", await _asks(lane, bob, ada))
    await lane.sends(ada, accept)

    await lane.sends(ada, ada.undo(accept))

    seen = await bob.sees(await lane.account_of(ada))
    assert seen["requested"]
    assert not seen["following"]


async def test_who_lets_in_somebody_that_no_longer_asks_is_told_so(lane: Street, ada: RemotePerson) -> None:
    """And whoever follows already is told nothing new."""
    bob = await join(lane.here)
    follow = await _asks(lane, bob, ada)
    await lane.sends(ada, ada.activity("Reject", follow))

    await lane.sends(ada, ada.activity("Accept", follow))

    undone = await lane.there.receives(lambda one: one.type == "Undo" and one.signer == bob.me["uri"])
    inner = undone.activity["object"]
    assert (inner["type"], inner["actor"], inner["object"]) == ("Follow", bob.me["uri"], ada.uri)

    cy = await join(lane.here)
    follow = await _asks(lane, cy, ada)
    for _ in range(2):
        await lane.sends(ada, ada.activity("Accept", follow))
    assert (await cy.sees(await lane.account_of(ada)))["following"]
    assert not [one for one in lane.there.arrived if one.type == "Undo" and one.signer == cy.me["uri"]]


# Blocks


@pytest.mark.parametrize("by_id", [False, True])
async def test_whoever_is_blocked_from_elsewhere_neither_follows_nor_is_followed(
    lane: Street, ada: RemotePerson, by_id: bool
) -> None:
    bob = await join(lane.here)
    await lane.sends(ada, ada.activity("Accept", await _asks(lane, bob, ada)))
    await lane.sends(ada, ada.activity("Follow", bob.me["uri"]))
    block = ada.activity("Block", bob.me["uri"])

    await lane.sends(ada, block)

    seen = await bob.sees(await lane.account_of(ada))
    assert (seen["blocked_by"], seen["following"], seen["followed_by"]) == (True, False, False)
    await lane.sends(ada, ada.activity("Undo", block["id"]) if by_id else ada.undo(block))
    assert not (await bob.sees(await lane.account_of(ada)))["blocked_by"]


async def test_a_block_that_was_undone_before_it_came_is_too_late(lane: Street, ada: RemotePerson) -> None:
    bob = await join(lane.here)
    block = ada.activity("Block", bob.me["uri"])

    await lane.sends(ada, ada.undo(block))
    await lane.sends(ada, block)

    assert not (await bob.sees(await lane.account_of(ada)))["blocked_by"]


# Likes


async def test_a_like_is_taken_back_in_any_order(lane: Street, ada: RemotePerson) -> None:
    bob = await join(lane.here)
    said = await post(bob)

    async def likes() -> int:
        return int((await bob.get(f"/api/v1/statuses/{said['id']}"))["favourites_count"])

    like = ada.activity("Like", said["uri"])
    await lane.sends(ada, like)
    assert await likes() == 1
    await lane.sends(ada, ada.undo(like))
    assert await likes() == 0
    late = ada.activity("Like", said["uri"])
    await lane.sends(ada, ada.undo(late))
    await lane.sends(ada, late)
    assert await likes() == 0


@pytest.mark.parametrize("type", ["EmojiReact", "Like"])
async def test_a_reaction_is_a_like(lane: Street, ada: RemotePerson, type: str) -> None:
    bob = await join(lane.here)
    said = await post(bob)

    await lane.sends(ada, ada.activity(type, said["uri"], content="🍞"))

    assert (await bob.get(f"/api/v1/statuses/{said['id']}"))["favourites_count"] == 1


async def test_what_one_may_not_see_one_cannot_like(lane: Street, ada: RemotePerson) -> None:
    bob = await join(lane.here)
    said = await post(bob, visibility="private")

    await lane.sends(ada, ada.activity("Like", said["uri"]))
    assert (await bob.get(f"/api/v1/statuses/{said['id']}"))["favourites_count"] == 0

    await lane.sends(ada, ada.activity("Follow", bob.me["uri"]))
    await lane.sends(ada, ada.activity("Like", said["uri"]))
    assert (await bob.get(f"/api/v1/statuses/{said['id']}"))["favourites_count"] == 1


# Whoever is suspended


async def test_whoever_is_suspended_can_only_take_back(lane: Street, ada: RemotePerson) -> None:
    bob = await join(lane.here)
    said = await post(bob)
    follow = ada.activity("Follow", bob.me["uri"])
    await lane.sends(ada, follow)
    account = await lane.account_of(ada)
    await set_state(lane.here, account.id, lambda work: {"suspended_at": work.now})

    await lane.sends(ada, ada.activity("Like", said["uri"]))
    await lane.sends(ada, ada.undo(follow))

    await set_state(lane.here, account.id, lambda _: {"suspended_at": None})
    assert (await bob.get(f"/api/v1/statuses/{said['id']}"))["favourites_count"] == 0
    assert not await is_followed(lane, bob, ada)


# Reports


async def test_a_report_reaches_the_team_once(lane: Street, ada: RemotePerson) -> None:
    team, bob, cy = await employ(lane.here, "moderator"), await join(lane.here), await join(lane.here)
    said, also = await post(bob, "Bread"), await post(cy, "Rolls")
    comment = f"Note: {also['url']}\n" + "x" * 6000
    flag = ada.activity("Flag", [bob.me["uri"], said["uri"], "https://elsewhere.example/1"], content=comment)

    for _ in range(2):
        await lane.sends(ada, flag)

    found = {one["target_account"]["id"]: one for one in await team.get("/api/v1/admin/reports")}
    assert set(found) == {bob.id, cy.id}
    assert [one["id"] for one in found[bob.id]["statuses"]] == [said["id"]]
    assert [one["id"] for one in found[cy.id]["statuses"]] == [also["id"]]
    assert len(found[bob.id]["comment"]) == 5000
    assert found[bob.id]["account"]["domain"] == lane.there.domain


async def test_whoever_answers_somebody_here_can_be_reported_from_elsewhere(lane: Street, ada: RemotePerson) -> None:
    # given
    team, bob = await employ(lane.here, "moderator"), await join(lane.here)
    said = await post(bob)
    rude, aside = lane.away.person(next(_names), key=1), lane.away.person(next(_names), key=2)
    answer = rude.note("1", "Bad bread", inReplyTo=said["uri"])
    await lane.sends(rude, rude.create(answer))
    alone = aside.note("1", tag=[{"type": "Mention", "href": bob.me["uri"]}], cc=[bob.me["uri"]])
    await lane.sends(aside, aside.create(alone))

    # when
    await lane.sends(ada, ada.activity("Flag", [rude.uri, answer["id"]], content="Rude"))
    await lane.sends(ada, ada.activity("Flag", [aside.uri, alone["id"]], content="Not about you"))

    # then
    mine = {str((await lane.account_of(one)).id) for one in (rude, aside)}
    found = [one for one in await team.get("/api/v1/admin/reports") if one["target_account"]["id"] in mine]
    assert [one["target_account"]["account"]["acct"] for one in found] == [rude.handle]
    assert [one["uri"] for one in found[0]["statuses"]] == [answer["id"]]
    assert found[0]["account"]["domain"] == lane.there.domain


async def test_a_report_shows_the_team_no_post_that_its_server_could_not_see(lane: Street, ada: RemotePerson) -> None:
    # given
    team, bob, cy = await employ(lane.here, "moderator"), await join(lane.here), await join(lane.here)
    secret = await post(bob, f"@{cy.name} Between us", visibility="direct")
    kept = await post(bob, "For friends", visibility="private")
    flag = ada.activity("Flag", [bob.me["uri"], secret["uri"], kept["uri"]], content="Guessed")

    # when
    await lane.sends(ada, flag)
    await lane.sends(ada, ada.activity("Follow", bob.me["uri"]))
    await lane.sends(ada, flag | {"id": f"{flag['id']}/again"})

    # then
    found = [one for one in await team.get("/api/v1/admin/reports") if one["target_account"]["id"] == bob.id]
    assert sorted(len(one["statuses"]) for one in found) == [0, 1]
    assert [post["id"] for one in found for post in one["statuses"]] == [kept["id"]]
