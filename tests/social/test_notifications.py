"""Who is told what, once, and what is told no more when it is undone."""

from __future__ import annotations

import secrets
import time
from datetime import timedelta
from typing import Any

import asyncpg
import msgspec
import pytest
from sqlalchemy import and_, bindparam, delete, select, update

from kith.base.db import Instant, command, query
from kith.base.jobs.tables import jobs
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId, StatusId
from kith.social.notifications import store
from kith.social.notifications.tables import notifications as notices_kept
from kith.social.notifications.tasks import EDITS_APART, TELL_ON, Wave, tell_of_edit, tell_on
from kith.social.statuses.facts import StatusEdited
from kith.social.statuses.service.post import StatusDraft
from kith.social.statuses.service.post import post as post_status
from kith.social.statuses.tables import polls
from kith.social.statuses.tasks import EndPolls, end_polls
from tests.social.members import Member, join_all, set_state, stranger, until
from tests.social.posts import does, notices, post, settle, walk
from tests.social.shapes import ACCOUNT, check
from tests.town import Town

NOTIFICATION = {
    "id": "id",
    "type": "text",
    "group_key": "text",
    "created_at": "moment",
    "account": ACCOUNT,
    "status?": None,
}
_looks = query(select(jobs.c.payload).where(and_(jobs.c.kind == bindparam("kind"), jobs.c.key.is_not(None))), str)
_forget_looks = command(delete(jobs).where(and_(jobs.c.kind == bindparam("kind"), jobs.c.key.is_not(None))))
_rename = command(
    update(notices_kept)
    .where(and_(notices_kept.c.status_id == bindparam("status"), notices_kept.c.type.like("%update")))
    .values(once_key=bindparam("key"))
)
_age = command(update(polls).where(polls.c.id == bindparam("poll")).values(expires_at=bindparam("at", type_=Instant())))


def _shape(told: dict[str, Any]) -> None:
    """What a status is made of is looked at elsewhere."""
    rest = {name: value for name, value in told.items() if name != "status"}
    check(rest, {name: shape for name, shape in NOTIFICATION.items() if name != "status?"})


async def test_everything_that_concerns_somebody_is_told(town: Town) -> None:
    ada, bob, eve = await join_all(town, 3)
    own = await post(ada, "mine", quote_approval_policy="public")
    await bob.to(ada, "follow", notify=True)
    await does(bob, "favourite", own)
    await does(bob, "reblog", own)
    quoting = await post(bob, "see this", quoted_status_id=own["id"])
    mention = await post(bob, f"hello @{ada.name}")
    await settle(town)
    told = await ada.get("/api/v1/notifications")
    for one in told:
        _shape(one)
    assert sorted(await notices(ada)) == sorted(
        [
            ("mention", bob.id, mention["id"]),
            ("quote", bob.id, quoting["id"]),
            ("reblog", bob.id, own["id"]),
            ("favourite", bob.id, own["id"]),
            ("follow", bob.id, None),
        ]
    )
    groups = {one["type"]: one["group_key"] for one in told}
    assert groups["favourite"].startswith(f"favourite-{own['id']}-")
    assert groups["follow"].startswith("follow-")
    assert groups["mention"].startswith("ungrouped-")

    news = await post(ada, "news")
    await post(ada, "to somebody else", in_reply_to_id=(await post(eve))["id"])
    await settle(town)
    assert await notices(bob) == [("status", ada.id, news["id"])]

    await ada.does("PUT", f"/api/v1/statuses/{own['id']}", json={"status": "mine, edited"})
    await ada.does("PUT", f"/api/v1/statuses/{own['id']}", json={"status": f"mine, edited for @{eve.name}"})
    await settle(town)
    assert sorted(await notices(bob, **{"exclude_types[]": "status"})) == sorted(
        [("update", ada.id, own["id"]), ("quoted_update", ada.id, quoting["id"])]
    )
    assert await notices(eve) == [("mention", ada.id, own["id"])]


async def test_of_many_edits_people_are_told_once_in_a_while(town: Town) -> None:
    """At the first of them, and of the last when some minutes are over: a device gets a message for each notice."""
    ada, bob = await join_all(town, 2)
    own = await post(ada, "mine", quote_approval_policy="public")
    await does(bob, "reblog", own)
    quoting = await post(bob, "look", quoted_status_id=own["id"])
    began, ids = time.time(), set[str]()

    async def told() -> dict[str, str]:
        await settle(town)
        return {one["type"]: one["id"] for one in await bob.get("/api/v1/notifications")}

    for number in range(4):
        await ada.does("PUT", f"/api/v1/statuses/{own['id']}", json={"status": f"edited {number}"})
        ids |= set((await told()).values())
    spans = int(time.time() // EDITS_APART) - int(began // EDITS_APART) + 1
    assert len(ids) <= 2 * spans

    async def later() -> dict[str, str]:
        """As if these minutes were over."""
        async with town.house() as house, house.works.begin() as work:
            found = [msgspec.json.decode(text, type=Wave) for text in await work.db.all(_looks, kind=TELL_ON.name)]
            looks = [one for one in found if one.about == int(own["id"])]
            await work.db.run(_forget_looks, kind=TELL_ON.name)
            assert sorted(one.of for one in looks) == ["quoted_update", "update"]
            await work.db.run(_rename, status=int(own["id"]), key=secrets.token_hex(8))
            await work.db.run(_rename, status=int(quoting["id"]), key=secrets.token_hex(8))
            for one in looks:
                await tell_on(work, one)
        return await told()

    before = await told()
    again = await later()
    assert [before[of] == again[of] for of in ("update", "quoted_update")] == [False, False]
    async with town.house() as house, house.works.begin() as work:
        for of in ("update", "quoted_update"):  # the last was told: nothing was edited since
            [wave] = [
                one
                for text in await work.db.all(_looks, kind=TELL_ON.name)
                if (one := msgspec.json.decode(text, type=Wave)).of == of and one.about == int(own["id"])
            ]
            await work.db.run(_rename, status=int(own["id"]), key=secrets.token_hex(8))
            await work.db.run(_rename, status=int(quoting["id"]), key=secrets.token_hex(8))
            await tell_on(work, wave)
    assert await told() == again


async def is_waited_for(town: Town) -> bool:
    """Whether somebody waits for what another holds."""
    connection = await asyncpg.connect(town.database)
    try:
        return bool(
            await connection.fetchval(
                "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database"
                " WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()"
            )
        )
    finally:
        await connection.close()


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_of_two_edits_that_are_told_at_once_one_stays(town: Town) -> None:
    """Where two workers are about them, neither sees what the other has written. SQLite has one at a time."""
    ada, bob = await join_all(town, 2)
    own = await post(ada, "mine")
    await does(bob, "reblog", own)
    address = f"/api/v1/statuses/{own['id']}"
    await ada.does("PUT", address, json={"status": "edited"})
    await settle(town)
    fact = StatusEdited(status_id=StatusId(int(own["id"])), account_id=AccountId(int(ada.id)))
    async with town.house() as house:
        async with house.works.begin() as work:
            await store.forget_status(work.db, fact.status_id)
        async with house.works.begin() as first:
            await tell_of_edit(first, fact)
            await ada.does("PUT", address, json={"status": "edited again"})
            await until(lambda: is_waited_for(town))  # by the worker of the town
    await settle(town)

    assert await notices(bob) == [("update", ada.id, own["id"])]


async def test_what_is_undone_is_told_no_more(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    own = await post(ada)
    for do, undo in (("favourite", "unfavourite"), ("reblog", "unreblog")):
        await does(bob, do, own)
        await settle(town)
        assert len(await notices(ada)) == 1
        await does(bob, undo, own)
        await settle(town)
        assert await notices(ada) == []
    await bob.to(ada, "follow")
    await settle(town)
    assert await notices(ada) == [("follow", bob.id, None)]
    await bob.to(ada, "unfollow")
    mention = await post(bob, f"@{ada.name}")
    await settle(town)
    assert await notices(ada) == [("mention", bob.id, mention["id"])]
    await bob.delete(f"/api/v1/statuses/{mention['id']}")
    await settle(town)
    assert await notices(ada) == []
    # Again and again is once each time.
    for _ in range(2):
        await does(bob, "favourite", own)
        await does(bob, "unfavourite", own)
    await does(bob, "favourite", own)
    await does(bob, "favourite", own)
    await settle(town)
    assert await notices(ada) == [("favourite", bob.id, own["id"])]
    await ada.to(bob, "block")
    await settle(town)
    assert await notices(ada) == []


async def test_whoever_asks_to_follow_is_announced_until_answered(town: Town) -> None:
    ada, bob, cat = await join_all(town, 3)
    await ada.patch("/api/v1/accounts/update_credentials", json={"locked": True})
    for other in (bob, cat):
        await other.to(ada, "follow")
    await settle(town)
    assert await notices(ada) == [("follow_request", cat.id, None), ("follow_request", bob.id, None)]
    await ada.post(f"/api/v1/follow_requests/{bob.id}/authorize")
    await ada.post(f"/api/v1/follow_requests/{cat.id}/reject")
    await settle(town)
    assert await notices(ada) == [("follow", bob.id, None)]


async def _mute(ada: Member, bob: Member, _: Member, *, notifications: bool) -> None:
    await ada.to(bob, "mute", notifications=notifications)


async def _block(ada: Member, bob: Member, _: Member) -> None:
    await ada.to(bob, "block")


async def _mute_other(ada: Member, _: Member, other: Member) -> None:
    await ada.to(other, "mute")


async def _nothing(*_: Member) -> None:
    """Nobody minds."""


# What ada did before bob mentions her and another, and whether she is told.
DROPS: dict[str, tuple[Any, bool]] = {
    "nothing": (_nothing, True),
    "muted": (lambda *people: _mute(*people, notifications=True), False),
    "muted, but for notices": (lambda *people: _mute(*people, notifications=False), True),
    "blocked": (_block, False),
    "somebody else in it is muted": (_mute_other, False),
}


@pytest.mark.parametrize("case", DROPS)
async def test_mentions_that_are_not_wanted_are_dropped(town: Town, case: str) -> None:
    ada, bob, other = await join_all(town, 3)
    before, is_told = DROPS[case]
    await before(ada, bob, other)
    await post(bob, f"@{ada.name} and @{other.name}")
    await settle(town)
    assert [type for type, *_ in await notices(ada)] == (["mention"] if is_told else [])
    assert [type for type, *_ in await notices(other)] == ["mention"]


# What ada did to another before bob mentions her in a reply to them, and whether she is told.
REPLIES: dict[str, tuple[dict[str, Any] | None, str, bool]] = {
    "nothing": (None, "", True),
    "blocked": ({}, "block", False),
    "muted": ({"notifications": True}, "mute", False),
    "muted, but for notices": ({"notifications": False}, "mute", True),
}


@pytest.mark.parametrize("case", REPLIES)
async def test_mentions_in_replies_to_somebody_who_is_hidden_are_dropped(town: Town, case: str) -> None:
    ada, bob, other = await join_all(town, 3)
    sent, verb, is_told = REPLIES[case]
    if sent is not None:
        await ada.to(other, verb, **sent)
    above = await post(other, "something")
    await post(bob, f"@{ada.name} look at this", in_reply_to_id=above["id"])
    await settle(town)
    assert [type for type, *_ in await notices(ada)] == (["mention"] if is_told else [])


async def test_boosts_are_not_told_to_those_who_want_to_hear_of_every_post(town: Town) -> None:
    ada, bob, eve = await join_all(town, 3)
    await ada.to(bob, "follow", notify=True)
    await does(bob, "reblog", await post(eve, "from somebody else"))
    own = await post(bob, "his own")
    await does(bob, "reblog", own)
    await settle(town)
    assert await notices(ada) == [("status", bob.id, own["id"])]


async def test_hiding_somebody_takes_back_what_was_told_of_them(town: Town) -> None:
    ada, bob, other = await join_all(town, 3)
    for author in (bob, other):
        await post(author, f"@{ada.name}")
    await settle(town)
    for notifications, left in ((False, {bob.id, other.id}), (True, {other.id})):
        await ada.to(bob, "mute", notifications=notifications)
        await settle(town)
        assert {who for _, who, _ in await notices(ada)} == left
    await ada.to(other, "block")
    await settle(town)
    assert await notices(ada) == []


async def test_a_muted_thread_and_oneself_are_not_told_of(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    own = await post(ada, "a thread")
    await does(ada, "favourite", own)
    await does(ada, "reblog", own)
    await post(ada, f"@{ada.name}")
    await does(ada, "mute", own)
    await does(bob, "favourite", own)
    await post(bob, f"@{ada.name} well", in_reply_to_id=own["id"])
    await settle(town)
    assert await notices(ada) == []
    await does(ada, "unmute", own)
    await post(bob, f"@{ada.name} well?", in_reply_to_id=own["id"])
    await settle(town)
    assert [type for type, *_ in await notices(ada)] == ["mention"]


async def test_the_team_reaches_those_who_block_them(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    await ada.to(bob, "block")
    await set_state(town, bob.id, lambda _: {"role": "moderator"})
    mention = await post(bob, f"@{ada.name} a word")
    await settle(town)
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(command(accounts.update().where(accounts.c.id == int(bob.id)).values(role="user")))
    assert mention["mentions"][0]["id"] == ada.id
    count = await ada.get("/api/v1/notifications/unread_count")
    assert count == {"count": 1}


async def test_a_poll_that_ends_is_told_to_all_who_took_part(town: Town) -> None:
    ada, bob, cat = await join_all(town, 3)
    asked = await post(ada, "well?", poll={"options": ["yes", "no"], "expires_in": 300})
    await bob.post(f"/api/v1/polls/{asked['poll']['id']}/votes", json={"choices": [0]})
    async with town.house() as house:
        async with house.works.begin() as work:
            await work.db.run(_age, poll=int(asked["poll"]["id"]), at=work.now - timedelta(seconds=1))
        for _ in range(2):
            async with house.works.begin() as work:
                await end_polls(work, EndPolls())
    await settle(town)
    assert (await notices(ada), await notices(bob), await notices(cat)) == (
        [("poll", ada.id, asked["id"])],
        [("poll", ada.id, asked["id"])],
        [],
    )
    assert (await cat.get(f"/api/v1/polls/{asked['poll']['id']}"))["expired"] is True


async def test_notices_are_narrowed_walked_counted_and_dismissed(town: Town) -> None:
    ada, bob, cat = await join_all(town, 3)
    own = [await post(ada, f"post {number}") for number in range(4)]
    for one in own:
        await does(bob, "favourite", one)
    await cat.to(ada, "follow")
    await settle(town)  # what is done together keeps no order
    await post(cat, f"@{ada.name}")
    await settle(town)
    every = [one["id"] for one in await ada.get("/api/v1/notifications")]
    assert len(every) == 6
    assert every == sorted(every, key=int, reverse=True)
    path = "/api/v1/notifications?limit=2"
    assert await walk(ada, path) == [every[:2], every[2:4], every[4:]]
    assert [id for page in await walk(ada, f"{path}&min_id={every[-1]}", back=True) for id in page] == [
        every[3],
        every[4],
        every[1],
        every[2],
        every[0],
    ]
    narrowed: list[tuple[dict[str, Any], set[str]]] = [
        ({"types[]": "favourite"}, {"favourite"}),
        ({"types[]": ["follow", "mention", "unheard_of"]}, {"follow", "mention"}),
        ({"exclude_types[]": ["favourite", "mention"]}, {"follow"}),
        ({"account_id": cat.id}, {"follow", "mention"}),
        ({"account_id": "nobody"}, set()),
        ({"types[]": "unheard_of"}, set()),
    ]
    for params, wanted in narrowed:
        assert {type for type, *_ in await notices(ada, **params)} == wanted, params
    count = "/api/v1/notifications/unread_count"
    assert await ada.get(count) == {"count": 6}
    assert await ada.get(count, params={"types[]": "favourite"}) == {"count": 4}
    assert await ada.get(count, params={"limit": "3"}) == {"count": 3}
    await ada.post("/api/v1/markers", json={"notifications": {"last_read_id": every[2]}})
    assert await ada.get(count) == {"count": 2}
    one = await ada.get(f"/api/v1/notifications/{every[0]}")
    assert one["type"] == "mention"
    known = await ada.get("/api/v1/notifications", params={"supported_types[]": "favourite"})
    assert {(one["type"] == "favourite", "fallback" in one) for one in known} == {(True, False), (False, True)}
    assert known[0]["fallback"]["title"] == f"<b>{cat.name}</b> mentioned you"
    for method, path in (("GET", ""), ("POST", "/dismiss")):
        assert (await bob.call(method, f"/api/v1/notifications/{every[0]}{path}")).status_code == 404
    assert await ada.post(f"/api/v1/notifications/{every[0]}/dismiss") == {}
    assert await ada.post("/api/v1/notifications/dismiss", data={"id": every[1]}) == {}
    assert (await ada.call("POST", "/api/v1/notifications/dismiss")).status_code == 400
    assert [one["id"] for one in await ada.get("/api/v1/notifications")] == every[2:]
    assert await ada.post("/api/v1/notifications/clear") == {}
    assert await ada.get("/api/v1/notifications") == []


async def test_a_blocked_domain_is_not_heard_of(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    far, elsewhere = await stranger(town, "unwanted.example"), await stranger(town, "wanted.example")

    async def all_mention() -> None:
        async with town.house() as house, house.works.begin() as work:
            for author in (far, elsewhere):
                await post_status(work, author, StatusDraft(status=f"@{ada.name} @{bob.name}"))
        await settle(town)

    async def heard_of(member: Member) -> list[str]:
        return sorted(who for _, who, _ in await notices(member))

    await all_mention()
    assert await heard_of(ada) == sorted([str(far.id), str(elsewhere.id)])
    await ada.post("/api/v1/domain_blocks", json={"domain": "unwanted.example"})
    await settle(town)
    assert await heard_of(ada) == [str(elsewhere.id)]
    await all_mention()
    assert await heard_of(ada) == [str(elsewhere.id)] * 2
    assert await heard_of(bob) == sorted([str(far.id), str(elsewhere.id)] * 2)
