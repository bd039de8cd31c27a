"""Two servers of ours: what is done at one is true at the other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest

from tests.federation.asking import ask
from tests.federation.two_servers import Pair, arrived, find_person, friends, home, is_gone, relation, shows, two_towns
from tests.social.members import join, until
from tests.social.posts import does, post
from tests.town import Town
from tests.town.town import Engine


@pytest.fixture(scope="module")
async def towns(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Town, Town]]:
    async with two_towns(engine, tmp_path_factory.mktemp("two")) as built:
        yield built


@pytest.fixture
async def pair(towns: tuple[Town, Town]) -> Pair:
    return await friends(towns)


async def test_posts_arrive_at_those_they_are_for_and_at_nobody_else(pair: Pair) -> None:
    cy = await join(pair.ada.town)  # lives where Ada lives, and follows nobody
    said = {}
    for visibility in ("public", "unlisted", "private"):
        said[visibility] = await post(pair.bob, f"said {visibility}", visibility=visibility)
    said["direct"] = await post(pair.bob, f"@{pair.ada_handle} said direct", visibility="direct")

    for visibility, there in said.items():
        here = await pair.status_here(there)
        assert here["visibility"] == visibility
        assert f"said {visibility}" in here["content"]
        expected = 200 if visibility in ("public", "unlisted") else 404
        assert (await cy.call("GET", f"/api/v1/statuses/{here['id']}")).status_code == expected, visibility


async def test_what_is_not_addressed_there_never_leaves(pair: Pair) -> None:
    cy = await join(pair.bob.town)
    secret = await post(pair.bob, f"@{cy.name} only between us", visibility="direct")
    later = await post(pair.bob, "for all", visibility="public")

    await pair.status_here(later)

    assert secret["uri"] not in {one["uri"] for one in await home(pair.ada)}
    found = await pair.ada.get("/api/v2/search", params={"q": secret["uri"], "resolve": "true"})
    assert found["statuses"] == []


async def test_favourites_boosts_and_answers_are_counted_and_taken_back(pair: Pair) -> None:
    there = await post(pair.bob, "count me", visibility="public")
    here = await pair.status_here(there)
    path = f"/api/v1/statuses/{there['id']}"
    acts = (("favourite", "favourites_count"), ("reblog", "reblogs_count"))
    for verb, count in acts:
        for does_so, number in ((verb, 1), (f"un{verb}", 0)):
            await does(pair.ada, does_so, here["id"])
            await shows(pair.bob, path, partial(has, count, number))

    answer = await post(pair.ada, f"@{pair.bob_handle} one", in_reply_to_id=here["id"], visibility="public")
    await shows(pair.bob, path, lambda one: one["replies_count"] == 1)
    await shows(pair.bob, "/api/v1/notifications", lambda told: "mention" in [one["type"] for one in told])
    await pair.ada.delete(f"/api/v1/statuses/{answer['id']}")
    await shows(pair.bob, path, lambda one: one["replies_count"] == 0)


def has(name: str, value: int, shown: dict[str, Any]) -> bool:
    return bool(shown[name] == value)


async def test_a_post_is_edited_and_deleted_on_both_sides(pair: Pair) -> None:
    there = await post(pair.bob, "first words", visibility="public")
    here = await pair.status_here(there)

    await pair.bob.does("PUT", f"/api/v1/statuses/{there['id']}", json={"status": "other words"})
    await shows(pair.ada, f"/api/v1/statuses/{here['id']}", lambda one: "other words" in one["content"])
    history = await pair.ada.get(f"/api/v1/statuses/{here['id']}/history")
    assert ["first words" in one["content"] for one in history] == [True, False]

    await pair.bob.delete(f"/api/v1/statuses/{there['id']}")
    await is_gone(pair.ada, f"/api/v1/statuses/{here['id']}")


async def test_votes_travel_to_whoever_asks(pair: Pair) -> None:
    poll = {"options": ["rye", "wheat", "oats"], "expires_in": 3600, "multiple": True}
    there = await post(pair.bob, "which?", visibility="public", poll=poll)
    here = await pair.status_here(there)

    await pair.ada.post(f"/api/v1/polls/{here['poll']['id']}/votes", json={"choices": [0, 2]})

    path = f"/api/v1/polls/{there['poll']['id']}"
    await shows(pair.bob, path, lambda one: [option["votes_count"] for option in one["options"]] == [1, 0, 1])
    assert (await pair.bob.get(path))["voters_count"] == 1


async def test_a_quote_is_asked_for_granted_and_taken_back(pair: Pair) -> None:
    there = await post(pair.bob, "quote me", visibility="public", quote_approval_policy="public")
    here = await pair.status_here(there)

    quote = await post(pair.ada, "look", visibility="public", quoted_status_id=here["id"])
    path = f"/api/v1/statuses/{quote['id']}"
    await shows(pair.ada, path, lambda one: one["quote"]["state"] == "accepted")
    await shows(pair.bob, f"/api/v1/statuses/{there['id']}", lambda one: one["quotes_count"] == 1)

    [quoting] = await pair.bob.get(f"/api/v1/statuses/{there['id']}/quotes")
    await pair.bob.post(f"/api/v1/statuses/{there['id']}/quotes/{quoting['id']}/revoke")
    await shows(pair.ada, path, lambda one: one["quote"]["state"] == "revoked")


async def test_a_locked_account_decides_who_follows(towns: tuple[Town, Town]) -> None:
    ada, bob = await join(towns[0]), await join(towns[1])
    await bob.patch("/api/v1/accounts/update_credentials", json={"locked": True})
    bob_here = await find_person(ada, f"{bob.name}@127.0.0.1:{bob.town.port}")

    for answer, follows in (("reject", False), ("authorize", True)):
        await ada.post(f"/api/v1/accounts/{bob_here}/follow", json={})
        await shows(bob, "/api/v1/follow_requests", lambda waiting: len(waiting) == 1)
        [asking] = await bob.get("/api/v1/follow_requests")
        await bob.post(f"/api/v1/follow_requests/{asking['id']}/{answer}")

        async def is_answered() -> bool:
            return not await relation(ada, bob_here, "requested")

        await until(is_answered)
        assert await relation(ada, bob_here, "following") is follows


async def test_a_follower_who_is_removed_follows_no_more(pair: Pair) -> None:
    await pair.bob.post(f"/api/v1/accounts/{pair.ada_there}/remove_from_followers", json={})

    async def is_over() -> bool:
        return not await pair.follows_here()

    await until(is_over)


async def test_a_block_parts_both_and_is_undone(pair: Pair) -> None:
    await pair.ada.post(f"/api/v1/accounts/{pair.bob_here}/block", json={})

    async def is_over() -> bool:
        return not await pair.follows_there() and bool(await relation(pair.bob, pair.ada_there, "blocked_by"))

    await until(is_over)
    assert not await pair.follows_here()

    await pair.ada.post(f"/api/v1/accounts/{pair.bob_here}/unblock", json={})

    async def is_undone() -> bool:
        return not await relation(pair.bob, pair.ada_there, "blocked_by")

    await until(is_undone)


async def test_a_profile_is_the_same_on_both_sides(pair: Pair) -> None:
    await pair.bob.patch("/api/v1/accounts/update_credentials", json={"display_name": "Bobby", "note": "About"})

    path = f"/api/v1/accounts/{pair.bob_here}"
    await shows(pair.ada, path, lambda one: (one["display_name"], one["note"]) == ("Bobby", "<p>About</p>"))


async def test_a_report_reaches_the_other_team_without_a_name(pair: Pair) -> None:
    there = await post(pair.bob, "bad words", visibility="public")
    here = await pair.status_here(there)
    words = f"words about {pair.bob.name}"
    report = {"account_id": pair.bob_here, "status_ids": [here["id"]], "comment": words, "forward": True}

    await pair.ada.post("/api/v1/reports", json=report)

    async def is_told() -> bool:
        return words in await pair.bob.town.kith("reports", "list", "--json")

    await until(is_told)
    assert pair.ada.name not in await pair.bob.town.kith("reports", "list", "--json")


async def test_what_was_done_while_the_other_slept_is_done_once_it_wakes(towns: tuple[Town, Town]) -> None:
    pair = await friends(towns)
    there = await post(pair.bob, "before", visibility="public")
    here = await pair.status_here(there)
    await towns[1].kill()

    answer = await post(pair.ada, f"@{pair.bob_handle} are you there?", in_reply_to_id=here["id"], visibility="public")
    await does(pair.ada, "favourite", here["id"])
    await towns[1].start()

    path = f"/api/v1/statuses/{there['id']}"
    await shows(pair.bob, path, lambda one: (one["replies_count"], one["favourites_count"]) == (1, 1))
    assert "are you there?" in (await pair.status_there(answer))["content"]


async def test_somebody_who_is_gone_is_gone_on_both_sides(pair: Pair) -> None:
    there = await post(pair.bob, "soon gone", visibility="public")
    here = await pair.status_here(there)

    for verb in ("suspend", "delete"):
        await pair.bob.town.kith("accounts", verb, pair.bob.name)

    await is_gone(pair.ada, f"/api/v1/statuses/{here['id']}")
    await is_gone(pair.ada, f"/api/v1/accounts/{pair.bob_here}")
    for path in (f"/users/{pair.bob.name}", f"/users/{pair.bob.name}/statuses/{there['id']}"):
        assert (await ask(pair.bob.town, path)).status_code == 410


async def test_a_boost_brings_a_post_to_those_who_follow_the_booster(pair: Pair) -> None:
    cy = await join(pair.ada.town)
    said = await post(cy, "Read this")

    async def is_boosted() -> bool:
        return any(one["reblog"] and one["reblog"]["uri"] == said["uri"] for one in await home(pair.bob))

    async def is_not() -> bool:
        return not await is_boosted()

    await does(pair.ada, "reblog", said)
    await until(is_boosted)
    await does(pair.ada, "unreblog", said)
    await until(is_not)


async def test_what_is_pinned_is_pinned_on_both_sides(pair: Pair) -> None:
    said = await post(pair.ada, "Read me first")
    await pair.status_there(said)
    path = f"/api/v1/accounts/{pair.ada_there}/statuses?pinned=true"

    await does(pair.ada, "pin", said)
    await shows(pair.bob, path, lambda shown: [one["uri"] for one in shown] == [said["uri"]])
    await does(pair.ada, "unpin", said)
    await shows(pair.bob, path, lambda shown: shown == [])


async def test_what_a_private_answer_answers_is_fetched_for_whoever_may_see_it(towns: tuple[Town, Town]) -> None:
    ada, bob, cy = await join(towns[0]), await join(towns[1]), await join(towns[0])
    before = await post(bob, "before anybody followed", visibility="private")
    id = await find_person(ada, f"{bob.name}@127.0.0.1:{towns[1].port}")
    await ada.post(f"/api/v1/accounts/{id}/follow", json={})
    await until(partial(relation, ada, id, "following"))

    answer = await post(bob, "and I go on", visibility="private", in_reply_to_id=before["id"])
    here = await arrived(ada, answer["uri"])

    path = f"/api/v1/statuses/{here['id']}/context"
    await shows(ada, path, lambda shown: [one["uri"] for one in shown["ancestors"]] == [before["uri"]])
    [parent] = (await ada.get(path))["ancestors"]
    assert (await cy.call("GET", f"/api/v1/statuses/{parent['id']}")).status_code == 404
