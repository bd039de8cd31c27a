"""What client apps send and ask although no page of Mastodon's names it, or names it no more."""

from __future__ import annotations

from typing import Any

import pytest

from kith.social.text.parts import LONGEST_TAG, is_tag, written_tag
from tests.social.members import join, join_all
from tests.social.posts import post, settle
from tests.town import Town

REQUESTS = "/api/v1/notifications/requests"


@pytest.mark.parametrize("verb", ["accept", "dismiss"])
@pytest.mark.parametrize("sent", [{}, {"id": []}])
async def test_no_requests_are_accepted_or_dismissed(town: Town, verb: str, sent: dict[str, Any]) -> None:
    ada = await join(town)
    answer = await ada.call("POST", f"{REQUESTS}/{verb}", json=sent)
    assert (answer.status_code, answer.json()) == (200, {})


async def test_trends_are_hashtags_at_their_older_address(town: Town) -> None:
    answers = [await town.http.get(f"/api/v1/{path}", params={"limit": 5}) for path in ("trends", "trends/tags")]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()


async def test_there_is_no_campaign_to_show(town: Town) -> None:
    ada = await join(town)
    answer = await ada.call("GET", "/api/v1/donation_campaigns", params={"platform": "ios", "seed": 3})
    assert (answer.status_code, answer.content) == (204, b"")
    assert (await town.http.get("/api/v1/donation_campaigns")).status_code == 401


@pytest.mark.parametrize("given", [":mini", "%23mini", "#mini", " Mini ", "mini!"])
async def test_a_tag_is_found_with_signs_around_it(town: Town, given: str) -> None:
    ada, bob = await join_all(town, 2)
    said = await post(ada, "hello #mini")
    await settle(town)

    path = given.replace("#", "%23")
    assert said["id"] in [one["id"] for one in await bob.get(f"/api/v1/timelines/tag/{path}")]
    assert (await bob.get(f"/api/v1/tags/{path}"))["name"].lower() == "mini"
    assert (await bob.post(f"/api/v1/tags/{path}/follow"))["following"] is True
    assert "mini" in [one["name"].lower() for one in await bob.get("/api/v1/followed_tags")]


@pytest.mark.parametrize("given", [":", "!!!", "", "1", "a b", "x" * (LONGEST_TAG + 1)])
async def test_what_can_be_no_tag_is_not_there(town: Town, given: str) -> None:
    assert not is_tag(written_tag(given))
    if given:
        assert (await town.http.get(f"/api/v1/tags/{given}")).status_code == 404
        assert (await town.http.get(f"/api/v1/timelines/tag/{given}")).json() == []
