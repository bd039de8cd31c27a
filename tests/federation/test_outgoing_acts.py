"""What people here do to others elsewhere, and what becomes of themselves: which activity goes to whom."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from kith.app import House
from kith.base.db import query
from kith.base.jobs.tables import jobs
from kith.base.work import Work
from kith.federation.keys import service as keys
from kith.federation.outgoing.people import AT_ONCE, END
from kith.federation.people import store as people
from kith.federation.people.tables import RemoteActor
from kith.social.accounts.facts import AccountMoved
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId, StatusId
from kith.social.relationships import store as relationships
from kith.social.relationships.facts import FollowAuthorized
from kith.social.relationships.service.common import end_follow, refuse, withdraw
from kith.social.relationships.tables import Block, Follow
from kith.social.statuses import polls
from kith.social.statuses.tables import Poll
from tests.federation.asking import ask
from tests.federation.outgoing import FOLLOWERS, Village, only, shared, told
from tests.social.members import join, strangers
from tests.social.posts import does, post, said_elsewhere
from tests.town import build_town
from tests.town.town import Engine
from tests.web.browsing import Browser

_jobs = query(select(jobs.c.kind).where(jobs.c.kind.like("federation_outgoing.%")), str)

_ends = query(select(jobs.c.payload).where(jobs.c.kind == END.name), str)


def bare(activity: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in activity.items() if key != "@context"}


async def waiting(village: Village) -> list[str]:
    """Which jobs there are for other servers."""
    async with village.town.house() as house, house.works.begin() as work:
        return await work.db.all(_jobs)


# Follows


async def test_following_and_no_longer(village: Village) -> None:
    ada, other = village.ada, village.people["bystander"]

    await ada.to(other, "follow")
    followed = only(await told(village.town), "Follow")
    assert followed.inboxes == [shared("bystander.example")]
    assert (followed.activity["actor"], followed.activity["object"]) == (ada.me["uri"], other.uri)

    await ada.to(other, "unfollow")
    undone = only(await told(village.town), "Undo Follow")
    assert undone.inboxes == [shared("bystander.example")]
    assert undone.activity["object"] == bare(followed.activity)


async def test_whoever_follows_again_asks_again(village: Village) -> None:
    """For the other server may have ended the follow without a word."""
    ada, other = village.ada, village.people["bystander"]
    await ada.to(other, "follow")
    first = only(await told(village.town), "Follow")
    await ada.to(other, "follow")
    assert only(await told(village.town), "Follow").activity == first.activity
    await let_in(village, other)
    await told(village.town)

    await ada.to(other, "follow", notify=True)
    assert await told(village.town) == []  # that concerns nobody else
    await ada.to(other, "follow")
    again = only(await told(village.town), "Follow")
    assert again.activity["object"] == first.activity["object"]
    assert again.activity["id"] != first.activity["id"]

    await ada.to(other, "unfollow")
    assert only(await told(village.town), "Undo Follow").activity["object"] == bare(again.activity)


async def test_following_somebody_here_is_told_to_nobody(village: Village) -> None:
    for verb in ("follow", "unfollow", "follow", "block", "unblock"):
        await village.ada.to(village.bob, verb)

    assert await waiting(village) == []  # nor does it cost anything
    assert await told(village.town) == []


async def test_a_follow_that_was_answered_is_undone_by_the_same_name(village: Village) -> None:
    ada, other = village.ada, village.people["bystander"]
    await ada.to(other, "follow")
    [followed] = await told(village.town)
    await let_in(village, other)
    assert await told(village.town) == []  # their server said so itself

    await ada.to(other, "unfollow")
    assert only(await told(village.town), "Undo Follow").activity["object"]["id"] == followed.activity["id"]


@pytest.mark.parametrize(("answer", "type"), [("authorize", "Accept Follow"), ("reject", "Reject Follow")])
async def test_an_answer_has_the_follow_as_it_came(village: Village, answer: str, type: str) -> None:
    ada, other = village.ada, village.people["bystander"]
    uri = await asks_to_follow(village, other)

    await ada.post(f"/api/v1/follow_requests/{other.id}/{answer}")

    one = only(await told(village.town), type)
    assert one.inboxes == [shared("bystander.example")]
    assert one.activity["actor"] == ada.me["uri"]
    assert one.activity["object"] == {"id": uri, "type": "Follow", "actor": other.uri, "object": ada.me["uri"]}


async def test_whoever_was_let_in_at_once_is_told_so(village: Village) -> None:
    ada, other, uri = village.ada, village.people["bystander"], f"https://bystander.example/{uuid.uuid4()}"
    async with village.town.house() as house, house.works.begin() as work:
        work.announce(FollowAuthorized(other.id, _me(village), request_id=7, uri=uri))

    one = only(await told(village.town), "Accept Follow")
    assert (one.activity["id"], one.activity["object"]["id"]) == (f"{ada.me['uri']}#accepts/follows/7", uri)


async def test_a_follower_who_is_removed_is_rejected(village: Village) -> None:
    await village.ada.to(village.people["near"], "remove_from_followers")

    one = only(await told(village.town), "Reject Follow")
    assert one.inboxes == [shared("near.example")]
    assert one.activity["object"]["actor"] == village.people["near"].uri


async def test_what_somebody_elsewhere_ended_themselves_is_not_told_back(village: Village) -> None:
    ada, other, me = village.ada, village.people["near"], _me(village)
    await ada.to(other, "follow")
    await let_in(village, other)
    await told(village.town)
    async with village.town.house() as house, house.works.begin() as work:
        await end_follow(work, other.id, me)
        await end_follow(work, me, other.id, by_target=True)
    assert await told(village.town) == []

    await ada.to(other, "follow")
    await asks_to_follow(village, other)
    await told(village.town)
    async with village.town.house() as house, house.works.begin() as work:
        await withdraw(work, other.id, me)
        await refuse(work, me, other.id)
    assert await told(village.town) == []


async def test_a_block_ends_what_there_was_and_is_told(village: Village) -> None:
    ada, other = village.ada, village.people["near"]
    await ada.to(other, "follow")
    await told(village.town)

    await ada.to(other, "block")
    found = await told(village.town)
    assert {one.type for one in found} == {"Reject Follow", "Undo Follow", "Block"}
    assert all(one.inboxes == [shared("near.example")] for one in found)

    await ada.to(other, "unblock")
    assert only(await told(village.town), "Undo Block").activity["object"] == bare(only(found, "Block").activity)


async def test_a_domain_that_is_blocked_hears_of_the_follows_that_ended(village: Village) -> None:
    await village.ada.post("/api/v1/domain_blocks", json={"domain": "near.example"})

    found = await told(village.town)
    assert [one.type for one in found] == ["Reject Follow", "Reject Follow"]
    assert all(one.inboxes == [shared("near.example")] for one in found)


async def test_whoever_is_suspended_here_hears_of_the_follows_that_ended(village: Village) -> None:
    other = village.people["near"]
    await village.ada.to(other, "follow")
    await told(village.town)

    await by_the_team(village, "suspend", other.acct)

    found = await told(village.town)
    assert sorted(one.type for one in found) == ["Reject Follow", "Undo Follow"]
    assert all(one.inboxes == [shared("near.example")] for one in found)


# Marks


async def test_a_favourite_goes_to_the_author_alone(village: Village) -> None:
    theirs = await said_elsewhere(village.town, village.people["bystander"])

    shown = await does(village.ada, "favourite", theirs)
    liked = only(await told(village.town), "Like")
    assert liked.inboxes == [shared("bystander.example")]
    assert liked.activity["object"] == shown["uri"]

    await does(village.ada, "unfavourite", theirs)
    undone = only(await told(village.town), "Undo Like")
    assert undone.inboxes == liked.inboxes
    assert undone.activity["object"] == bare(liked.activity)
    assert undone.activity["id"] == f"{liked.activity['id']}/undo"


async def test_a_favourite_of_what_was_said_here_is_told_to_nobody(village: Village) -> None:
    made = await post(village.ada, "hello", visibility="public")
    await told(village.town)

    await does(village.bob, "favourite", made["id"])
    await does(village.bob, "unfavourite", made["id"])

    assert await waiting(village) == []  # nor does it cost anything
    assert await told(village.town) == []


async def test_every_choice_of_a_vote_is_an_activity(village: Village) -> None:
    town, other = village.town, village.people["bystander"]
    question = await said_elsewhere(town, other, poll_id=(poll_id := uuid.uuid4().int >> 70))
    async with town.house() as house, house.works.begin() as work:
        await polls.insert(work.db, a_poll(poll_id, StatusId(int(question)), other.id))

    await village.ada.post(f"/api/v1/polls/{poll_id}/votes", json={"choices": [0, 2]})

    found = await told(town)
    assert [one.type for one in found] == ["Create Note", "Create Note"]
    assert {one.activity["object"]["name"] for one in found} == {"rye", "oats"}
    for one in found:
        assert one.inboxes == [shared("bystander.example")]
        assert one.activity["to"] == one.activity["object"]["to"] == other.uri
        assert "content" not in one.activity["object"]


@pytest.mark.parametrize("hides", [False, True])
async def test_votes_below_a_poll_of_somebody_here_are_counted_in_one_job(village: Village, hides: bool) -> None:
    """None while the counts are hidden."""
    asked = {"options": ["rye", "oats"], "expires_in": 3600, "multiple": True, "hide_totals": hides}
    made = await village.ada.post("/api/v1/statuses", json={"status": "which?", "poll": asked})
    await told(village.town)

    for choice in (0, 1):
        await village.bob.post(f"/api/v1/polls/{made['poll']['id']}/votes", json={"choices": [choice]})

    assert await waiting(village) == ([] if hides else ["federation_outgoing.votes"])
    assert [one.type for one in await told(village.town)] == ([] if hides else ["Update Question"])


async def test_what_a_profile_shows_is_told_to_nobody_where_nobody_elsewhere_is_known(
    engine: Engine, tmp_path: Path
) -> None:
    async with build_town(engine, tmp_path, worker="off") as town:
        ada = await join(town)
        alone = Village(town, ada, ada, {})
        made = await post(ada, "pin me", visibility="public")
        await told(town)

        await does(ada, "pin", made["id"])
        await ada.post("/api/v1/featured_tags", json={"name": "bread"})

        assert await waiting(alone) == []


async def test_pins_and_tags_of_a_profile_are_told_to_followers(village: Village) -> None:
    ada, town = village.ada, village.town
    made = await post(ada, "pin me", visibility="public")
    await told(town)

    await does(ada, "pin", made["id"])
    added = only(await told(town), "Add")
    assert (added.hosts, added.activity["object"]) == (FOLLOWERS, made["uri"])
    assert added.activity["target"] == f"{ada.me['uri']}/collections/featured"
    await does(ada, "unpin", made["id"])
    assert only(await told(town), "Remove").activity["object"] == made["uri"]

    tag = await ada.post("/api/v1/featured_tags", json={"name": "Bread"})
    added = only(await told(town), "Add Hashtag")
    assert (added.hosts, added.activity["object"]["name"]) == (FOLLOWERS, "#Bread")
    await ada.delete(f"/api/v1/featured_tags/{tag['id']}")
    removed = only(await told(town), "Remove Hashtag")
    assert removed.activity["object"] == added.activity["object"]


async def test_whoever_changes_their_mind_at_once_tells_nobody(village: Village) -> None:
    ada, town = village.ada, village.town
    made, other = await post(ada, "pin me", visibility="public"), await post(ada, "or me", visibility="public")
    await told(town)

    for number in range(6):
        await does(ada, "unpin" if number % 2 else "pin", made["id"])
        await ada.post(f"/api/v1/tags/bread/{'unfeature' if number % 2 else 'feature'}")
    assert sorted(await waiting(village)) == ["federation_outgoing.featured", "federation_outgoing.pinned"]
    assert await told(town) == []

    for number in range(3):
        await does(ada, "unpin" if number % 2 else "pin", other["id"])
        await ada.post(f"/api/v1/tags/bread/{'unfeature' if number % 2 else 'feature'}")
    assert sorted(one.type for one in await told(town)) == ["Add", "Add Hashtag"]


async def test_what_is_changed_of_a_post_within_a_moment_is_told_once(village: Village) -> None:
    ada, town = village.ada, village.town
    made = await post(ada, "first", visibility="public")
    await told(town)

    for policy in ("nobody", "followers", "nobody"):
        path = f"/api/v1/statuses/{made['id']}"
        await ada.does("PUT", f"{path}/interaction_policy", json={"quote_approval_policy": policy})
        await ada.does("PUT", path, json={"status": policy})

    assert await waiting(village) == ["federation_outgoing.edited"]
    assert "nobody" in only(await told(town), "Update Note").activity["object"]["content"]


# People


async def test_a_profile_is_told_once_for_several_changes(village: Village) -> None:
    for name in ("One", "Two"):
        await village.ada.patch("/api/v1/accounts/update_credentials", json={"display_name": name})

    one = only(await told(village.town), "Update Person")
    assert one.hosts == FOLLOWERS
    assert one.activity["object"]["name"] == "Two"
    assert one.activity["id"].startswith(f"{village.ada.me['uri']}#updates/")


async def test_a_profile_goes_to_whom_one_had_to_do_with_lately(village: Village) -> None:
    await post(village.bob, f"{village.name('named')} hello", visibility="direct")
    await village.bob.to(village.people["bystander"], "follow")
    await told(village.town)

    await village.bob.patch("/api/v1/accounts/update_credentials", json={"display_name": "Bob"})

    one = only(await told(village.town), "Update Person")
    assert one.hosts == {"bobs.example", "named.example", "bystander.example"}


async def test_suspending_and_its_end_are_told(village: Village) -> None:
    await by_the_team(village, "suspend", village.ada.name)
    one = only(await told(village.town), "Update Person")
    assert (one.hosts, one.activity["object"]["suspended"]) == (FOLLOWERS, True)

    await by_the_team(village, "unsuspend", village.ada.name)
    assert "suspended" not in only(await told(village.town), "Update Person").activity["object"]


async def test_a_new_key_is_told_under_the_old_one(village: Village) -> None:
    async with village.town.house() as house, house.works.begin() as work:
        await keys.ensure(work, _me(village))
    async with village.town.house() as house, house.works.begin() as work:
        await keys.rotate(work, _me(village))

    found = await told(village.town)
    assert {one.type for one in found} == {"Update Person"}
    assert True in {one.with_previous_key for one in found}


async def test_a_move_goes_to_followers_and_to_whoever_blocks(village: Village) -> None:
    ada, target = village.ada, village.people["named"]
    await blocks(village, village.people["bystander"])
    async with village.town.house() as house, house.works.begin() as work:
        work.announce(AccountMoved(_me(village), target.id))

    one = only(await told(village.town), "Move")
    assert one.hosts == FOLLOWERS | {"bystander.example"}
    assert (one.activity["object"], one.activity["target"]) == (ada.me["uri"], target.uri)


EVERYBODY = FOLLOWERS | {"named.example", "bystander.example", "bobs.example"}


@pytest.mark.parametrize("way", ["by the team", "by the identity API", "by themselves"])
async def test_the_end_of_somebody_is_told_to_everybody(village: Village, way: str) -> None:
    """Nothing else is told of what ends with them."""
    ada = village.ada
    await post(ada, "soon gone", visibility="public")
    await ada.to(village.people["bystander"], "follow")
    await with_key(village)
    await told(village.town)

    await leave(village, way)

    found = await told(village.town)
    assert {one.type for one in found} == {"Delete"}
    one = only([one for one in found if one.activity["id"] == f"{ada.me['uri']}#delete"], "Delete")
    assert len(one.inboxes) == len(set(one.inboxes))
    assert one.hosts >= EVERYBODY
    assert one.activity["object"] == one.activity["actor"] == ada.me["uri"]
    assert (await ask(village.town, ada.me["uri"])).status_code == 410


async def test_the_end_of_somebody_is_told_a_stretch_at_a_time(village: Village) -> None:
    """Each inbox once, and no stretch carries a list of those before it."""
    many = await strangers(village.town, AT_ONCE, "many.example")
    async with village.town.house() as house:
        async with house.works.begin() as work:
            for one in many:
                await people.save_actor(work.db, RemoteActor(one.id, f"{one.uri}/inbox"))
        await with_key(village)
        await leave(village, "by the team")
        [waiting] = await _read_ends(house)
        assert len(waiting) < 200

    found = [one for one in await told(village.town) if one.activity["id"] == f"{village.ada.me['uri']}#delete"]
    inboxes = [inbox for one in found for inbox in one.inboxes]
    assert len(found) == 2
    assert len(inboxes) == len(set(inboxes))
    assert {f"{one.uri}/inbox" for one in many} | {shared("bystander.example")} <= set(inboxes)


async def _read_ends(house: House) -> list[str]:
    reading = house.works.open()
    try:
        return await reading.db.all(_ends)
    finally:
        await reading.rollback()


# Reports


async def test_a_report_is_forwarded_without_who_made_it(village: Village) -> None:
    other, cy = village.people["bystander"], village.people["named"]
    question = await said_elsewhere(village.town, cy)
    answer = await said_elsewhere(
        village.town, other, in_reply_to_id=StatusId(int(question)), in_reply_to_account_id=cy.id
    )
    report: dict[str, Any] = {"account_id": str(other.id), "status_ids": [answer], "comment": "spam"}

    await village.ada.post("/api/v1/reports", json=report)
    assert await told(village.town) == []

    await village.ada.post("/api/v1/reports", json=report | {"forward": True})
    one = only(await told(village.town), "Flag")
    assert one.inboxes == [shared("bystander.example")]
    assert (one.sender, one.activity["actor"]) == (None, f"{village.town.base_url}/actor")
    assert (one.activity["content"], one.activity["object"][0]) == ("spam", other.uri)
    assert len(one.activity["object"]) == 2
    assert village.ada.me["uri"] not in str(one.activity)

    both = {"forward": True, "forward_to_domains": ["bystander.example", "named.example", "bobs.example"]}
    await village.ada.post("/api/v1/reports", json=report | both)
    assert only(await told(village.town), "Flag").hosts == {"bystander.example", "named.example"}


# As it stands after something has arrived, or somebody has acted


def _me(village: Village) -> AccountId:
    return AccountId(int(village.ada.id))


def _follow(work: Work, follower: AccountId, followed: AccountId, uri: str) -> Follow:
    return Follow(work.new_id(), follower, followed, True, False, None, uri, work.now)


async def let_in(village: Village, other: Account) -> None:
    """Their server has accepted Ada."""
    async with village.town.house() as house, house.works.begin() as work:
        asked = await relationships.drop_request(work.db, _me(village), other.id)
        assert asked is not None
        await relationships.add_follow(work.db, asked)


async def asks_to_follow(village: Village, other: Account) -> str:
    uri = f"https://{other.domain}/{uuid.uuid4()}"
    async with village.town.house() as house, house.works.begin() as work:
        await relationships.add_request(work.db, _follow(work, other.id, _me(village), uri))
    return uri


async def blocks(village: Village, other: Account) -> None:
    async with village.town.house() as house, house.works.begin() as work:
        await relationships.add_block(work.db, Block(work.new_id(), other.id, _me(village), None, work.now))


async def by_the_team(village: Village, verb: str, acct: str) -> None:
    await village.town.kith("accounts", verb, acct)


async def with_key(village: Village) -> None:
    async with village.town.house() as house, house.works.begin() as work:
        await keys.ensure(work, _me(village))


async def leave(village: Village, way: str) -> None:
    town, name = village.town, village.ada.name
    if way == "by the team":
        await by_the_team(village, "suspend", name)
        await told(town)
        await by_the_team(village, "delete", name)
    elif way == "by the identity API":
        owner = await town.owner()
        [found] = (await owner.get("/api/v2/core/users/", params={"username": name})).json()["results"]
        assert (await owner.call("DELETE", f"/api/v2/core/users/{found['pk']}/")).status_code == 204
    else:
        browser, password = Browser(town), f"correct horse {name}"
        await browser.sign_in(name, password)
        await browser.open("/flows/-/default/unenrollment/")
        await browser.submit(password=password)
        await browser.submit()
        await browser.close()


def a_poll(id: int, status_id: StatusId, account_id: AccountId) -> Poll:
    return Poll(
        id=id,
        status_id=status_id,
        account_id=account_id,
        options=["rye", "wheat", "oats"],
        tallies=[0, 0, 0],
        voters_count=0,
        multiple=True,
        hide_totals=False,
        expires_at=None,
        ended_at=None,
        fetched_at=None,
    )
