from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import bindparam, update

from kith.base.db import Instant, command
from kith.identity.users.tables import users
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId
from tests.conftest import TownBuilder
from tests.social.members import Member, join, set_state, stranger, until
from tests.social.posts import post
from tests.social.samples import gif, image_file
from tests.social.shapes import ACCOUNT, EMOJI, PAGE, check, entity
from tests.social.tokens import new_app
from tests.town import Town

_is_named = users.c.username == bindparam("name")
_joined_at = command(
    update(users)
    .where(_is_named)
    .values(
        created_at=bindparam("made", type_=Instant()),
        confirmed_at=bindparam("confirmed", type_=Instant()),
        approved_at=bindparam("approved", type_=Instant()),
    )
)
_waits = command(update(users).where(_is_named).values(approved_at=None))
KEPT = "public, max-age=300, stale-while-revalidate=30, stale-if-error=86400"
RULE = entity("Rule")
V1 = entity("V1Instance")
V2 = entity("Instance")
TAKEN = {
    "image": "jpeg png gif heic heif webp avif",
    "video": "webm mp4 quicktime ogg x-ms-asf",
    "audio": "wave wav x-wav x-pn-wave vnd.wave ogg vorbis mpeg mp3 webm flac aac m4a x-m4a mp4 3gpp",
}
OPEN = (
    "/api/v1/instance/peers",
    "/api/v1/instance/activity",
    "/api/v1/instance/rules",
    "/api/v1/instance/extended_description",
    "/api/v1/instance/privacy_policy",
    "/api/v1/instance/translation_languages",
    "/api/v1/instance/languages",
    "/api/v1/peers/search?q=a",
    "/api/v1/custom_emojis",
)


@pytest.mark.parametrize(("path", "shape"), [("/api/v1/instance", V1), ("/api/v2/instance", V2)])
async def test_the_instance_tells_about_itself_to_anyone(town: Town, path: str, shape: Any) -> None:
    await town.owner()

    answer = await town.http.get(path)

    assert answer.status_code == 200
    check(answer.json(), shape)
    assert answer.json()["version"].startswith("4.")
    assert answer.headers["cache-control"] == KEPT
    assert "authorization" not in answer.headers.get("vary", "").lower()
    assert answer.headers.get("deprecation") == ("@1668384000" if "v1" in path else None)
    named = answer.json().get("uri") or answer.json()["domain"]
    assert named == f"127.0.0.1:{town.port}"
    assert set(answer.json()["configuration"]["media_attachments"]["supported_mime_types"]) == {
        f"{family}/{name}" for family, names in TAKEN.items() for name in names.split()
    }


@pytest.mark.parametrize("path", OPEN)
async def test_what_is_the_same_for_everybody_may_be_kept(town: Town, path: str) -> None:
    answer = await town.http.get(path)

    assert answer.status_code == 200
    assert answer.headers["cache-control"] == KEPT
    assert "authorization" not in answer.headers.get("vary", "").lower()


async def test_its_numbers_are_counted_and_its_words_are_the_operators(new_town: TownBuilder) -> None:
    # given
    town = await new_town(title="Our Town", description="Hello there", registrations="approval", minimum_age="16")
    before = (await town.http.get("/api/v1/instance")).json()
    ada = await join(town)
    await town.kith("users", "create", "unconfirmed", "--email", "u@example.org", "--password", "something 1")
    await stranger(town, "b.example")
    await stranger(town, "a.example")
    await stranger(town, "a.example")
    for visibility in ("public", "unlisted", "private", "direct"):
        await ada.post("/api/v1/statuses", json={"status": visibility, "visibility": visibility})

    # when
    async def is_counted() -> bool:
        told = (await town.http.get("/api/v2/instance")).json()["usage"]["users"]["active_month"]
        weeks = (await town.http.get("/api/v1/instance/activity")).json()
        return bool(told == 1 and weeks[0]["statuses"] == "2" and weeks[0]["logins"] == "1")

    await until(is_counted)

    # then
    assert before["stats"] == {"user_count": 0, "status_count": 0, "domain_count": 0}

    async def is_right() -> bool:
        stats = (await town.http.get("/api/v1/instance")).json()["stats"]
        return bool(stats["user_count"] == 1 and stats["domain_count"] == 2 and stats["status_count"] >= 3)

    await until(is_right)
    after = (await town.http.get("/api/v2/instance")).json()
    assert (after["title"], after["description"]) == ("Our Town", "Hello there")
    assert after["registrations"] == {
        "enabled": True,
        "approval_required": True,
        "reason_required": True,
        "message": None,
        "min_age": 16,
        "url": None,
    }
    assert (await town.http.get("/api/v1/instance/peers")).json() == ["a.example", "b.example"]
    assert (await town.http.get("/api/v1/peers/search", params={"q": "B."})).json() == ["b.example"]
    assert (await town.http.get("/api/v1/peers/search", params={"q": "%"})).json() == []


async def test_activity_is_twelve_weeks_of_words(town: Town) -> None:
    await join(town)

    weeks = (await town.http.get("/api/v1/instance/activity")).json()

    check(weeks, [{"week": "digits", "statuses": "digits", "logins": "digits", "registrations": "digits"}])
    starts = [int(week["week"]) for week in weeks]
    assert len(weeks) == 12
    assert all(one - other == 7 * 86400 for one, other in pairwise(starts))
    assert 0 <= time.time() - starts[0] < 2 * 86400
    assert int(weeks[0]["registrations"]) >= 1


async def test_people_count_from_when_they_became_members(new_town: TownBuilder) -> None:
    town = await new_town()
    *names, waiting = [(await join(town)).name for _ in range(4)]
    weeks_ago = [(9, 9, 9), (9, 9, 5), (9, 5, 9)]  # made, confirmed, approved
    async with town.house() as house, house.works.begin() as work:
        for name, ago in zip(names, weeks_ago, strict=True):
            at = [work.now - timedelta(weeks=weeks, days=-1) for weeks in ago]
            await work.db.run(_joined_at, name=name, made=at[0], confirmed=at[1], approved=at[2])
        await work.db.run(_waits, name=waiting)

    weeks = (await town.http.get("/api/v1/instance/activity")).json()

    counted = {place: int(week["registrations"]) for place, week in enumerate(weeks) if week["registrations"] != "0"}
    assert counted == {9: 1, 5: 2}


async def test_peers_and_activity_can_be_kept_to_oneself(new_town: TownBuilder) -> None:
    town = await new_town(publish_peers="off", publish_activity="off")

    for path in ("/api/v1/instance/peers", "/api/v1/peers/search?q=a", "/api/v1/instance/activity"):
        answer = await town.http.get(path)
        assert (answer.status_code, answer.content) == (404, b"")


async def test_a_closed_server_answers_only_its_people(new_town: TownBuilder) -> None:
    # given
    town = await new_town(secure_mode="on")
    ada = await join(town)
    app = await new_app(town, "read")
    own_token = {"Authorization": f"Bearer {await app.token('read')}"}
    posted = await ada.post("/api/v1/statuses", json={"status": "Hello"})
    closed = (
        *OPEN,
        "/api/v1/timelines/public",
        "/api/v1/timelines/tag/x",
        f"/api/v1/statuses/{posted['id']}",
        f"/api/v1/accounts/{ada.id}",
        "/api/v2/search?q=abc",
        "/api/v1/directory",
    )

    # then
    for path in closed:
        refused = await town.http.get(path)
        assert (refused.status_code, refused.json()) == (
            401,
            {"error": "This method requires an authenticated user"},
        ), path
        assert (await town.http.get(path, headers=own_token)).status_code == 401, path
        answer = await ada.call("GET", path)
        assert answer.status_code == 200, path
        assert answer.headers["cache-control"] == "private, no-store"
    for path in ("/api/v1/instance", "/api/v2/instance"):
        assert (await town.http.get(path)).status_code == 200
    access = (await town.http.get("/api/v2/instance")).json()["configuration"]["timelines_access"]
    assert access["live_feeds"] == {"local": "authenticated", "remote": "authenticated"}


async def test_the_operator_writes_rules(new_town: TownBuilder) -> None:
    # given
    town = await new_town()
    await town.kith("instance", "rules", "add", "Be kind")
    await town.kith("instance", "rules", "add", "No spam", "--hint", "Nothing to buy here")

    async def texts() -> list[str]:
        return [rule["text"] for rule in (await town.http.get("/api/v1/instance/rules")).json()]

    assert await texts() == ["Be kind", "No spam"]

    # when
    first = (await town.http.get("/api/v1/instance/rules")).json()[0]
    await town.kith("instance", "rules", "remove", first["id"])

    # then
    assert await texts() == ["No spam"]
    assert "No spam" in await town.kith("instance", "rules", "list")
    [shown] = (await town.http.get("/api/v2/instance")).json()["rules"]
    assert (shown["text"], shown["hint"]) == ("No spam", "Nothing to buy here")
    assert "no rule" in await town.kith("instance", "rules", "remove", "1", expect=1)
    assert "letters" in await town.kith("instance", "rules", "add", "x" * 301, expect=1)


async def test_whoever_uses_the_server_is_offered_its_source(new_town: TownBuilder) -> None:
    page = "https://code.example/our-kith/tree/0.1.0"
    town, silent = await new_town(source_url=page), await new_town()

    assert (await town.http.get("/api/v2/instance")).json()["source_url"] == page
    assert (await town.http.get("/nodeinfo/2.1")).json()["software"]["repository"] == page
    for path in ("/about", "/flows/default-authentication-flow/"):
        assert f'href="{page}"' in (await town.http.get(path)).text, path
        assert "Source code" not in (await silent.http.get(path)).text, path
    assert page in await town.kith("check", "--inside")
    assert "set KITH_SOURCE_URL" in await silent.kith("check", "--inside")


async def test_the_operator_writes_pages(new_town: TownBuilder, tmp_path: Path) -> None:
    # given
    town = await new_town()
    empty = (await town.http.get("/api/v1/instance/extended_description")).json()
    file = tmp_path / "page"
    today = datetime.now(UTC).date()
    later = (today + timedelta(days=30)).isoformat()

    async def write(kind: str, text: str, *more: str) -> None:
        file.write_text(text)
        await town.kith("instance", "page", kind, str(file), *more)

    async def read(name: str) -> Any:
        answer = await town.http.get(f"/api/v1/instance/{name}")
        return answer.json() if answer.status_code == 200 else answer.status_code

    async def has_address() -> bool:
        urls = (await town.http.get("/api/v2/instance")).json()["configuration"]["urls"]
        return bool(urls["terms_of_service"] == f"{town.base_url}/terms-of-service")

    # when
    await write("extended_description", "Who we are\n\nhttps://example.org")
    await write("privacy_policy", "<h2>Privacy</h2><script>alert(1)</script><p onclick='x()'>Little</p>")

    # then
    check(empty, PAGE)
    assert empty == {"updated_at": None, "content": ""}
    assert (await read("extended_description"))["content"].startswith("<p>Who we are</p><p><a href=")
    assert (await read("privacy_policy"))["content"] == "<h2>Privacy</h2><p>Little</p>"

    # when
    assert await read("terms_of_service") == 404
    assert not await has_address()
    await write("terms_of_service", "Old terms", "--from", "2024-01-01")
    await write("terms_of_service", "Newer terms", "--from", "2024-06-01")
    await write("terms_of_service", "Terms to come", "--from", later)

    # then
    assert await read("terms_of_service") == {
        "effective_date": "2024-06-01", "effective": True, "content": "<p>Newer terms</p>", "succeeded_by": later,
    }  # fmt: skip
    await until(has_address)
    assert await read("terms_of_service/2024-01-01") == {
        "effective_date": "2024-01-01",
        "effective": False,
        "content": "<p>Old terms</p>",
        "succeeded_by": "2024-06-01",
    }
    assert (await read(f"terms_of_service/{later}"))["effective"] is False
    assert await read("terms_of_service/2024-02-02") == 404

    # when
    await write("privacy_policy", "")

    # then
    assert (await read("privacy_policy"))["content"] == ""


async def test_the_operator_brings_emoji(new_town: TownBuilder, tmp_path: Path) -> None:
    # given
    town = await new_town()
    ada = await join(town)
    still, moving, other = tmp_path / "still.png", tmp_path / "moving.gif", tmp_path / "other.txt"
    still.write_bytes(image_file("PNG", (32, 32)))
    moving.write_bytes(gif(3, (16, 16)))
    other.write_text("no picture")

    # when
    await town.kith("emoji", "add", "blob_cat", str(still), "--category", "Cats")
    await town.kith("emoji", "add", "party", str(moving))
    await town.kith("emoji", "add", "secret", str(still), "--hidden")

    # then
    shown = (await town.http.get("/api/v1/custom_emojis")).json()
    check(shown, [EMOJI])
    assert [(emoji["shortcode"], emoji.get("category")) for emoji in shown] == [("blob_cat", "Cats"), ("party", None)]
    assert shown[0]["static_url"] == shown[0]["url"]
    assert shown[1]["static_url"] != shown[1]["url"]
    for url in (shown[0]["url"], shown[1]["url"], shown[1]["static_url"]):
        assert (await town.http.get(url)).headers["content-type"].startswith("image/")
    posted = await ada.post("/api/v1/statuses", json={"status": "Hello :party: and :secret:"})
    assert [emoji["shortcode"] for emoji in posted["emojis"]] == ["party", "secret"]
    assert "blob_cat" in await town.kith("emoji", "list")
    assert "already" in await town.kith("emoji", "add", "party", str(still), expect=1)
    assert "picture" in await town.kith("emoji", "add", "text", str(other), expect=1)
    assert "shortcode" in await town.kith("emoji", "add", "no way", str(still), expect=1)

    # when
    await town.kith("emoji", "remove", "party")

    # then, though for a moment on PostgreSQL the answer may be the one from before
    async def is_gone() -> bool:
        return [emoji["shortcode"] for emoji in (await town.http.get("/api/v1/custom_emojis")).json()] == ["blob_cat"]

    await until(is_gone)


async def test_the_directory_lists_those_who_want_to_be_found(new_town: TownBuilder) -> None:
    # given
    town = await new_town()
    ada, bob, eve, shy = [await join(town) for _ in range(4)]
    for member in (ada, bob, eve):
        await member.patch("/api/v1/accounts/update_credentials", json={"discoverable": True})
    far = await stranger(town, discoverable=True)
    for member in (bob, ada):
        await member.post("/api/v1/statuses", json={"status": "Hello"})

    async def names(**params: Any) -> list[str]:
        answer = await town.http.get("/api/v1/directory", params=params)
        check(answer.json(), [ACCOUNT])
        return [account["acct"] for account in answer.json()]

    # then
    assert await names() == [ada.name, bob.name, far.acct, eve.name]
    assert await names(order="new") == [far.acct, eve.name, bob.name, ada.name]
    assert await names(local="true", limit=2) == [ada.name, bob.name]
    assert await names(local="true", limit=2, offset=2) == [eve.name]

    # when
    await set_state(town, bob.id, lambda work: {"silenced_at": work.now})
    await shy.to(ada, "block")

    # then
    assert await names(local="true") == [ada.name, eve.name]
    assert [one["acct"] for one in await shy.get("/api/v1/directory", params={"local": "true"})] == [eve.name]


async def test_nobody_sees_when_somebody_wrote_a_direct_message(town: Town) -> None:
    ada = await join(town)
    await post(ada, "Good morning")
    before = (await ada.refreshed())["last_status_at"], (await _times(town, ada))
    await post(ada, "Just for me", visibility="direct")
    assert ((await ada.refreshed())["last_status_at"], (await _times(town, ada))) == before
    await post(ada, "Good evening", visibility="private")
    assert await _times(town, ada) != before[1]


async def _times(town: Town, member: Member) -> object:
    async with town.house() as house:
        found = await accounts.find(house.works.open().db, AccountId(int(member.id)))
    assert found is not None
    return found.last_status_at


async def test_there_may_be_no_directory(new_town: TownBuilder) -> None:
    town = await new_town(publish_directory="off")

    answer = await town.http.get("/api/v1/directory")

    assert (answer.status_code, answer.json()) == (404, {"error": "Not Found"})


async def test_the_plural_leads_to_the_singular(town: Town) -> None:
    answer = await town.http.get("/api/v1/instances")

    assert answer.status_code == 301
    assert answer.headers["location"] == "/api/v1/instance"


async def test_languages_are_those_one_can_post_in(town: Town) -> None:
    told = (await town.http.get("/api/v1/instance/languages")).json()

    assert {"code": "de", "name": "German"} in told
    assert (await town.http.get("/api/v1/instance/translation_languages")).json() == {}


@pytest.mark.parametrize(
    ("shown", "to_anybody", "to_members"), [("off", 404, 404), ("members", 404, 200), ("on", 200, 200)]
)
async def test_who_is_told_of_blocked_servers(
    new_town: TownBuilder, shown: str, to_anybody: int, to_members: int
) -> None:
    town = await new_town(**({} if shown == "off" else {"publish_domain_blocks": shown}))
    ada = await join(town)
    path = "/api/v1/instance/domain_blocks"
    for answer, status in ((await town.http.get(path), to_anybody), (await ada.call("GET", path), to_members)):
        assert (answer.status_code, answer.text) == (status, "[]" if status == 200 else "")


async def test_every_address_it_tells_of_leads_somewhere(town: Town) -> None:
    told = (await town.http.get("/api/v2/instance")).json()
    before = (await town.http.get("/api/v1/instance")).json()
    urls = {name: url for name, url in told["configuration"]["urls"].items() if name != "streaming"}
    assert sorted(urls) == ["about", "privacy_policy", "status", "terms_of_service"]
    there = [url for url in urls.values() if url is not None]  # terms may not be written yet
    for url in (*there, told["thumbnail"]["url"], before["thumbnail"]):
        assert (await town.http.get(url)).status_code == 200, url
