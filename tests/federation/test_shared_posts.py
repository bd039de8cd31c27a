"""What people do with posts across servers: boosts, votes, pins and quotes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from sqlalchemy import select

from kith.base.db import query
from kith.federation.delivery.tables import outgoing
from kith.federation.inbox.passing_on import PASS_ON, PassOn
from kith.federation.known import Missing
from kith.federation.vocabulary.outgoing.contexts import SECURITY
from kith.social.accounts.tables import Account
from tests.federation.receiving import (
    AS,
    PUBLIC,
    activity,
    create,
    find_post,
    follow,
    note_of,
    receive,
    somebody,
    written,
)
from tests.social.members import Member, join
from tests.social.posts import arrive, does, home, notices, post, settle
from tests.town import Town

_sent = query(select(outgoing.c.activity).order_by(outgoing.c.id), str)


async def _follower(town: Town) -> tuple[Member, Account]:
    ada, author = await join(town), await somebody(town)
    await follow(ada, author)
    await arrive(ada)
    return ada, author


def _announce(booster: Account, uri: Any, **changes: Any) -> dict[str, Any]:
    told = {"published": written(), "to": [PUBLIC], "cc": [f"{booster.uri}/followers"]}
    return activity("Announce", booster, uri, **(told | changes))


async def sent_by(town: Town, person: Member) -> list[dict[str, Any]]:
    async with town.house() as house, house.works.begin() as work:
        found = [msgspec.json.decode(text) for text in await work.db.all(_sent)]
    return [one for one in found if one["actor"] == person.me["uri"]]


async def test_a_boost_is_told_once_and_taken_back(town: Town) -> None:
    ada, author = await _follower(town)
    said = await post(ada)
    announced = _announce(author, said["uri"])

    for again in (announced, announced, announced | {"id": f"{author.uri}#announce/2"}):
        await receive(town, author, again)

    shown = await ada.get(f"/api/v1/statuses/{said['id']}")
    assert shown["reblogs_count"] == 1
    assert [one[:2] for one in await notices(ada)] == [("reblog", str(author.id))]
    await receive(town, author, activity("Undo", author, announced))
    await receive(town, author, announced)  # late
    assert (await ada.get(f"/api/v1/statuses/{said['id']}"))["reblogs_count"] == 0
    assert await notices(ada) == []


@pytest.mark.parametrize("by", ["author", "booster"])
async def test_nobody_boosts_across_a_block(town: Town, by: str) -> None:
    ada, booster = await _follower(town)
    said = await post(ada)
    if by == "author":
        await ada.to(booster, "block")
    else:
        await receive(town, booster, activity("Block", booster, ada.me["uri"]))
    await receive(town, booster, _announce(booster, said["uri"]))

    assert (await ada.get(f"/api/v1/statuses/{said['id']}"))["reblogs_count"] == 0
    assert await notices(ada) == []


async def test_a_boost_can_be_undone_by_its_id_before_it_comes(town: Town) -> None:
    ada, author = await _follower(town)
    said = await post(ada)
    announced = _announce(author, said["uri"])

    await receive(town, author, activity("Undo", author, announced["id"]))
    await receive(town, author, announced)

    assert (await ada.get(f"/api/v1/statuses/{said['id']}"))["reblogs_count"] == 0


async def test_what_was_deleted_does_not_come_back_inside_a_boost(town: Town) -> None:
    _, author = await _follower(town)
    note = note_of(author, to=[f"{author.uri}/followers"], cc=[])

    await receive(town, author, activity("Delete", author, {"id": note["id"], "type": "Tombstone"}))
    await receive(town, author, _announce(author, note))

    assert await find_post(town, note["id"]) is None


async def test_whoever_pins_makes_us_ask_nobody_else(town: Town) -> None:
    """Nothing is missing that would have to be fetched from another server."""
    _, author = await _follower(town)
    pin = activity("Add", author, "https://third.example/notes/1", target=f"{author.uri}/collections/featured")

    await receive(town, author, pin)

    own = pin | {"object": f"{author.uri}/statuses/unknown"}
    with pytest.raises(Missing):
        await receive(town, author, own)


async def test_boosts_of_followed_people_come_home_with_what_they_boost(town: Town) -> None:
    ada, author = await _follower(town)
    other, nobody = await somebody(town), await somebody(town)
    note = note_of(other)
    with pytest.raises(Missing):
        await receive(town, author, _announce(author, note["id"]))
    await receive(town, nobody, _announce(nobody, note["id"]))  # concerns nobody, so that nothing is asked for
    own = note_of(author, "own", to=[f"{author.uri}/followers"], cc=[])
    await receive(town, author, _announce(author, own, id=f"{author.uri}#announce/own", to=[f"{author.uri}/followers"]))

    kept = await find_post(town, own["id"])

    assert kept is not None
    assert await home(ada) == [str(kept.id)]
    assert (await ada.get("/api/v1/timelines/home"))[0]["visibility"] == "private"


async def test_what_is_not_for_everybody_is_not_boosted_by_others(town: Town) -> None:
    ada, author = await _follower(town)
    secret = await post(ada, "for friends", visibility="private")

    await receive(town, author, _announce(author, secret["uri"]))

    assert (await ada.get(f"/api/v1/statuses/{secret['id']}"))["reblogs_count"] == 0


async def test_votes_are_counted_once_and_never_kept_as_posts(town: Town) -> None:
    ada, voter = await _follower(town)
    asked = await post(ada, "Which?", poll={"options": ["rye", "wheat"], "expires_in": 3600})
    both = await post(ada, "Which ones?", poll={"options": ["rye", "wheat"], "expires_in": 3600, "multiple": True})

    def vote(name: str, question: dict[str, Any], id: str) -> dict[str, Any]:
        return {
            "id": f"{voter.uri}#votes/{id}",
            "type": "Note",
            "name": name,
            "attributedTo": voter.uri,
            "inReplyTo": question["uri"],
            "to": [ada.me["uri"]],
        }

    for name in ("wheat", "wheat", "rye", "oats"):
        await receive(town, voter, activity("Create", voter, vote(name, asked, name)))
    several = [vote(name, both, f"b{name}") for name in ("rye", "wheat")]
    await receive(town, voter, activity("Create", voter, several))

    polls = [(await ada.get(f"/api/v1/statuses/{one['id']}"))["poll"] for one in (asked, both)]
    assert [one["votes_count"] for one in polls[0]["options"]] == [0, 1]
    assert [one["votes_count"] for one in polls[1]["options"]] == [1, 1]
    assert [one["voters_count"] for one in polls] == [1, 1]
    assert await find_post(town, f"{voter.uri}#votes/wheat") is None
    assert (await ada.get(f"/api/v1/statuses/{asked['id']}"))["replies_count"] == 0


async def test_pins_and_featured_tags_follow_their_owner(town: Town) -> None:
    ada, author = await _follower(town)
    note, other = note_of(author), await somebody(town)
    await receive(town, author, create(author, note))
    kept = await find_post(town, note["id"])
    assert kept is not None
    target = f"{author.uri}/collections/featured"
    tag = {"type": "Hashtag", "name": "#Bread", "href": "https://elsewhere.example/tags/bread"}
    path = f"/api/v1/accounts/{author.id}/statuses"

    await receive(town, other, activity("Add", other, note["id"], target=f"{other.uri}/collections/featured"))
    assert await ada.get(path, params={"pinned": "true"}) == []
    for _ in range(2):
        await receive(town, author, activity("Add", author, note["id"], target=target))
        await receive(town, author, activity("Add", author, tag, target=target))

    assert [one["id"] for one in await ada.get(path, params={"pinned": "true"})] == [str(kept.id)]
    assert [one["name"] for one in await ada.get(f"/api/v1/accounts/{author.id}/featured_tags")] == ["Bread"]
    await receive(town, author, activity("Remove", author, note["id"], target=target))
    await receive(town, author, activity("Remove", author, tag, target=target))
    assert await ada.get(path, params={"pinned": "true"}) == []
    assert await ada.get(f"/api/v1/accounts/{author.id}/featured_tags") == []


def _request(author: Account, note: dict[str, Any], quoted: str) -> dict[str, Any]:
    return {
        "id": f"{author.uri}/quote_requests/1",
        "type": "QuoteRequest",
        "actor": author.uri,
        "object": quoted,
        "instrument": note,
    }


async def test_a_quote_is_let_as_the_policy_says_and_the_stamp_says_so(town: Town) -> None:
    ada, author = await _follower(town)
    said = await post(ada, "Quote me", quote_approval_policy="public")
    note = note_of(author, quote=said["uri"])
    await receive(town, author, create(author, note))
    kept = await find_post(town, note["id"])
    assert kept is not None
    assert kept.quote_state == "pending"

    for _ in range(2):
        await receive(town, author, _request(author, note, said["uri"]))

    [answer, again] = await sent_by(town, ada)
    assert (answer["type"], answer["object"]["instrument"]) == ("Accept", note["id"])
    assert answer["result"] == again["result"] == f"{ada.me['uri']}/quote_authorizations/{kept.id}"
    shown = await ada.get(f"/api/v1/statuses/{kept.id}")
    assert shown["quote"]["state"] == "accepted"
    assert shown["quote"]["quoted_status"]["id"] == said["id"]
    assert (await ada.get(f"/api/v1/statuses/{said['id']}"))["quotes_count"] == 1
    assert ("quote", str(author.id), str(kept.id)) in await notices(ada)
    headers = {"Accept": "application/activity+json"}
    stamp = await town.http.get(answer["result"].removeprefix(town.base_url), headers=headers)
    assert stamp.json()["interactingObject"] == note["id"]


async def test_a_quote_that_was_taken_back_stays_so(town: Town) -> None:
    ada, author = await _follower(town)
    said = await post(ada, "Quote me", quote_approval_policy="public")
    note = note_of(author, quote=said["uri"], published=written(datetime.now(UTC) - timedelta(hours=1)))
    await receive(town, author, create(author, note))
    await receive(town, author, _request(author, note, said["uri"]))
    kept = await find_post(town, note["id"])
    assert kept is not None
    assert kept.quote_state == "accepted"
    await ada.post(f"/api/v1/statuses/{said['id']}/quotes/{kept.id}/revoke")

    for stamp in (None, f"{ada.me['uri']}/quote_authorizations/{kept.id}"):
        again = note | {"content": "<p>Edited</p>", "quoteAuthorization": stamp, "updated": written()}
        await receive(town, author, activity("Update", author, again))
        await receive(town, author, _request(author, again, said["uri"]))

    now = await find_post(town, note["id"])
    assert now is not None
    assert (now.content, now.quote_state) == ("<p>Edited</p>", "revoked")
    assert (await ada.get(f"/api/v1/statuses/{said['id']}"))["quotes_count"] == 0
    assert [one["type"] for one in await sent_by(town, ada) if "quote" in one["id"]][-1] == "Reject"


@pytest.mark.parametrize(("policy", "is_let"), [("nobody", False), ("followers", False), ("public", True)])
async def test_a_quote_that_is_not_wanted_is_refused(town: Town, policy: str, is_let: bool) -> None:
    ada, author = await join(town), await somebody(town)
    said = await post(ada, "Quote me?", quote_approval_policy=policy)

    await receive(town, author, _request(author, note_of(author, quote=said["uri"]), said["uri"]))

    [answer] = await sent_by(town, ada)
    assert answer["type"] == ("Accept" if is_let else "Reject")
    assert (await find_post(town, f"{author.uri}/statuses/1") is not None) == is_let


@pytest.mark.parametrize("visibility", ["private", "direct"])
async def test_whoever_may_not_see_a_post_does_not_learn_by_quoting_that_it_is_there(
    town: Town, visibility: str
) -> None:
    ada, author = await join(town), await somebody(town)
    said = await post(ada, "Not for everybody", visibility=visibility)

    await receive(town, author, _request(author, note_of(author, quote=said["uri"]), said["uri"]))

    assert await sent_by(town, ada) == []


async def test_quoting_somebody_elsewhere_waits_for_their_word(town: Town) -> None:
    ada, author = await _follower(town)
    other = await somebody(town)
    note = note_of(author, interactionPolicy={"canQuote": {"automaticApproval": [PUBLIC]}})
    await receive(town, author, create(author, note))
    kept = await find_post(town, note["id"])
    assert kept is not None

    mine = await post(ada, "Look", quoted_status_id=str(kept.id))
    assert mine["quote"] == {"state": "pending", "quoted_status": None}
    asked = _request(author, {}, note["id"]) | {"actor": ada.me["uri"], "instrument": mine["uri"]}
    asked["id"] = f"{ada.me['uri']}/quote_requests/1"
    stamp = f"{author.uri}/quote_authorizations/1"
    await receive(town, other, activity("Accept", other, note["id"], result=f"{other.uri}/stamps/1"))
    assert (await ada.get(f"/api/v1/statuses/{mine['id']}"))["quote"]["state"] == "pending"

    for _ in range(2):
        await receive(town, author, activity("Accept", author, asked, result=stamp))

    assert (await ada.get(f"/api/v1/statuses/{mine['id']}"))["quote"]["state"] == "accepted"
    assert (await ada.get(f"/api/v1/statuses/{kept.id}"))["quotes_count"] == 1
    answer = await town.http.get(
        mine["uri"].removeprefix(town.base_url), headers={"Accept": "application/activity+json"}
    )
    assert answer.json()["quoteAuthorization"] == stamp
    await receive(town, other, activity("Delete", other, f"{other.uri}/quote_authorizations/1"))
    await receive(town, author, activity("Delete", author, stamp))
    assert (await ada.get(f"/api/v1/statuses/{mine['id']}"))["quote"]["state"] == "revoked"
    assert (await ada.get(f"/api/v1/statuses/{kept.id}"))["quotes_count"] == 0


async def test_a_refused_quote_is_said_to_be(town: Town) -> None:
    ada, author = await _follower(town)
    note = note_of(author, interactionPolicy={"canQuote": {"manualApproval": [PUBLIC]}})
    await receive(town, author, create(author, note))
    kept = await find_post(town, note["id"])
    assert kept is not None
    assert (await ada.get(f"/api/v1/statuses/{kept.id}"))["quote_approval"] == {
        "automatic": [],
        "manual": ["public"],
        "current_user": "manual",
    }

    mine = await post(ada, "Look", quoted_status_id=str(kept.id))
    asked = _request(author, {}, note["id"]) | {"actor": ada.me["uri"], "instrument": mine["uri"]}
    asked["id"] = f"{ada.me['uri']}/quote_requests/1"
    await receive(town, author, activity("Reject", author, asked))

    assert (await ada.get(f"/api/v1/statuses/{mine['id']}"))["quote"]["state"] == "rejected"


async def test_quoting_oneself_needs_nobody(town: Town) -> None:
    ada, author = await _follower(town)
    first = note_of(author, "first")
    second = note_of(author, "second", _misskey_quote=first["id"])
    await receive(town, author, create(author, first))

    await receive(town, author, create(author, second))

    kept = await find_post(town, second["id"])
    assert kept is not None
    shown = await ada.get(f"/api/v1/statuses/{kept.id}")
    assert (shown["quote"]["state"], shown["quote"]["quoted_status"]["uri"]) == ("accepted", first["id"])


async def test_members_do_with_posts_from_elsewhere_what_they_do_with_others(town: Town) -> None:
    ada, author = await _follower(town)
    poll: dict[str, Any] = {"oneOf": [{"type": "Note", "name": name} for name in ("a", "b")]}
    ends = written(datetime.now(UTC) + timedelta(days=1))
    note = note_of(author, type="Question", **poll, endTime=ends)
    await receive(town, author, create(author, note))
    kept = await find_post(town, note["id"])
    assert kept is not None
    id = str(kept.id)

    assert (await does(ada, "favourite", id))["favourites_count"] == 1
    assert (await does(ada, "reblog", id))["reblog"]["id"] == id
    assert (await does(ada, "bookmark", id))["bookmarked"] is True
    assert (await post(ada, "An answer", in_reply_to_id=id))["in_reply_to_id"] == id
    chosen = (await ada.get(f"/api/v1/statuses/{id}"))["poll"]
    voted = await ada.post(f"/api/v1/polls/{chosen['id']}/votes", json={"choices": [1]})
    assert (voted["own_votes"], voted["votes_count"]) == ([1], 1)
    assert (await ada.get(f"/api/v1/statuses/{id}"))["replies_count"] == 1


async def test_what_a_stranger_says_of_a_boosted_post_is_signed_only_if_it_has_one_reading(town: Town) -> None:
    """A context of their own could make something else of it for whoever reads it as JSON-LD."""
    ada, author, fan = await join(town), await somebody(town), await somebody(town, "fans.example")
    await receive(town, fan, activity("Follow", fan, ada.me["uri"]))
    note = note_of(author)
    await follow(ada, author)
    await receive(town, author, create(author, note))
    status = await find_post(town, note["id"])
    assert status is not None
    await does(ada, "reblog", str(status.id))
    said = activity("Update", author, note, to=[PUBLIC])
    mastodon = {"ostatus": "http://ostatus.org#", "atomUri": "ostatus:atomUri", "sensitive": "as:sensitive"}
    renamed = {"type": "urn:x", "A": {"@id": "as:actor", "@type": "@id"}, "T": "@type"}
    plain = [{"@context": context} | said for context in (AS, [AS, SECURITY, mastodon])]
    odd = [
        {"@context": [AS, renamed], "A": ada.me["uri"], "T": "Delete"} | said,
        {"@context": [AS, {"x": "https://www.w3.org/ns/activity"}]} | said,
        {"@context": [AS, "https://elsewhere.example/context"]} | said,
        {"@context": AS, "@type": "Delete"} | said,
        {"@context": AS, "as:actor": ada.me["uri"]} | said,
        {"@context": AS} | said | {"object": note | {"@context": renamed}},
        said,
    ]

    async def passed_on(sent: dict[str, Any]) -> dict[str, Any]:
        async with town.house() as house, house.works.begin() as work:
            work.enqueue(PASS_ON, PassOn(status.id, msgspec.json.encode(sent).decode()))
        await settle(town)
        async with town.house() as house, house.works.begin() as work:
            told: list[dict[str, Any]] = [msgspec.json.decode(text) for text in await work.db.all(_sent)]
        return [one for one in told if one["actor"] == author.uri][-1]

    for one in plain:
        assert await passed_on(one) == one
    in_our_words = {"@context": AS, "type": "Update", "actor": author.uri, "object": note["id"], "to": [PUBLIC]}
    for one in odd:
        assert await passed_on(one) == in_our_words
