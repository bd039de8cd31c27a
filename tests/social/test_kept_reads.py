"""What is kept in memory is never old: whatever is written is there with the next read, also from another process."""

from __future__ import annotations

import io
from typing import Any

from PIL import Image

from kith.social.accounts import store as accounts
from kith.social.emojis import custom_emojis as emojis
from kith.social.ids import AccountId
from kith.social.instance import service as instance
from tests.social.members import Member, join_all, until
from tests.social.posts import post, settle
from tests.town import Town


async def twice(member: Member, path: str) -> Any:
    """Read it, and once more, now that it may be kept."""
    first = await member.get(path)
    assert await member.get(path) == first
    return first


async def test_one_s_own_account(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    path = "/api/v1/accounts/verify_credentials"
    assert (await twice(ada, path))["display_name"] == ""

    await ada.patch("/api/v1/accounts/update_credentials", json={"display_name": "Ada", "locked": True})
    shown = await twice(ada, path)
    assert (shown["display_name"], shown["locked"], shown["source"]["privacy"]) == ("Ada", True, "private")

    await ada.patch("/api/v1/accounts/update_credentials", json={"source": {"language": "de", "sensitive": True}})
    assert (await twice(ada, path))["source"] | {"language": "de", "sensitive": True} == (await ada.get(path))["source"]

    await bob.post(f"/api/v1/accounts/{ada.id}/follow")
    assert (await twice(ada, path))["source"]["follow_requests_count"] == 1
    await ada.post(f"/api/v1/follow_requests/{bob.id}/authorize")
    shown = await twice(ada, path)
    assert (shown["source"]["follow_requests_count"], shown["followers_count"]) == (0, 1)

    await post(ada, "hello")
    assert (await twice(ada, path))["statuses_count"] == 1


async def test_somebody_s_account_written_to_by_another_process(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    path = f"/api/v1/accounts/{bob.id}"
    assert (await twice(ada, path))["display_name"] == ""
    async with town.house() as house, house.works.begin() as work:
        await accounts.change(work.db, AccountId(int(bob.id)), {"display_name": "Bob"}, work.now)
    assert (await twice(ada, path))["display_name"] == "Bob"
    assert (await twice(bob, "/api/v1/accounts/verify_credentials"))["display_name"] == "Bob"


async def test_what_there_is_between_two(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    path = f"/api/v1/accounts/relationships?id[]={bob.id}&id[]={ada.id}"
    assert (await twice(ada, path))[0]["following"] is False
    for verb, key, value in (
        ("follow", "following", True),
        ("unfollow", "following", False),
        ("mute", "muting", True),
        ("unmute", "muting", False),
        ("block", "blocking", True),
        ("unblock", "blocking", False),
    ):
        await ada.post(f"/api/v1/accounts/{bob.id}/{verb}")
        assert (await twice(ada, path))[0][key] is value
    await bob.post(f"/api/v1/accounts/{ada.id}/follow")
    assert (await twice(ada, path))[0]["followed_by"] is True


async def test_lists_and_markers(town: Town) -> None:
    [ada] = await join_all(town, 1)
    assert await twice(ada, "/api/v1/lists") == []
    made = await ada.post("/api/v1/lists", json={"title": "Friends"})
    assert await twice(ada, "/api/v1/lists") == [made]
    changed = await ada.does("PUT", f"/api/v1/lists/{made['id']}", json={"title": "All"})
    assert await twice(ada, "/api/v1/lists") == [changed]
    await ada.delete(f"/api/v1/lists/{made['id']}")
    assert await twice(ada, "/api/v1/lists") == []

    markers = "/api/v1/markers?timeline[]=home&timeline[]=notifications"
    assert await twice(ada, markers) == {}
    for number in ("5", "7"):
        await ada.post("/api/v1/markers", json={"home": {"last_read_id": number}})
        assert (await twice(ada, markers))["home"]["last_read_id"] == number
    assert await twice(ada, "/api/v1/markers?timeline[]=notifications") == {}


async def test_searching(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    path = f"/api/v2/search?type=accounts&q={bob.name}"
    assert (await twice(ada, path))["accounts"][0]["display_name"] == ""
    await bob.patch("/api/v1/accounts/update_credentials", json={"display_name": "Bob"})
    assert (await twice(ada, path))["accounts"][0]["display_name"] == "Bob"
    tagged = f"/api/v2/search?type=hashtags&q=kept{bob.name.replace('_', '')}"
    assert (await twice(ada, tagged))["hashtags"] == []
    await post(bob, f"#kept{bob.name.replace('_', '')}")
    await settle(town)
    assert len((await twice(ada, tagged))["hashtags"]) == 1


async def test_the_server_itself(town: Town) -> None:
    """On PostgreSQL its description and its emoji may be two seconds old, whoever asked for them then."""
    [ada] = await join_all(town, 1)
    before = len(await twice(ada, "/api/v1/instance/rules"))

    async def shows(count: int, *, emoji: bool) -> bool:
        rules = [len((await ada.get(f"/api/{version}/instance"))["rules"]) for version in ("v1", "v2")]
        there = "kept" in [one["shortcode"] for one in await ada.get("/api/v1/custom_emojis")]
        return (rules, there) == ([count, count], emoji)

    async def soon_shows(count: int, *, emoji: bool) -> None:
        if town.engine == "postgresql":
            await until(lambda: shows(count, emoji=emoji))
        assert await shows(count, emoji=emoji)

    await soon_shows(before, emoji=False)
    async with town.house() as house, house.works.begin() as work:
        await emojis.add(work, "kept", io.BytesIO(_picture()), category=None, visible=True)
        await instance.add_rule(work, "Be kind")
    assert len(await twice(ada, "/api/v1/instance/rules")) == before + 1
    await soon_shows(before + 1, emoji=True)


def _picture() -> bytes:
    picture = io.BytesIO()
    Image.new("RGB", (20, 20)).save(picture, "PNG")
    return picture.getvalue()


async def test_the_state_of_a_file(town: Town) -> None:
    [ada] = await join_all(town, 1)
    files = {"file": ("a.png", _picture(), "image/png")}
    made = await ada.post("/api/v1/media", files=files, data={"description": "one"})
    path = f"/api/v1/media/{made['id']}"
    assert (await twice(ada, path))["description"] == "one"
    await ada.does("PUT", path, json={"description": "two"})
    assert (await twice(ada, path))["description"] == "two"
    await ada.delete(path)
    assert (await ada.call("GET", path)).status_code == 404


async def test_notifications(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    path = "/api/v1/notifications"
    assert await twice(ada, path) == []
    said = await post(ada, "hello")
    await bob.post(f"/api/v1/statuses/{said['id']}/favourite")
    await settle(town)
    [told] = await twice(ada, path)
    assert (told["type"], told["account"]["id"], told["status"]["favourites_count"]) == ("favourite", bob.id, 1)
    assert (told["status"]["bookmarked"], told["status"]["pinned"]) == (False, False)

    await ada.post(f"/api/v1/statuses/{said['id']}/bookmark")
    await ada.post(f"/api/v1/statuses/{said['id']}/pin")
    [told] = await twice(ada, path)
    assert (told["status"]["bookmarked"], told["status"]["pinned"]) == (True, True)

    await bob.patch("/api/v1/accounts/update_credentials", json={"display_name": "Bob"})
    await ada.does("PUT", f"/api/v1/statuses/{said['id']}", json={"status": "hello again"})
    [told] = [one for one in await twice(ada, path) if one["type"] == "favourite"]
    assert (told["account"]["display_name"], "again" in told["status"]["content"]) == ("Bob", True)
    assert (await ada.get(f"{path}/{told['id']}")) == told

    await ada.post(f"{path}/{told['id']}/dismiss")
    assert await twice(ada, path) == []


async def test_what_is_not_kept_after_a_rollback(town: Town) -> None:
    """A version that never was comes again with something else behind it."""
    ada, bob = await join_all(town, 2)
    path = "/api/v1/accounts/verify_credentials"
    sent = {"display_name": "Never", "source": {"privacy": "nonsense"}}
    assert (await ada.call("PATCH", "/api/v1/accounts/update_credentials", json=sent)).status_code == 422
    assert (await twice(ada, path))["display_name"] == ""
    await ada.patch("/api/v1/accounts/update_credentials", json={"display_name": "Ada"})
    assert (await twice(bob, f"/api/v1/accounts/{ada.id}"))["display_name"] == "Ada"
