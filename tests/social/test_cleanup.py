"""Automatic deletion of one's own old posts: which of them stay, and how the others go."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from sqlalchemy import bindparam, or_, select, update

from kith.base.db import Instant, command, insert_into, query
from kith.base.jobs.tables import DEAD, READY, jobs
from kith.social.accounts import store as accounts
from kith.social.accounts.facts import AccountDeleted
from kith.social.cleanup import service, store, tasks
from kith.social.cleanup.rules import stays
from kith.social.cleanup.tables import AGES, OldPost, cleanup_policies
from kith.social.ids import AccountId, StatusId
from kith.social.media.tables import media
from kith.social.statuses.tables import DIRECT, PUBLIC
from tests.conftest import TownBuilder
from tests.social.members import Member, join, join_all, set_state
from tests.social.past import write_all
from tests.social.posts import PATIENCE, does, ids, post, settle
from tests.social.samples import image_file
from tests.social.shapes import check, entity
from tests.social.staff import verdict
from tests.social.streams import listen
from tests.town import Town

PATH = "/api/v1/statuses_cleanup_policy"
DEFAULTS = {
    "enabled": False, "min_status_age": 1_209_600, "keep_direct": True, "keep_pinned": True, "keep_polls": False,
    "keep_media": False, "keep_self_fav": True, "keep_self_bookmark": True, "min_favs": None, "min_reblogs": None,
}  # fmt: skip
POLICY = entity("StatusesCleanupPolicy")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
PLAIN = OldPost(StatusId(1), PUBLIC, False, [], 0, 0, False, False, False)
STRICT = msgspec.structs.replace(
    service.default_for(AccountId(1), NOW), keep_direct=False, keep_pinned=False, keep_self_fav=False,
    keep_self_bookmark=False,
)  # fmt: skip
_due_again = command(
    update(cleanup_policies)
    .where(cleanup_policies.c.account_id == bindparam("who"))
    .values(next_at=bindparam("at", type_=Instant()), restarts_at=bindparam("again", type_=Instant()))
)
_attach = command(update(media).where(media.c.id == bindparam("picture")).values(status_id=bindparam("status")))
_held_or_ended = query(
    select(jobs.c.state).where(or_(jobs.c.state != READY, jobs.c.deaths > 0, jobs.c.error.is_not(None))), int
)
_late_job = command(insert_into(jobs))


@pytest.mark.parametrize(("rule", "post"), [
    ({"keep_direct": True}, {"visibility": DIRECT}), ({"keep_pinned": True}, {"is_pinned": True}),
    ({"keep_polls": True}, {"has_poll": True}), ({"keep_media": True}, {"media_ids": [7]}),
    ({"keep_self_fav": True}, {"is_favourited": True}), ({"keep_self_bookmark": True}, {"is_bookmarked": True}),
    ({"min_favs": 3}, {"favourites_count": 3}), ({"min_reblogs": 3}, {"reblogs_count": 4}),
])  # fmt: skip
def test_a_rule_keeps_what_it_is_about_and_nothing_else(rule: dict[str, Any], post: dict[str, Any]) -> None:
    policy, special = msgspec.structs.replace(STRICT, **rule), msgspec.structs.replace(PLAIN, **post)

    assert stays(special, policy)
    assert not stays(special, STRICT)
    assert not stays(PLAIN, policy)


def test_what_falls_short_goes() -> None:
    policy = msgspec.structs.replace(STRICT, min_favs=3, min_reblogs=3)

    assert not stays(msgspec.structs.replace(PLAIN, favourites_count=2, reblogs_count=2), policy)


async def old(author: Member, how_many: int = 1, *, days: float = 30, **differing: Any) -> list[str]:
    at = datetime.now(UTC) - timedelta(days=days)
    return await write_all(author, [(at + timedelta(seconds=place), differing) for place in range(how_many)])


async def rounds(town: Town, *members: Member, how_many: int = 1, anew: bool = False) -> None:
    """As if the time had come for each of them."""
    for _ in range(how_many):
        async with town.house() as house, house.works.begin() as work:
            for one in members:
                found = await store.find(work.db, AccountId(int(one.id)))
                assert found is not None
                again = work.now if anew else found.restarts_at
                await work.db.run(_due_again, who=int(one.id), at=work.now, again=again)
            work.enqueue(tasks.GO_ROUND, tasks.CleanupRound())
        await settle(town)


async def retried(town: Town) -> None:
    """Until nothing is left of what dead workers held. A job that was ended twice in its midst waits for an operator."""
    async with asyncio.timeout(PATIENCE), town.opened_database() as database:
        session = database.session()
        while states := await session.all(_held_or_ended):
            await session.rollback()
            if set(states) == {DEAD}:
                await town.kith("jobs", "retry", "--all")
            await asyncio.sleep(0.1)
        await session.rollback()


async def left(member: Member) -> set[str]:
    return set(await ids(member, f"/api/v1/accounts/{member.id}/statuses"))


async def test_it_is_off_until_somebody_wants_it(town: Town) -> None:
    ada = await join(town)
    check(await ada.get(PATH), POLICY)
    assert await ada.get(PATH) == DEFAULTS
    wanted = {"enabled": True, "min_status_age": AGES[0], "keep_polls": True, "min_favs": 5}

    assert await ada.does("PUT", PATH, json=wanted) == DEFAULTS | wanted
    assert await ada.does("PATCH", PATH, data={"keep_direct": "false", "min_reblogs": "2"}) == await ada.get(PATH)
    assert await ada.does("PUT", PATH, json={"min_favs": None}) == DEFAULTS | wanted | {
        "keep_direct": False, "min_reblogs": 2, "min_favs": None,
    }  # fmt: skip
    assert await ada.delete(PATH) == {}
    assert await ada.get(PATH) == DEFAULTS
    assert await ada.delete(PATH) == {}


@pytest.mark.parametrize(("sent", "error"), [
    ({"min_status_age": 5}, "Validation failed: Min status age is not included in the list"),
    ({"min_status_age": 2**70}, None), ({"min_status_age": "soon"}, None),
    ({"min_favs": 0}, "Validation failed: Min favs must be greater than or equal to 1"),
    ({"min_reblogs": -1}, "Validation failed: Min reblogs must be greater than or equal to 1"),
    ({"min_reblogs": 2**40}, "Validation failed: Min reblogs must be less than or equal to 2147483647"),
    ({"enabled": "perhaps so"}, None),
])  # fmt: skip
async def test_what_makes_no_sense_changes_nothing(town: Town, sent: dict[str, Any], error: str | None) -> None:
    ada = await join(town)

    answer = await ada.call("PUT", PATH, json={"keep_media": True, **sent})

    assert answer.status_code == 422, answer.text
    assert error is None or answer.json()["error"] == error
    assert await ada.get(PATH) == DEFAULTS


async def test_old_posts_go_and_what_is_dear_stays(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    picture = (await ada.call("POST", "/api/v2/media", files={"file": ("a.png", image_file("PNG"))})).json()["id"]
    [plain, pinned, liked, noted, dear, boosted] = await old(ada, 6)
    [hushed] = await old(ada, visibility=DIRECT)
    [pictured] = await old(ada, media_ids=[int(picture)])
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_attach, picture=int(picture), status=int(pictured))
    [young] = await old(ada, days=13)
    original = await post(bob)
    [shared] = await old(ada, reblog_of_id=int(original["id"]))
    [others] = await old(bob)
    for member, verb, id in (
        (ada, "pin", pinned), (ada, "favourite", liked), (ada, "bookmark", noted), (bob, "favourite", dear),
        (bob, "reblog", boosted),
    ):  # fmt: skip
        await does(member, verb, id)
    await ada.does("PUT", PATH, json={"enabled": True, "min_favs": 1, "min_reblogs": 1, "keep_media": True})

    await rounds(town, ada)

    assert await left(ada) == {pinned, liked, noted, dear, boosted, hushed, pictured, young}
    assert await verdict(ada, "GET", f"/api/v1/statuses/{plain}") == 404
    assert await verdict(ada, "GET", f"/api/v1/statuses/{shared}") == 404
    assert await verdict(bob, "GET", f"/api/v1/statuses/{original['id']}") == 200
    assert others in await left(bob)
    # A stricter policy looks at everything anew.
    await ada.does("PATCH", PATH, json={"keep_pinned": False, "min_favs": None, "keep_media": False})
    await rounds(town, ada)
    assert await left(ada) == {liked, noted, boosted, hushed, young}
    assert await verdict(ada, "GET", f"/api/v1/media/{picture}") == 404


async def test_whoever_takes_a_mark_back_lets_a_post_go_the_next_day(town: Town) -> None:
    ada = await join(town)
    [kept] = await old(ada)
    await does(ada, "bookmark", kept)
    await ada.does("PUT", PATH, json={"enabled": True})
    await rounds(town, ada)
    await does(ada, "unbookmark", kept)
    await rounds(town, ada)
    assert await left(ada) == {kept}

    await rounds(town, ada, anew=True)

    assert await left(ada) == set()


async def test_a_round_deletes_few_posts_and_the_next_goes_on(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    kept = await old(ada, 3, days=60, visibility=DIRECT)
    going = await old(ada, 2 * tasks.POSTS + 1)
    await old(bob, 2)
    for one in (ada, bob):
        await one.does("PUT", PATH, json={"enabled": True})

    async def count(member: Member) -> int:
        return int((await member.refreshed())["statuses_count"])

    before = await count(ada)
    assert await _turn(town, ada, tasks.POSTS) == (going[tasks.POSTS - 1], False)
    assert before - await count(ada) == tasks.POSTS
    assert await _turn(town, ada, tasks.POSTS) == (going[2 * tasks.POSTS - 1], False)
    assert await _turn(town, ada, tasks.POSTS) == (going[-1], True)
    assert await left(ada) == set(kept)
    assert await _turn(town, bob, tasks.POSTS) == (await _turn(town, bob, 1))


async def _turn(town: Town, member: Member, posts: int) -> tuple[str, bool]:
    """How far it came, and whether there is nothing more to do."""
    me = AccountId(int(member.id))
    async with town.house() as house, house.works.begin() as work:
        await tasks.take_turn(work, tasks.CleanupTurn(account_id=me, posts=posts))
        policy = await store.find(work.db, me)
        assert policy is not None
        return str(policy.inspected_id), policy.next_at > work.now


async def test_a_sudden_death_loses_nothing_and_counts_nothing_twice(new_town: TownBuilder) -> None:
    town = await new_town()
    ada = await join(town)
    going, young = await old(ada, 3 * tasks.POSTS), await post(ada)
    async with town.house() as house, house.works.begin() as work:
        await accounts.count(work.db, AccountId(int(ada.id)), statuses=len(going))
    await ada.does("PUT", PATH, json={"enabled": True})
    for _ in range(3):
        async with town.house() as house, house.works.begin() as work:
            await work.db.run(_due_again, who=int(ada.id), at=work.now, again=work.now)
            work.enqueue(tasks.GO_ROUND, tasks.CleanupRound())
        await town.kill()
        await town.start()
    await retried(town)
    await rounds(town, ada, how_many=3, anew=True)

    assert await left(ada) == {young["id"]}
    assert (await ada.refreshed())["statuses_count"] == 1


async def test_a_deleted_post_is_told_of_as_any_other(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    [gone] = await old(ada)
    answer = await post(bob, "So long ago", in_reply_to_id=gone)
    assert (await bob.get(f"/api/v1/statuses/{answer['id']}/context"))["ancestors"] != []
    await ada.does("PUT", PATH, json={"enabled": True})

    async with listen(bob, "public/local") as stream:
        await rounds(town, ada)
        await stream.until("delete", gone)

    assert (await bob.get(f"/api/v1/statuses/{answer['id']}/context"))["ancestors"] == []


async def test_nothing_goes_while_others_wait(town: Town) -> None:
    ada = await join(town)
    [kept] = await old(ada)
    await ada.does("PUT", PATH, json={"enabled": True})
    async with town.house() as house, house.works.begin() as work:
        late = work.now - tasks.BEHIND - timedelta(seconds=1)
        await work.db.run(
            _late_job, id=work.new_id(), kind="cleanup.round", lane="quick", payload="{}", key="late", state=0,
            run_at=late, attempts=0, deaths=0, held_by=None, held_until=None, error=None, created_at=late,
            request="", owner="",
        )  # fmt: skip
        await tasks.go_round(work, tasks.CleanupRound())
        assert not work._jobs
        await work.rollback()
        await tasks.go_round(work, tasks.CleanupRound())
        assert str(ada.id) in [job["key"] for job in work._jobs]
        await work.rollback()
    assert await left(ada) == {kept}


async def test_whoever_is_gone_keeps_what_they_posted(town: Town) -> None:
    ada, eve = await join_all(town, 2)
    for one in (ada, eve):
        await old(one)
        await one.does("PUT", PATH, json={"enabled": True})
    gone, me = AccountId(int(eve.id)), AccountId(int(ada.id))
    await set_state(town, gone, lambda work: {"suspended_at": work.now})

    async with town.house() as house, house.works.begin() as work:
        assert gone not in await store.due(work.db, work.now, 1000)
        assert me in await store.due(work.db, work.now, 1000)
        await tasks.take_turn(work, tasks.CleanupTurn(account_id=gone, posts=9))
        kept = await store.find(work.db, gone)
        assert kept is not None
        assert kept.inspected_id == 0
        await tasks.forget_account(work, AccountDeleted(account_id=me))
        assert await store.find(work.db, me) is None


async def test_a_policy_is_for_members_with_the_right_scopes(town: Town) -> None:
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        assert (await town.http.request(method, PATH)).status_code == 401
