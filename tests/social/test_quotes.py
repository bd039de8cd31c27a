"""What is quoted is shown as its viewer stands with whoever wrote it."""

from __future__ import annotations

from typing import Any

from tests.social.members import Member, join_all
from tests.social.posts import does, post, settle
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
    assert await seen(eve) == (("muted_account", root),) * 2
    await eve.to(ada, "block")
    assert await seen(eve) == (("blocked_account", root),) * 2
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
