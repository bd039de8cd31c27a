"""What is quoted is shown as its viewer stands with whoever wrote it."""

from __future__ import annotations

import uuid
from typing import Any

from kith.social.ids import StatusId
from kith.social.statuses import store as statuses
from tests.social.members import Member, join_all, stranger
from tests.social.posts import arrive, does, ids, post, said_elsewhere, settle
from tests.social.shapes import PUBLIC_STATUS, STATUS, check
from tests.town import Town

Seen = tuple[str, str | None]


async def _seen(town: Town, viewer: Member | None, quote_id: str) -> tuple[Seen, Seen]:
    """The state of the quote inside of the quote, by its own post and by the one that quotes that."""
    headers = {"Authorization": f"Bearer {viewer.token}"} if viewer else {}
    shown: list[Any] = []
    for id in quote_id.split():
        shown.append((await town.http.get(f"/api/v1/statuses/{id}", headers=headers)).json())
        check(shown[-1], STATUS if viewer else PUBLIC_STATUS)
    near, far = shown[0]["quote"], shown[1]["quote"]["quoted_status"]["quote"]
    return (near["state"], near["quoted_status"] and near["quoted_status"]["id"]), (
        far["state"],
        far["quoted_status_id"],
    )


async def test_a_quote_says_what_stands_between_its_viewer_and_the_quoted(town: Town) -> None:
    ada, bob, cat, eve = await join_all(town, 4)
    root = (await post(ada, "said first"))["id"]
    quote = (await post(bob, "as she said", quoted_status_id=root))["id"]
    both = f"{quote} {(await post(cat, 'as he said she said', quoted_status_id=quote))['id']}"

    async def seen(viewer: Member | None) -> tuple[Seen, Seen]:
        return await _seen(town, viewer, both)

    assert await seen(eve) == await seen(None) == await seen(bob) == (("accepted", root),) * 2
    await eve.to(ada, "mute")
    assert await seen(eve) == (("muted_account", None),) * 2
    await eve.to(ada, "block")
    assert await seen(eve) == (("blocked_account", None),) * 2
    await eve.to(ada, "unblock")
    await eve.to(ada, "unmute")
    await ada.to(eve, "block")
    assert await seen(eve) == (("unauthorized", None),) * 2
    assert await seen(cat) == (("accepted", root),) * 2


async def test_a_quote_outlives_what_it_quotes(town: Town) -> None:
    ada, bob, cat = await join_all(town, 3)
    posts = [(await post(ada))["id"] for _ in range(2)]
    quotes = [(await post(bob, "so", quoted_status_id=id))["id"] for id in posts]
    pairs = [f"{id} {(await post(cat, 'so so', quoted_status_id=id))['id']}" for id in quotes]

    await ada.delete(f"/api/v1/statuses/{posts[0]}")
    await does(ada, f"quotes/{quotes[1]}/revoke", posts[1])
    await settle(town)

    assert await _seen(town, cat, pairs[0]) == await _seen(town, None, pairs[0]) == (("deleted", None),) * 2
    assert await _seen(town, cat, pairs[1]) == await _seen(town, ada, pairs[1]) == (("revoked", None),) * 2


async def _states(reader: Member, tag: str, list_id: str) -> dict[str, list[tuple[str, str, bool]]]:
    """By timeline: which posts quote, in which state, and whether what they quote is shown."""
    paths = {
        "home": "/api/v1/timelines/home",
        "list": f"/api/v1/timelines/list/{list_id}",
        "tag": f"/api/v1/timelines/tag/{tag}",
        "public": "/api/v1/timelines/public",
    }
    found: dict[str, list[tuple[str, str, bool]]] = {}
    for name, path in paths.items():
        shown = await reader.get(path, params={"limit": "40"})
        quotes = [(one["id"], one["quote"]) for one in shown if one["quote"]]
        found[name] = [(id, quote["state"], quote["quoted_status"] is not None) for id, quote in quotes]
    return found


async def test_timelines_keep_posts_that_quote_and_tell_how_the_quote_stands(town: Town) -> None:
    """A quote is no reason to lose a post by somebody who is followed: only what is quoted is hidden."""
    # given
    eve, ada, bob, cat, dan, joe = await join_all(town, 6)
    far = await stranger(town, f"{uuid.uuid4().hex[:8]}.example")
    await eve.to(ada, "follow")
    kept = await eve.post("/api/v1/lists", json={"title": "Friends"})
    await eve.post(f"/api/v1/lists/{kept['id']}/accounts", json={"account_ids": [ada.id]})
    await arrive(eve)
    tag = f"q{uuid.uuid4().hex[:8]}"
    roots = {
        "blocked_account": (await post(bob))["id"],
        "muted_account": (await post(cat))["id"],
        "unauthorized": (await post(dan))["id"],
        "deleted": (await post(joe))["id"],
        "blocked_domain": await said_elsewhere(town, far),
        "accepted": (await post(joe))["id"],
        "pending": (await post(joe))["id"],
        "rejected": (await post(joe))["id"],
    }

    async def quoted() -> dict[str, str]:
        return {state: (await post(ada, f"see #{tag}", quoted_status_id=root))["id"] for state, root in roots.items()}

    early = await quoted()
    await settle(town)

    # when
    await eve.to(bob, "block")
    await eve.to(cat, "mute")
    await dan.to(eve, "block")
    await eve.post("/api/v1/domain_blocks", json={"domain": far.domain})
    late = await quoted()
    await joe.delete(f"/api/v1/statuses/{roots['deleted']}")
    async with town.house() as house, house.works.begin() as work:
        for made in (early, late):
            for state in ("pending", "rejected"):
                await statuses.change(work.db, StatusId(int(made[state])), {"quote_state": state})
            # Whoever lives elsewhere says so themselves.
            await statuses.change(work.db, StatusId(int(made["blocked_domain"])), {"quote_state": "accepted"})
    await settle(town)

    # then
    shown = ("accepted",)
    expected = sorted((id, state, state in shown) for made in (early, late) for state, id in made.items())
    for name, states in (await _states(eve, tag, kept["id"])).items():
        assert sorted(one for one in states if one in expected or name != "public") == expected, name


async def test_quotes_from_a_blocked_domain_are_left_out(town: Town) -> None:
    ada, eve = await join_all(town, 2)
    far = await stranger(town, f"{uuid.uuid4().hex[:8]}.example")
    root = (await post(ada))["id"]
    tag = f"q{uuid.uuid4().hex[:8]}"
    quote = await said_elsewhere(town, far, quoted_id=int(root), quote_state="accepted", tag_names=[tag])
    lists = (f"/api/v1/timelines/tag/{tag}", "/api/v1/timelines/public", f"/api/v1/statuses/{root}/quotes")
    assert [quote in await ids(eve, path) for path in lists] == [True, True, True]

    await eve.post("/api/v1/domain_blocks", json={"domain": far.domain})

    assert [quote in await ids(eve, path) for path in lists] == [False, False, False]
    assert [quote in await ids(ada, path) for path in lists] == [True, True, True]
