"""What somebody still gets of a status that is not shown to them any more, and what its author keeps hold of."""

from __future__ import annotations

import asyncio

import pytest

from tests.social.members import join_all
from tests.social.posts import post, settle
from tests.town import Town

pytestmark = pytest.mark.both_databases


async def test_taking_back_a_mark_does_not_show_what_was_written_since(town: Town) -> None:
    author, viewer = await join_all(town, 2)
    await viewer.to(author, "follow")
    verbs = ("bookmark", "favourite", "reblog")
    made = {verb: await post(author, f"harmless {verb}", visibility="public") for verb in verbs}
    for verb, one in made.items():
        await viewer.post(f"/api/v1/statuses/{one['id']}/{verb}")
    await author.to(viewer, "block")
    await settle(town)
    for one in made.values():
        changed = {"status": "only for friends", "spoiler_text": "still only for them"}
        assert (await author.call("PUT", f"/api/v1/statuses/{one['id']}", json=changed)).status_code == 200

    for verb, one in made.items():
        assert (await viewer.call("GET", f"/api/v1/statuses/{one['id']}")).status_code == 404
        answer = await viewer.call("POST", f"/api/v1/statuses/{one['id']}/un{verb}")
        if answer.status_code == 404:
            continue  # a block has taken the boost back already
        told = answer.json()
        assert (answer.status_code, told["id"], told["content"], told["spoiler_text"]) == (200, one["id"], "", "")
        assert "friends" not in answer.text
        assert not told.get({"bookmark": "bookmarked", "favourite": "favourited", "reblog": "reblogged"}[verb])


async def test_a_quote_is_taken_back_by_whoever_is_quoted_though_they_cannot_see_it(town: Town) -> None:
    author, quoter, third = await join_all(town, 3)
    quoted = await post(author, "quotable", quote_approval_policy="public")
    shown = await post(quoter, "look at this", quoted_status_id=quoted["id"])
    await quoter.to(author, "block")
    await settle(town)
    path = f"/api/v1/statuses/{quoted['id']}/quotes/{shown['id']}/revoke"

    assert (await third.call("POST", path)).status_code == 403
    assert (await author.post(path))["content"] == ""  # they still may not read it
    await settle(town)

    assert (await third.get(f"/api/v1/statuses/{shown['id']}"))["quote"]["state"] == "revoked"


async def test_limits_hold_for_those_who_ask_many_times_at_once(town: Town) -> None:
    [ada] = await join_all(town, 1)
    posts = [await post(ada, f"number {number}") for number in range(8)]

    await asyncio.gather(*(ada.call("POST", f"/api/v1/statuses/{one['id']}/pin") for one in posts))
    edits = [{"status": f"edit {number}"} for number in range(6)]
    await asyncio.gather(*(ada.call("PUT", f"/api/v1/statuses/{posts[0]['id']}", json=edit) for edit in edits))

    pinned = await ada.get(f"/api/v1/accounts/{ada.id}/statuses", params={"pinned": "true"})
    assert len(pinned) == 5
    history = await ada.get(f"/api/v1/statuses/{posts[0]['id']}/history")
    assert [one["content"] for one in history].count("<p>number 0</p>") == 1


async def test_a_post_is_edited_and_deleted_at_once(town: Town) -> None:
    """With all that an edit writes to before it comes to the post itself."""
    [ada] = await join_all(town, 1)
    await ada.post("/api/v1/featured_tags", json={"name": "tea"})
    for _ in range(4):
        made = await post(ada, "?", poll={"options": ["a", "b"], "expires_in": 600})
        path, poll = f"/api/v1/statuses/{made['id']}", {"options": ["a", "c"], "expires_in": 600}
        edits = (ada.call("PUT", path, json={"status": f"#tea {n}", "poll": poll}) for n in range(3))
        deleted, *edited = await asyncio.gather(ada.call("DELETE", path), *edits)

        assert deleted.status_code == 200
        assert {answer.status_code for answer in edited} <= {200, 404}
        assert (await ada.call("GET", path)).status_code == 404
