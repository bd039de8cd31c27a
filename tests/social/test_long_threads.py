"""Anybody may add to a thread without end, and whoever looks at it keeps nobody waiting."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kith.social.ids import AccountId, StatusId
from kith.social.statuses import store, threads
from tests.social.members import join
from tests.social.posts import post
from tests.social.test_timelines import Asked
from tests.town import Town


@pytest.mark.parametrize("by_member", [False, True])
async def test_what_answers_a_post_is_read_beside_the_loop(town: Town, by_member: bool) -> None:
    ada = await join(town)
    first = await post(ada, "First")
    second = await post(ada, "Second", in_reply_to_id=first["id"])

    async with town.house() as house, house.works.begin() as work:
        status = await store.find(work.db, StatusId(int(first["id"])))
        assert status is not None
        session, work.db = work.db, cast("Any", Asked(work.db))
        found = await threads.descendants(work, status, AccountId(int(ada.id)) if by_member else None)
        asked, work.db = cast("Any", work.db), session

    assert (found, asked.ways) == ([int(second["id"])], ["slow"])


async def test_only_so_many_are_looked_at(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "LOOKED_AT_FOR_STRANGERS", 4)  # the post itself is one of them
    ada = await join(town)
    first = await post(ada, "First")
    said = [await post(ada, f"Answer {number}", in_reply_to_id=first["id"]) for number in range(5)]

    async with town.house() as house, house.works.begin() as work:
        status = await store.find(work.db, StatusId(int(first["id"])))
        assert status is not None
        found = await threads.descendants(work, status, None)

    assert found == [int(one["id"]) for one in said[:3]]
