"""Whom somebody is told they might follow."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import bindparam, select, update

from kith.base.db import command, query
from kith.social.ids import AccountId
from kith.social.moderation.tables import reports
from kith.social.suggestions import reading, store, tasks
from kith.social.suggestions.tables import interactions
from tests.social.members import Member, join, join_all, set_state, stranger, strangers, until
from tests.social.posts import does, post, said_elsewhere, settle
from tests.social.shapes import ACCOUNT, check, entity
from tests.social.staff import employ, verdict
from tests.town import Town

V1, V2, ADMIN = "/api/v1/suggestions", "/api/v2/suggestions", "/api/v1/admin/suggestions"
SUGGESTION = entity("Suggestion")

_moved = command(
    update(reports)
    .values(account_id=bindparam("by"), target_id=bindparam("about"))
    .where(reports.c.id == bindparam("id"))
)
_kept = query(select(interactions.c.target_id).where(interactions.c.account_id == bindparam("me")), AccountId)


async def suggested(member: Member, *among: Member | Any) -> list[str]:
    """Which of these are suggested, best first."""
    found = await member.get(V1, params={"limit": "80"})
    check(found, [ACCOUNT])
    ids = [str(one.id) for one in among]
    return [one["id"] for one in found if one["id"] in ids]


async def reasons(member: Member, other: Member | Any) -> list[str]:
    found = await member.get(V2, params={"limit": "80"})
    check(found, [SUGGESTION])
    return next((one["sources"] for one in found if one["account"]["id"] == str(other.id)), [])


async def test_boosts_weigh_more_than_favourites_and_these_more_than_replies(town: Town) -> None:
    ada, bob, cleo, dan = await join_all(town, 4)
    said = {one.id: await post(one) for one in (bob, cleo, dan)}
    assert await suggested(ada, bob, cleo, dan) == []

    await post(ada, "So?", in_reply_to_id=said[bob.id]["id"])
    await does(ada, "favourite", said[cleo.id])
    await does(ada, "reblog", said[dan.id])
    await settle(town)

    assert await suggested(ada, bob, cleo, dan) == [dan.id, cleo.id, bob.id]
    assert (await ada.call("GET", V1)).headers["deprecation"] == "@1621123200"
    [first, *_] = await ada.get(V2)
    check(first, SUGGESTION)
    assert (first["account"]["id"], first["source"]) == (dan.id, "past_interactions")
    assert [one["id"] for one in await ada.get(V1, params={"limit": "1", "offset": "1"})] == [cleo.id]
    assert [one["id"] for one in await ada.get(V1, params={"limit": "-2"})] == [dan.id, cleo.id]
    for place in range(2):
        answer = await post(bob, f"And {place}?")
        for _ in range(10):
            await post(ada, "Well", in_reply_to_id=answer["id"])
    await settle(town)
    assert await suggested(ada, bob, cleo, dan) == [bob.id, dan.id, cleo.id]  # 21 replies


async def test_an_act_counts_without_waiting_for_the_next_round(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    said = await post(bob)

    await does(ada, "favourite", said)

    async with asyncio.timeout(120):
        await until(lambda: _is_suggested(ada, bob))


async def _is_suggested(member: Member, other: Member) -> bool:
    return await suggested(member, other) == [other.id]


Change = Callable[[Member, Member], Awaitable[Any]]


async def _state(other: Member, **values: Any) -> None:
    await set_state(other.town, other.id, lambda _work: values)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda ada, bob: ada.to(bob, "follow"), id="followed"),
        pytest.param(lambda ada, bob: ada.to(bob, "block"), id="blocked"),
        pytest.param(lambda ada, bob: bob.to(ada, "block"), id="blocked by them"),
        pytest.param(lambda ada, bob: ada.to(bob, "mute"), id="muted"),
        pytest.param(
            lambda _, bob: bob.patch("/api/v1/accounts/update_credentials", json={"locked": True}), id="locked"
        ),
        pytest.param(lambda ada, bob: _state(bob, moved_to=int(ada.id)), id="moved"),
        pytest.param(
            lambda _, bob: set_state(bob.town, bob.id, lambda work: {"suspended_at": work.now}), id="suspended"
        ),
        pytest.param(lambda _, bob: set_state(bob.town, bob.id, lambda work: {"silenced_at": work.now}), id="silenced"),
        pytest.param(lambda ada, bob: ada.delete(f"{V1}/{bob.id}"), id="removed"),
    ],
)
async def test_whom_nobody_should_be_told_of_is_left_out_at_once(town: Town, change: Change) -> None:
    ada, bob = await join_all(town, 2)
    await does(ada, "reblog", await post(bob))
    await settle(town)
    assert await suggested(ada, bob) == [bob.id]

    await change(ada, bob)

    assert await suggested(ada, bob) == []


async def test_whom_a_report_is_about_is_suggested_to_nobody_while_it_is_open_and_never_to_who_made_it(
    town: Town,
) -> None:
    moderator, (ada, bob, cleo) = await employ(town, "moderator"), await join_all(town, 3)
    for one in (ada, cleo):
        await does(one, "reblog", await post(bob))
    await settle(town)
    assert await suggested(ada, bob) == [bob.id]

    report = await cleo.post("/api/v1/reports", json={"account_id": bob.id, "comment": "Watches, cheap"})
    assert await suggested(ada, bob) == []

    await moderator.post(f"/api/v1/admin/reports/{report['id']}/resolve")
    assert await suggested(ada, bob) == [bob.id]
    assert await suggested(cleo, bob) == []


async def test_what_another_server_reports_counts_once_the_team_looks_after_it(town: Town) -> None:
    moderator, (ada, bob) = await employ(town, "moderator"), await join_all(town, 2)
    far = await stranger(town)
    await does(ada, "reblog", await post(bob))
    await settle(town)
    report = await ada.post("/api/v1/reports", json={"account_id": (await join(town)).id})
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_moved, by=far.id, about=int(bob.id), id=int(report["id"]))
    assert await suggested(ada, bob) == [bob.id]

    await moderator.post(f"/api/v1/admin/reports/{report['id']}/assign_to_self")

    assert await suggested(ada, bob) == []


async def test_a_removal_is_remembered(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    said = await post(bob)
    for id in (bob.id, bob.id, "1"):
        assert await ada.delete(f"{V1}/{id}") == {}

    await does(ada, "reblog", said)
    await settle(town)

    assert await suggested(ada, bob) == []


async def test_acts_towards_those_one_follows_count_nothing_and_following_ends_the_count(town: Town) -> None:
    ada, bob, cleo = await join_all(town, 3)
    await ada.to(bob, "follow")
    await does(ada, "reblog", await post(bob))
    await does(ada, "reblog", await post(cleo))
    await settle(town)
    await ada.to(cleo, "follow")
    await settle(town)

    await ada.to(bob, "unfollow")
    await ada.to(cleo, "unfollow")

    assert await suggested(ada, bob, cleo) == []


async def test_blocked_domains_are_left_out(town: Town) -> None:
    ada, far = await join(town), await stranger(town, "far.example")
    await does(ada, "favourite", await said_elsewhere(town, far))
    await settle(town)
    assert await suggested(ada, far) == [str(far.id)]

    await ada.post("/api/v1/domain_blocks", json={"domain": "far.example"})

    assert await suggested(ada, far) == []


async def test_friends_of_friends_who_want_to_be_found_are_suggested(town: Town) -> None:
    ada, bob, cleo, dan, hidden = await join_all(town, 5)
    for one in (cleo, dan):
        await one.patch("/api/v1/accounts/update_credentials", json={"discoverable": True})
    await hidden.patch("/api/v1/accounts/update_credentials", json={"discoverable": False})
    await ada.to(bob, "follow")
    for one in (cleo, dan, hidden):
        await bob.to(one, "follow")
    await post(dan, "I am here")  # the one who posts is preferred
    await settle(town)

    assert await suggested(ada, cleo, dan, hidden) == [dan.id, cleo.id]
    assert "friends_of_friends" in await reasons(ada, cleo)
    await bob.patch("/api/v1/accounts/update_credentials", json={"hide_collections": True})
    assert "friends_of_friends" not in await reasons(ada, cleo)


async def test_the_team_picks_whom_everybody_is_told_of(town: Town) -> None:
    moderator, (ada, bob) = await employ(town, "moderator"), await join_all(town, 2)
    assert await verdict(ada, "POST", ADMIN, json={"account_id": bob.id}) == 403

    check(await moderator.post(ADMIN, json={"account_id": bob.id}), ACCOUNT)
    await moderator.post(ADMIN, json={"account_id": bob.id})

    assert "featured" in await reasons(ada, bob)
    assert bob.id in [one["id"] for one in await moderator.get(ADMIN)]
    assert await moderator.delete(f"{ADMIN}/{bob.id}") == {}
    assert await reasons(ada, bob) == []
    assert await verdict(moderator, "DELETE", f"{ADMIN}/{bob.id}") == 404
    assert await verdict(moderator, "POST", ADMIN, json={"account_id": "1"}) == 404


async def test_old_acts_are_forgotten(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    await does(ada, "favourite", await post(bob))
    await settle(town)

    async with town.house() as house, house.works.begin() as work:
        work.now += reading.KEPT + timedelta(minutes=1)
        await tasks.forget_old(work, tasks.ForgetInteractions())

    assert await suggested(ada, bob) == []


async def test_of_many_only_the_best_are_kept(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    met = await strangers(town, store.MOST_KEPT + 2, "crowded.example")
    async with town.house() as house, house.works.begin() as work:
        me = AccountId(int(ada.id))
        acts = [store.Interaction(me, one.id, place + 1) for place, one in enumerate(met)]
        await store.count(work.db, [*acts, store.Interaction(AccountId(int(bob.id)), met[0].id, 1)], work.now)

    best_first = [str(one.id) for one in met[:1:-1]]
    assert await suggested(ada, *met) == best_first
    async with town.house() as house, house.works.begin() as work:
        await tasks.forget_old(work, tasks.ForgetInteractions())
    async with town.house() as house, house.works.begin() as work:
        kept = await work.db.all(_kept, me=AccountId(int(ada.id)))
    assert set(kept) == {one.id for one in met[2:]}
    assert await suggested(bob, *met) == [str(met[0].id)], "everybody's are counted apart"
