"""Posting, changing, removing; what people do to posts; and what is shown of all that."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from aiohttp import web
from sqlalchemy import bindparam, func, select, update

from kith.base.db import Instant, any_of, command, query
from kith.base.jobs.tables import jobs
from kith.social.accounts.facts import AccountChanged
from kith.social.ids import AccountId, StatusId
from kith.social.statuses.cards import store as card_store
from kith.social.statuses.cards.service import SHOW_CREDITS, credit_anew
from kith.social.statuses.service.schedule import Publish, publish
from kith.social.statuses.tables import cards, scheduled, statuses
from kith.social.tags import store as tags
from kith.social.tags.tables import tags as tag_rows
from tests.conftest import TownBuilder
from tests.social.members import Member, join, join_all, set_state, stranger
from tests.social.posts import does, ids, post, settle, walk
from tests.social.samples import image_file, sound
from tests.social.shapes import OWN_POLL, check, entity
from tests.social.staff import employ
from tests.town import Town

STATUS = entity("Status")
SCHEDULED = entity("ScheduledStatus")
STATUSES = "/api/v1/statuses"
_due = command(
    update(scheduled).where(scheduled.c.id == bindparam("id")).values(scheduled_at=bindparam("at", type_=Instant()))
)
_forbid = command(update(tag_rows).where(tag_rows.c.name == bindparam("name")).values(usable=False))
_age_cards = command(update(cards).values(fetched_at=bindparam("at", type_=Instant())))
_page: dict[str, Any] = {
    **dict.fromkeys(("title", "description", "author_name", "author_url", "provider_name", "provider_url"), ""),
    **dict.fromkeys(("html", "image_description", "embed_url"), ""),
    **dict.fromkeys(("language", "image", "blurhash", "published_at")),
    "url": "https://paper.example/",
    "type": "link",
    "authors": [],
    "width": 0,
    "height": 0,
}
_show_card = command(update(statuses).where(statuses.c.id == bindparam("post")).values(card_id=bindparam("card")))
_versions = query(select(statuses.c.id, statuses.c.version).where(any_of(statuses.c.id, "ids")), tuple)
_waiting = query(select(jobs.c.payload).where(jobs.c.kind == bindparam("of")), str)


async def test_a_post_is_the_same_in_every_encoding_and_for_every_viewer(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    plain: dict[str, Any] = {
        "status": f"Hello @{bob.name} #Words https://example.org/page",
        "spoiler_text": "careful",
        "language": "de",
        "visibility": "unlisted",
        "poll": {"options": ["a", "b"], "expires_in": 3600, "multiple": True},
    }
    form = {
        "status": plain["status"],
        "spoiler_text": "careful",
        "language": "de",
        "visibility": "unlisted",
        "poll[options][]": ["a", "b"],
        "poll[expires_in]": "3600",
        "poll[multiple]": "true",
    }
    shown: list[dict[str, Any]] = []
    for body in ({"json": plain}, {"data": form}, {"data": form, "files": {"nothing": b""}}):
        made = await ada.post(STATUSES, **body)
        check(made, STATUS)
        shown.append(made)
        assert await ada.get(f"{STATUSES}/{made['id']}") == made
    same = ("content", "spoiler_text", "language", "visibility", "sensitive", "mentions", "tags", "application")
    assert all({name: one[name] for name in same} == {name: shown[0][name] for name in same} for one in shown)
    first = shown[0]
    assert (first["sensitive"], first["poll"]["multiple"], first["mentions"][0]["id"]) == (True, True, bob.id)
    assert [tag["name"] for tag in first["tags"]] == ["words"]
    for_bob = await bob.get(f"{STATUSES}/{first['id']}")
    check(for_bob, STATUS)
    assert "pinned" not in for_bob
    for_all = (await town.http.get(f"{STATUSES}/{first['id']}")).json()
    check(for_all, STATUS)
    assert not {"favourited", "reblogged", "muted", "bookmarked", "filtered"}.intersection(for_all)
    assert (await ada.refreshed())["statuses_count"] == 3


REFUSED: dict[str, tuple[dict[str, Any], int, str]] = {
    "nothing": ({}, 422, "Validation failed: Text can't be blank"),
    "blank": ({"status": " \n "}, 422, "Validation failed: Text can't be blank"),
    "too long": ({"status": "x" * 501}, 422, "Validation failed: Text character limit of 500 exceeded"),
    "too long with warning": (
        {"status": "x" * 490, "spoiler_text": "x" * 11},
        422,
        "Validation failed: Text character limit of 500 exceeded",
    ),
    "unknown parent": (
        {"status": "x", "in_reply_to_id": "1"},
        404,
        "The post you are trying to reply to does not appear to exist.",
    ),
    "unknown quoted": (
        {"status": "x", "quoted_status_id": "1"},
        404,
        "The post you are trying to quote does not appear to exist.",
    ),
    "one option": (
        {"status": "x", "poll": {"options": ["a"], "expires_in": 600}},
        422,
        "Validation failed: Choices must have more than one item",
    ),
    "twice the same": (
        {"status": "x", "poll": {"options": ["a", "a"], "expires_in": 600}},
        422,
        "Validation failed: Choices contain duplicate items",
    ),
    "too short": (
        {"status": "x", "poll": {"options": ["a", "b"], "expires_in": 299}},
        422,
        "Validation failed: Deadline is too soon",
    ),
}


async def test_what_cannot_be_posted_is_refused(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    soon = {"status": "x", "scheduled_at": (datetime.now(UTC) + timedelta(minutes=2)).isoformat()}
    refused = REFUSED | {"too soon": (soon, 422, "Validation failed: Scheduled at date must be in the future")}
    for name, (sent, status, words) in refused.items():
        answer = await ada.call("POST", STATUSES, json=sent)
        assert (answer.status_code, answer.json()["error"]) == (status, words), name
    answer = await ada.call("POST", STATUSES, json={"status": f"@{bob.name}", "allowed_mentions": [ada.id]})
    assert (answer.status_code, answer.json()["error"]) == (422, "Post would be sent to unexpected accounts")
    assert [one["id"] for one in answer.json()["unexpected_accounts"]] == [bob.id]
    # A link counts as 23, however long it is, and of a mention only the name.
    await post(ada, f"{'x' * 476} https://example.org/{'y' * 300}")
    await post(ada, f"{'x' * (498 - len(bob.name))} @{bob.name}")


async def test_whom_the_author_blocks_is_not_mentioned(town: Town) -> None:
    # given
    ada, bob, cat = await join_all(town, 3)
    near, far = await stranger(town), await stranger(town, "blocked.example")
    text = f"@{bob.name} @{cat.name} @{near.username}@{near.domain} @{far.username}@{far.domain}"
    people = [bob.id, cat.id, str(near.id), str(far.id)]
    assert [one["id"] for one in (await post(ada, text))["mentions"]] == people

    # when
    await ada.to(bob, "block")
    await ada.post("/api/v1/domain_blocks", json={"domain": far.domain})

    # then
    shown = await post(ada, text)
    assert [one["id"] for one in shown["mentions"]] == [cat.id, str(near.id)]
    assert far.url not in shown["content"]


async def test_the_same_key_posts_once(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    headers = {"Idempotency-Key": "only once"}
    answers = await asyncio.gather(
        *(ada.call("POST", STATUSES, json={"status": "once"}, headers=headers) for _ in range(4))
    )
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["id"] for answer in answers}) == 1
    other = await bob.call("POST", STATUSES, json={"status": "mine"}, headers=headers)
    assert other.json()["account"]["id"] == bob.id
    assert (await ada.refreshed())["statuses_count"] == 1

    at = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    plans = [
        await ada.call("POST", STATUSES, json={"status": "later", "scheduled_at": at}, headers={"Idempotency-Key": "2"})
        for _ in range(2)
    ]
    assert plans[0].json() == plans[1].json()
    assert plans[0].json()["params"]["idempotency"] is None


async def test_edits_are_kept_and_shown(town: Town) -> None:
    [ada] = await join_all(town, 1)
    made = await post(ada, "first #one", spoiler_text="warned")
    path = f"{STATUSES}/{made['id']}"
    assert len(await ada.get(f"{path}/history")) == 1
    assert await ada.does("PUT", path, json={"status": "first #one", "spoiler_text": "warned"}) == made
    edited = await ada.does("PUT", path, json={"status": "second #two", "language": "fr"})
    check(edited, STATUS)
    assert edited["edited_at"] is not None
    assert (edited["spoiler_text"], edited["language"]) == ("", "fr")
    assert [tag["name"] for tag in edited["tags"]] == ["two"]
    history = await ada.get(f"{path}/history")
    assert [("first" in one["content"], one["spoiler_text"]) for one in history] == [(True, "warned"), (False, "")]
    assert await ada.get(f"{path}/source") == {"id": made["id"], "text": "second #two", "spoiler_text": ""}
    assert (await ada.call("PUT", path, json={"status": ""})).status_code == 422


async def _picture(author: Member) -> str:
    sent = await author.post("/api/v2/media", files={"file": ("x.png", image_file("PNG", (40, 30)), "image/png")})
    return str(sent["id"])


async def test_a_picture_that_has_a_warning_alone_is_hidden(town: Town) -> None:
    # given
    [ada] = await join_all(town, 1)
    attached = {"media_ids": [await _picture(ada)]}

    # when the warning becomes the text
    made = await post(ada, "", spoiler_text="careful", sensitive=False, **attached)

    # then
    assert (made["content"], made["spoiler_text"], made["sensitive"]) == ("<p>careful</p>", "", True)
    edits = ({"status": "plain"}, False), ({"spoiler_text": "careful now"}, True)
    for sent, is_hidden in edits:
        edited = await ada.does("PUT", f"{STATUSES}/{made['id']}", json=sent | attached)
        assert (edited["spoiler_text"], edited["sensitive"]) == ("", is_hidden), sent


async def test_an_edit_that_describes_pictures_as_before_is_none(town: Town) -> None:
    # given
    [ada] = await join_all(town, 1)
    picture = await _picture(ada)
    made = await post(ada, "look", media_ids=[picture])
    path = f"{STATUSES}/{made['id']}"

    async def describe(**sent: Any) -> dict[str, Any]:
        body = {"status": "look", "media_ids": [picture], "media_attributes": [{"id": picture, **sent}]}
        return dict(await ada.does("PUT", path, json=body))

    # then
    assert await describe(description="") == made
    edited = await describe(description="a dog", focus="0.5,-0.5")
    assert edited["edited_at"] is not None
    [shown] = edited["media_attachments"]
    assert (shown["description"], shown["meta"]["focus"]) == ("a dog", {"x": 0.5, "y": -0.5})
    assert await describe(description=" a dog ", focus="0.50,-0.5") == edited
    for number, other in enumerate(({"description": "a cat"}, {"focus": "0,0"}), start=3):
        await describe(**other)
        assert len(await ada.get(f"{path}/history")) == number


async def test_an_edit_may_give_a_song_another_thumbnail(town: Town) -> None:
    # given
    [ada] = await join_all(town, 1)
    files = {"file": ("x.wav", sound("wav", "pcm_s16le")), "thumbnail": ("x.png", image_file("PNG", (20, 20)))}
    song = (await ada.post("/api/v1/media", files=files))["id"]
    made = await post(ada, "listen", media_ids=[song])
    path = f"{STATUSES}/{made['id']}"
    sent = {"status": "listen", "media_ids[]": song, "media_attributes[][id]": song}

    async def dress(file: bytes) -> httpx.Response:
        return await ada.call("PUT", path, data=sent, files={"media_attributes[][thumbnail]": ("y.png", file)})

    # when
    refused, edited = await dress(b"<html>"), await dress(image_file("PNG", (30, 20)))
    await settle(town)

    # then
    assert (refused.status_code, edited.status_code) == (422, 200)
    assert edited.json()["edited_at"] is not None
    assert edited.json()["media_attachments"][0]["meta"]["small"]["size"] == "30x20"
    shown = [one["media_attachments"][0]["preview_url"] for one in await ada.get(f"{path}/history")]
    assert len(set(shown)) == 2
    assert [(await town.http.get(url)).status_code for url in shown] == [200, 200]
    assert await ada.does("PUT", path, data=sent) == edited.json()


async def test_a_picture_that_an_edit_took_out_lasts_as_long_as_the_history_that_shows_it(town: Town) -> None:
    # given
    [ada] = await join_all(town, 1)
    first, second = [await _picture(ada) for _ in range(2)]
    made = await post(ada, "look", media_ids=[first])
    path = f"{STATUSES}/{made['id']}"

    # when
    edited = await ada.does("PUT", path, json={"status": "look", "media_ids": [second]})
    await settle(town)

    # then
    assert [one["id"] for one in edited["media_attachments"]] == [second]
    history = await ada.get(f"{path}/history")
    shown = [one["media_attachments"][0]["url"] for one in history]
    assert [(await town.http.get(url)).status_code for url in shown] == [200, 200]
    assert (await ada.call("GET", f"/api/v1/media/{first}")).status_code == 404
    both = await ada.does("PUT", path, json={"status": "look", "media_ids": [first, second]})
    assert [one["id"] for one in both["media_attachments"]] == [first, second]

    # when it is taken out again, and the post is deleted to be drafted anew
    await ada.does("PUT", path, json={"status": "look", "media_ids": [second]})
    await ada.delete(path)
    await settle(town)

    # then
    assert [(await town.http.get(url)).status_code for url in shown] == [404, 200]
    again = await post(ada, "look", media_ids=[second])
    refused = await ada.call("POST", STATUSES, json={"status": "look", "media_ids": [first]})
    assert refused.status_code == 422

    # and when all of it is to go
    await ada.delete(f"{STATUSES}/{again['id']}", params={"delete_media": "true"})
    await settle(town)
    assert (await town.http.get(shown[1])).status_code == 404


async def test_a_deleted_post_is_told_as_it_was_typed(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    root = await post(bob, "root")
    made = await post(ada, "typed *so*", in_reply_to_id=root["id"])
    await does(bob, "reblog", made)
    assert (await bob.get(f"{STATUSES}/{root['id']}"))["replies_count"] == 1
    told = await ada.delete(f"{STATUSES}/{made['id']}")
    assert (told["text"], "content" in told) == ("typed *so*", False)
    assert (await ada.call("GET", f"{STATUSES}/{made['id']}")).status_code == 404
    assert (await ada.call("DELETE", f"{STATUSES}/{made['id']}")).status_code == 404
    assert (await bob.get(f"{STATUSES}/{root['id']}"))["replies_count"] == 0
    await settle(town)
    assert ((await ada.refreshed())["statuses_count"], (await bob.refreshed())["statuses_count"]) == (0, 1)


async def test_a_boost_is_deleted_whether_or_not_its_original_is_still_shown(town: Town) -> None:
    # given
    ada, bob = await join_all(town, 2)
    made = await post(ada)
    boost = await does(bob, "reblog", made)

    # when
    await ada.to(bob, "block")
    told = await bob.delete(f"{STATUSES}/{boost['id']}")

    # then
    assert (told["id"], told["reblog"]["id"]) == (boost["id"], made["id"])
    assert (await bob.call("DELETE", f"{STATUSES}/{boost['id']}")).status_code == 404
    assert (await ada.get(f"{STATUSES}/{made['id']}"))["reblogs_count"] == 0


async def test_a_boost_reaches_as_far_as_asked_and_no_further(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    made = await post(ada)
    for wrong in ("direct", "privat"):
        answer = await bob.call("POST", f"{STATUSES}/{made['id']}/reblog", json={"visibility": wrong})
        assert answer.status_code == 422, wrong
    assert (await ada.get(f"{STATUSES}/{made['id']}"))["reblogs_count"] == 0
    for visibility in ("public", "unlisted", "private"):
        assert (await does(bob, "reblog", made, visibility=visibility))["visibility"] == visibility
        await does(bob, "unreblog", made)
    assert (await does(bob, "reblog", made))["visibility"] == "public"


async def test_marks_are_made_once_and_taken_back(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    made = await post(ada)
    marks = (
        ("favourite", "favourited", "favourites_count"),
        ("bookmark", "bookmarked", None),
        ("mute", "muted", None),
        ("reblog", "reblogged", "reblogs_count"),
    )
    for verb, flag, count in marks:
        for _ in range(2):
            shown = await does(bob, verb, made)
            check(shown, STATUS)
            subject = shown["reblog"] or shown
            assert subject[flag] is True
            assert count is None or subject[count] == 1
        assert (await ada.get(f"{STATUSES}/{made['id']}"))[flag] is False
        for _ in range(2):
            shown = await does(bob, f"un{verb}", made)
            assert shown[flag] is False
            assert count is None or shown[count] == 0
    for path, verb in (("/api/v1/favourites", "favourite"), ("/api/v1/bookmarks", "bookmark")):
        several = [await post(ada, f"{verb} {number}") for number in range(3)]
        for one in (several[1], several[2], several[0]):
            await does(bob, verb, one)
        wanted = [several[0]["id"], several[2]["id"], several[1]["id"]]
        assert await ids(bob, path) == wanted
        assert [id for page in await walk(bob, f"{path}?limit=2") for id in page] == wanted
    who = [one["id"] for one in await ada.get(f"{STATUSES}/{several[0]['id']}/favourited_by")]
    assert who == []
    await does(bob, "favourite", made)
    assert [one["id"] for one in await ada.get(f"{STATUSES}/{made['id']}/favourited_by")] == [bob.id]
    await ada.to(bob, "block")
    assert (await does(bob, "unfavourite", made))["favourited"] is False
    assert (await bob.call("POST", f"{STATUSES}/{made['id']}/favourite")).status_code == 404


async def test_who_marked_a_post_is_not_told_by_way_of_a_boost_of_it(town: Town) -> None:
    # given
    ada, bob, eve = await join_all(town, 3)
    made = await post(ada)
    boost = await does(bob, "reblog", made)
    await does(bob, "favourite", made)
    lists = [f"{STATUSES}/{boost['id']}/{name}" for name in ("favourited_by", "reblogged_by")]
    for path in lists:
        assert [one["id"] for one in await eve.get(path)] == [bob.id]
        assert [one["id"] for one in (await town.http.get(path)).json()] == [bob.id]

    # when
    await ada.to(eve, "block")

    # then
    assert [(await eve.call("GET", path)).status_code for path in lists] == [404, 404]


async def test_pins(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    own = [await post(ada, f"pin {number}") for number in range(6)]
    for one in own[:5]:
        assert (await does(ada, "pin", one))["pinned"] is True
    direct = await post(ada, "x", visibility="direct")
    refusals = (
        (own[5], "You have already pinned the maximum number of posts"),
        (own[0], "Account has already been taken"),
        (await post(bob), "Someone else's post cannot be pinned"),
        (await does(ada, "reblog", own[5]), "A boost cannot be pinned"),
        (direct, "Posts that are only visible to mentioned users cannot be pinned"),
    )
    for status, words in refusals:
        answer = await ada.call("POST", f"{STATUSES}/{status['id']}/pin")
        assert (answer.status_code, answer.json()["error"]) == (422, f"Validation failed: {words}")
    path = f"/api/v1/accounts/{ada.id}/statuses"
    assert await ids(bob, path, pinned="true") == [one["id"] for one in own[4::-1]]
    assert (await does(ada, "unpin", own[0]))["pinned"] is False
    assert len(await ids(bob, path, pinned="true")) == 4


async def test_polls_are_voted_in_once(town: Town) -> None:
    ada, bob, cat = await join_all(town, 3)
    made = await post(ada, "?", poll={"options": ["a", "b", "c"], "expires_in": 600, "hide_totals": True})
    path = f"/api/v1/polls/{made['poll']['id']}"
    votes = f"{path}/votes"
    refusals: list[tuple[Member, list[int], str]] = [
        (ada, [0], "You cannot vote in your own polls"),
        (bob, [3], "The chosen vote option does not exist"),
        (bob, [], "The chosen vote option does not exist"),
        (bob, [0, 1], "You have already voted on this poll"),
    ]
    for member, choices, words in refusals:
        answer = await member.call("POST", votes, json={"choices": choices})
        assert (answer.status_code, answer.json()["error"]) == (422, f"Validation failed: {words}")
    answers = await asyncio.gather(*(bob.call("POST", votes, json={"choices": [n]}) for n in (0, 1, 2)))
    assert sorted(answer.status_code for answer in answers) == [200, 422, 422]
    shown = await bob.get(path)
    check(shown, OWN_POLL)
    assert (shown["voted"], shown["votes_count"], shown["voters_count"]) == (True, 1, 1)
    assert [option["votes_count"] for option in shown["options"]] == [None] * 3
    several = await post(ada, "?", poll={"options": ["a", "b", "c"], "expires_in": 600, "multiple": True})
    path = f"/api/v1/polls/{several['poll']['id']}"
    assert (await cat.post(f"{path}/votes", data={"choices[]": ["0", "2"]}))["own_votes"] == [0, 2]
    shown = await bob.get(path)
    assert ([option["votes_count"] for option in shown["options"]], shown["voters_count"]) == ([1, 0, 1], 1)
    changed = {"status": "?", "poll": {"options": ["a", "z"], "expires_in": 600, "multiple": True}}
    edited = await ada.does("PUT", f"{STATUSES}/{several['id']}", json=changed)
    assert [option["votes_count"] for option in edited["poll"]["options"]] == [0, 0]


async def test_quotes(town: Town) -> None:
    ada, bob, cat = await join_all(town, 3)
    made = await post(ada, "quote me", quote_approval_policy="followers")
    answer = await bob.call("POST", STATUSES, json={"status": "see", "quoted_status_id": made["id"]})
    assert answer.status_code == 403
    await bob.to(ada, "follow")
    quoting = await post(bob, "see", quoted_status_id=made["id"])
    check(quoting, STATUS)
    assert quoting["quote"]["quoted_status"]["id"] == made["id"]
    twice = await post(cat, "and this", quoted_status_id=quoting["id"])
    assert twice["quote"]["quoted_status"]["quote"] == {"state": "accepted", "quoted_status_id": made["id"]}
    assert (await ada.get(f"{STATUSES}/{made['id']}"))["quotes_count"] == 1
    assert await ids(ada, f"{STATUSES}/{made['id']}/quotes") == [quoting["id"]]
    assert (await cat.call("POST", f"{STATUSES}/{made['id']}/quotes/{quoting['id']}/revoke")).status_code == 403
    revoked = await ada.post(f"{STATUSES}/{made['id']}/quotes/{quoting['id']}/revoke")
    assert revoked["quote"] == {"state": "revoked", "quoted_status": None}
    assert (await ada.get(f"{STATUSES}/{made['id']}"))["quotes_count"] == 0
    policy = {"quote_approval_policy": "nobody"}
    shown = await ada.does("PUT", f"{STATUSES}/{made['id']}/interaction_policy", json=policy)
    assert shown["quote_approval"]["automatic"] == []
    assert (await bob.get(f"{STATUSES}/{made['id']}"))["quote_approval"]["current_user"] == "denied"


async def test_an_answer_to_somebody_hidden_is_not_hidden_with_them(town: Town) -> None:
    ada, bob, cat, eve = await join_all(town, 4)
    root = await post(ada, "root")
    hidden = await post(bob, "first", in_reply_to_id=root["id"])
    below = await post(cat, "second", in_reply_to_id=hidden["id"])
    last = await post(ada, "third", in_reply_to_id=below["id"])
    await eve.to(bob, "block")
    context = await eve.get(f"{STATUSES}/{root['id']}/context")
    assert [one["id"] for one in context["descendants"]] == [below["id"], last["id"]]


async def test_threads_are_told_from_the_root_down(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    root = await post(ada, "root")
    first = await post(bob, "first", in_reply_to_id=root["id"])
    second = await post(ada, "second", in_reply_to_id=first["id"])
    aside = await post(bob, "aside", in_reply_to_id=root["id"])
    own = await post(ada, "own", in_reply_to_id=root["id"])
    context = await bob.get(f"{STATUSES}/{root['id']}/context")
    assert [one["id"] for one in context["descendants"]] == [own["id"], first["id"], second["id"], aside["id"]]
    context = await bob.get(f"{STATUSES}/{second['id']}/context")
    assert [one["id"] for one in context["ancestors"]] == [root["id"], first["id"]]
    assert (own["in_reply_to_account_id"], second["in_reply_to_account_id"]) == (ada.id, bob.id)


async def test_a_planned_post_is_posted_once_and_on_time(town: Town) -> None:
    [ada] = await join_all(town, 1)
    at = datetime.now(UTC) + timedelta(hours=1)
    planned = await post(ada, "later", scheduled_at=at.isoformat(), visibility="unlisted")
    check(planned, SCHEDULED)
    path = f"/api/v1/scheduled_statuses/{planned['id']}"
    assert await ada.get(path) == planned
    assert await ada.get("/api/v1/scheduled_statuses") == [planned]
    moved = await ada.does("PUT", path, json={"scheduled_at": (at + timedelta(hours=1)).isoformat()})
    assert moved["scheduled_at"] > planned["scheduled_at"]
    assert (await ada.call("PUT", path, json={"scheduled_at": "2001-01-01T00:00:00Z"})).status_code == 422
    async with town.house() as house:
        async with house.works.begin() as work:
            due = work.now - timedelta(seconds=1)
            await work.db.run(_due, id=int(planned["id"]), at=due)
        payload = Publish(id=int(planned["id"]), account_id=AccountId(int(ada.id)), at=due)
        for _ in range(2):
            async with house.works.begin() as work:
                await publish(work, payload)
    [shown] = await ada.get(f"/api/v1/accounts/{ada.id}/statuses")
    assert (shown["content"], shown["visibility"]) == ("<p>later</p>", "unlisted")
    assert await ada.get("/api/v1/scheduled_statuses") == []
    again = await post(ada, "later", scheduled_at=at.isoformat())
    assert await ada.delete(f"/api/v1/scheduled_statuses/{again['id']}") == {}
    assert await ada.get("/api/v1/scheduled_statuses") == []


async def test_a_plan_has_one_job_however_often_it_is_moved_and_none_when_it_is_gone(town: Town) -> None:
    ada = await join(town)
    later = datetime.now(UTC) + timedelta(days=300)
    planned = await post(ada, "later", scheduled_at=later.isoformat())
    path = f"/api/v1/scheduled_statuses/{planned['id']}"

    for days in range(5):
        moved = (later + timedelta(days=days)).isoformat()
        assert (await ada.call("PUT", path, json={"scheduled_at": moved})).status_code == 200

    assert await _jobs_of_plan(town, planned["id"]) == 1
    await ada.delete(path)
    assert await _jobs_of_plan(town, planned["id"]) == 0


_of_plan = query(select(func.count()).select_from(jobs).where(jobs.c.key == bindparam("plan")), int)


async def _jobs_of_plan(town: Town, id: str) -> int:
    async with town.opened_database() as database:
        session = database.session()
        found = await session.one(_of_plan, plan=id)
        await session.rollback()
        return found or 0


async def _comes_due(town: Town, author: Member, planned: dict[str, Any]) -> None:
    async with town.house() as house:
        async with house.works.begin() as work:
            due = work.now - timedelta(seconds=1)
            await work.db.run(_due, id=int(planned["id"]), at=due)
        async with house.works.begin() as work:
            await publish(work, Publish(id=int(planned["id"]), account_id=AccountId(int(author.id)), at=due))


async def test_who_is_disabled_posts_nothing_that_was_planned_before(town: Town) -> None:
    boss, [ada] = await employ(town, "owner"), await join_all(town, 1)
    at = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    plan = await post(ada, "still here", scheduled_at=at)
    answer = await boss.call("POST", f"/api/v1/admin/accounts/{ada.id}/action", json={"type": "disable"})
    assert answer.status_code == 200, answer.text

    await _comes_due(town, ada, plan)
    await settle(town)

    assert await boss.get(f"/api/v1/accounts/{ada.id}/statuses") == []


async def test_a_plan_that_cannot_be_kept_is_dropped_and_its_media_are_free(town: Town) -> None:
    # given
    ada, bob, cat = await join_all(town, 3)
    at = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    root, said = await post(bob, "root"), await post(bob, "quote me")
    pictures = [await _picture(ada) for _ in range(4)]
    tag = f"late{ada.name}"
    plans = [
        await post(ada, text, scheduled_at=at, media_ids=[picture], **more)
        for picture, (text, more) in zip(
            pictures,
            (
                ("an answer", {"in_reply_to_id": root["id"]}),
                ("so he said", {"quoted_status_id": said["id"]}),
                (f"#{tag}", {}),
                ("never", {}),
            ),
            strict=True,
        )
    ]
    for picture in pictures:
        assert (await ada.call("GET", f"/api/v1/media/{picture}")).status_code == 404
    theirs = await post(cat, "never", scheduled_at=at)

    # when they come due after their reasons are gone, or are given up
    await bob.delete(f"{STATUSES}/{root['id']}")
    await bob.to(ada, "block")
    async with town.house() as house, house.works.begin() as work:
        await tags.note(work.db, {tag: tag}, ids=[work.new_id()], now=work.now)
        await work.db.run(_forbid, name=tag)
    for plan in plans[:3]:
        await _comes_due(town, ada, plan)
    await ada.delete(f"/api/v1/scheduled_statuses/{plans[3]['id']}")
    await set_state(town, cat.id, lambda work: {"suspended_at": work.now})
    await _comes_due(town, cat, theirs)
    await set_state(town, cat.id, lambda _work: {"suspended_at": None})

    # then
    assert await ids(ada, f"/api/v1/accounts/{ada.id}/statuses") == []
    for member in (ada, cat):
        assert await member.get("/api/v1/scheduled_statuses") == []
    again = await post(ada, "now", media_ids=pictures)
    assert [one["id"] for one in again["media_attachments"]] == pictures


async def test_who_is_limited_posts_unlisted(town: Town) -> None:
    [ada] = await join_all(town, 1)
    await set_state(town, ada.id, lambda work: {"silenced_at": work.now})
    assert (await post(ada))["visibility"] == "unlisted"


# Cards

PAGE = """<html lang="en-GB"><head><title>Plain title</title>
<meta property="og:title" content="A &amp; B"><meta name="description" content="Said  in
short"><meta property="og:image" content="/picture.png"><meta property="og:image:alt" content="A picture">
<meta property="og:site_name" content="The Site"><meta name="author" content="Somebody">
<meta property="article:published_time" content="2026-02-03T04:05:06+01:00"></head><body>x</body></html>"""
FILM = '<title>Film</title><link rel="alternate" type="application/json+oembed" href="/oembed?x=1">'
OEMBED = {
    "type": "video",
    "version": "1.0",
    "title": "A film",
    "author_name": "Director",
    "width": 640,
    "height": 360,
    "html": '<script>x()</script><iframe src="https://player.example/1" onload="x()" width="640" height="360"></iframe>',
}

ARTICLE = """<title>The page</title><meta name="fediverse:creator" content="@NAMED">
<script type="application/ld+json">{"broken": </script><script type="application/ld+json">
{"@context": "https://schema.org", "@graph": [{"@type": "WebPage", "name": "The site"}, {"@type": ["NewsArticle"],
"headline": "The article", "description": "All  of it", "datePublished": "2026-03-04T05:06:07Z", "inLanguage": "fr_FR",
"author": [{"@type": "Person", "name": "Cat", "url": "/cat"}], "publisher": {"name": "The paper"},
"image": [{"url": "/picture.png"}]}]}</script>"""


@asynccontextmanager
async def site() -> AsyncIterator[tuple[str, list[str]]]:
    """A web site, and what was asked of it."""
    asked: list[str] = []

    async def show(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        match request.path:
            case "/page":
                return web.Response(text=PAGE, content_type="text/html")
            case "/article":
                return web.Response(text=ARTICLE.replace("NAMED", asked[0]), content_type="text/html")
            case "/film":
                return web.Response(text=FILM, content_type="text/html")
            case "/oembed":
                return web.Response(text=json.dumps(OEMBED), content_type="application/json")
            case "/picture.png":
                return web.Response(body=image_file("PNG", (400, 300)), content_type="image/png")
            case "/file":
                return web.Response(body=b"%PDF", content_type="application/pdf")
            case "/inward":
                raise web.HTTPFound("http://10.0.0.1/")
        raise web.HTTPNotFound

    app = web.Application()
    app.router.add_get("/{path:.*}", show)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", asked
    finally:
        await runner.cleanup()


async def test_a_link_gets_a_card(new_town: TownBuilder) -> None:
    async with site() as (base, asked):
        town = await new_town(private_hosts="127.0.0.1")
        ada, bob = await join(town), await join(town)

        async def carded(text: str, **sent: Any) -> dict[str, Any]:
            made = await post(ada, text, **sent)
            await settle(town)
            shown: dict[str, Any] = await bob.get(f"{STATUSES}/{made['id']}")
            check(shown, STATUS)
            return shown

        status = await carded(f"look @{bob.name} {ada.me['url']} {base}/page and {base}/film")
        card = status["card"]
        assert {name: card[name] for name in ("url", "title", "description", "type", "language", "html")} == {
            "url": f"{base}/page",
            "title": "A & B",
            "description": "Said in short",
            "type": "link",
            "language": "en-GB",
            "html": "",
        }
        assert (card["provider_name"], card["author_name"]) == ("The Site", "Somebody")
        assert card["published_at"] == "2026-02-03T03:05:06.000Z"
        assert (card["image_description"], card["width"] > 0, card["blurhash"] is not None) == ("A picture", True, True)
        assert (await town.http.get(card["image"])).status_code == 200
        assert await bob.get(f"{STATUSES}/{status['id']}/card") == card
        again = await carded(f"again {base}/page")
        assert again["card"] == card
        assert asked == ["/page", "/picture.png"]

        film = (await carded(f"{base}/film"))["card"]
        assert (film["type"], film["title"], film["author_name"]) == ("video", "A film", "Director")
        assert (film["provider_name"], film["provider_url"]) == ("", "")
        assert film["html"].startswith('<iframe src="https://player.example/1" width="640" height="360"')
        assert "script" not in film["html"].replace("allow-scripts", "")
        assert "onload" not in film["html"]
        assert 'sandbox="' in film["html"]

        for text in (f"{base}/file", f"{base}/nothing", f"{base}/inward", "http://10.0.0.1/", "no link"):
            assert (await carded(text))["card"] is None, text
        quoting = await carded(f"{base}/page", quoted_status_id=status["id"])
        assert quoting["card"] is None

        edited = await ada.does("PUT", f"{STATUSES}/{again['id']}", json={"status": f"now {base}/film"})
        assert edited["card"] is None
        await settle(town)
        assert (await bob.get(f"{STATUSES}/{again['id']}"))["card"]["title"] == "A film"
        asked.clear()
        async with town.house() as house, house.works.begin() as work:
            await work.db.run(_age_cards, at=work.now - timedelta(days=15))
        await carded(f"once more {base}/page")
        assert asked == ["/page", "/picture.png"]
        shown = (await bob.get(f"{STATUSES}/{status['id']}"))["card"]
        assert shown["image"] != card["image"]
        assert (await town.http.get(shown["image"])).status_code == 200


async def test_a_page_credits_its_author_if_they_agree(new_town: TownBuilder) -> None:
    async with site() as (base, asked):
        # given
        town = await new_town(private_hosts="127.0.0.1")
        ada, bob = await join(town), await join(town)
        asked.append(f"{ada.name}@{town.base_url.removeprefix('http://')}")
        made = await post(bob, f"{base}/article")
        await settle(town)

        async def author() -> dict[str, Any]:
            await settle(town)
            status = await bob.get(f"{STATUSES}/{made['id']}")
            check(status, STATUS)
            assert await bob.get(f"{STATUSES}/{made['id']}/card") == status["card"]
            [found] = status["card"]["authors"]
            return dict(found)

        # then
        card = (await bob.get(f"{STATUSES}/{made['id']}"))["card"]
        assert {name: card[name] for name in ("title", "description", "language", "published_at", "provider_name")} == {
            "title": "The article",
            "description": "All of it",
            "language": "fr-FR",
            "published_at": "2026-03-04T05:06:07.000Z",
            "provider_name": "The paper",
        }
        assert (card["author_name"], card["author_url"], card["image"] is not None) == ("Cat", f"{base}/cat", True)
        assert await author() == {"name": "Cat", "url": f"{base}/cat", "account": None}

        # when the author says that the site is theirs, changes, and says that it is not
        await ada.patch("/api/v1/accounts/update_credentials", json={"attribution_domains": ["0.0.1", "x.example"]})
        assert (await author())["account"]["id"] == ada.id
        await ada.patch("/api/v1/accounts/update_credentials", json={"display_name": "Ada L."})
        assert (await author())["account"]["display_name"] == "Ada L."
        await ada.patch("/api/v1/accounts/update_credentials", json={"attribution_domains": ["x.example"]})
        assert (await author())["account"] is None


async def test_posts_that_credit_somebody_are_shown_anew_in_stretches(town: Town) -> None:
    """Somebody may be credited under any number of posts, and a server elsewhere may change its people at any rate."""
    [bob] = await join_all(town, 1)
    author = await stranger(town)
    credited = [int((await post(bob, f"{number}"))["id"]) for number in range(4)]
    other = int((await post(bob))["id"])
    async with town.house() as house, house.works.begin() as work:
        for part, shown_by in (("1", credited[:3]), ("2", []), ("3", credited[3:])):
            name = f"{author.username}/{part}"
            card = card_store.Card(work.new_id(), name, f"https://paper.example/{part}", _page, author.id, work.now)
            await card_store.save(work.db, card)
            for id in shown_by:
                await work.db.run(_show_card, post=id, card=card.id)
        before: dict[int, int] = dict(await work.db.all(_versions, ids=[*credited, other]))
    async with town.house() as house, house.works.begin() as work:
        ends, end = [], (0, StatusId(0))
        while (found := await card_store.show_credits_anew(work.db, author.id, *end, 2)) is not None:
            end = found
            ends.append(end[1])
        for _ in range(3):
            await credit_anew(work, AccountChanged(author.id))
    async with town.house() as house, house.works.begin() as work:
        waiting = await work.db.all(_waiting, of=SHOW_CREDITS.name)
        versions: dict[int, int] = dict(await work.db.all(_versions, ids=[*credited, other]))

    assert (await town.http.get("/")).status_code == 200
    assert ends[0] == credited[1]
    assert {id for id, version in versions.items() if version != before[id]} == set(credited)
    assert sum(json.loads(payload)["account_id"] == author.id for payload in waiting) == 1


async def test_of_several_posts_those_are_shown_that_there_are(town: Town) -> None:
    [ada] = await join_all(town, 1)
    first, second = [(await post(ada))["id"] for _ in range(2)]
    asked = [second, "x", first, "1", second, "9" * 30, ""]
    assert [one["id"] for one in await ada.get(STATUSES, params={"id[]": asked})] == [second, first]
    assert (await ada.call("GET", STATUSES, params={"id[]": ["x"] * 21})).status_code == 422


@pytest.mark.parametrize("path", ["/api/v1/statuses/x", "/api/v1/statuses/99999999999999999999", "/api/v1/polls/0"])
async def test_what_is_no_id_names_nothing(town: Town, path: str) -> None:
    assert (await town.http.get(path)).status_code == 404
