"""That a post is quoted with leave is told to whoever may see the post that quotes it."""

from __future__ import annotations

from tests.federation.neighbour import ACTIVITY
from tests.social.members import join
from tests.social.posts import post
from tests.town import Town


async def test_a_stamp_does_not_tell_strangers_of_a_post_that_they_may_not_see(town: Town) -> None:
    ada, bob = await join(town), await join(town)
    said = await post(ada, "quote me")
    status = {}
    for visibility in ("public", "unlisted", "private"):
        quoting = await post(bob, "look", visibility=visibility, quoted_status_id=said["id"])
        assert quoting["quote"]["state"] == "accepted"
        path = f"/users/{ada.name}/quote_authorizations/{quoting['id']}"
        status[visibility] = (await town.http.get(path, headers={"Accept": ACTIVITY})).status_code

    assert status == {"public": 200, "unlisted": 200, "private": 404}
