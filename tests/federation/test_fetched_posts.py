"""Posts of other servers are fetched from where they are at home: for those who look, for threads, polls and quotes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import bindparam, update

from kith.base.db import Instant, command
from kith.federation.posts import store
from kith.federation.posts.completing import CHECK_STAMPS, CheckStamps
from kith.federation.posts.tables import remote_posts
from kith.social.ids import StatusId
from kith.social.statuses.tables import polls, statuses
from tests.conftest import TownBuilder
from tests.federation.neighbour import AS, PUBLIC, Neighbour, RemotePerson, neighbour
from tests.federation.receiving import find_post, written
from tests.social.members import Member, join, until
from tests.social.posts import home, post, settle
from tests.social.samples import image_file
from tests.town import Town

_then = bindparam("then", type_=Instant())
_grow_old = command(update(statuses).where(statuses.c.id == bindparam("of")).values(created_at=_then))
_poll_is_old = command(update(polls).where(polls.c.id == bindparam("of")).values(fetched_at=_then))
_asked = command(update(remote_posts).where(remote_posts.c.status_id == bindparam("of")).values(replies_asked_at=_then))
_stamp_is_old = command(
    update(remote_posts).where(remote_posts.c.status_id == bindparam("of")).values(stamp_checked_at=_then)
)


@pytest.fixture
async def near() -> AsyncIterator[Neighbour]:
    async with neighbour() as one:
        yield one


@pytest.fixture
async def here(new_town: TownBuilder) -> Town:
    return await new_town(private_hosts="127.0.0.1")


async def resolve(member: Member, address: str) -> dict[str, Any] | None:
    found = await member.get("/api/v2/search", params={"q": address, "resolve": "true", "type": "statuses"})
    return dict(found["statuses"][0]) if found["statuses"] else None


async def sends(author: RemotePerson, town: Town, activity: dict[str, Any]) -> None:
    answer = await author.post(f"{town.base_url}/inbox", activity)
    assert answer.status_code == 202, answer.text
    await settle(town)


async def follows(member: Member, author: RemotePerson) -> None:
    """Asked for here, and accepted there."""
    await member.post("/api/v1/follows", json={"uri": author.handle})
    followed = {"type": "Follow", "actor": member.me["uri"], "object": author.uri}
    await sends(author, member.town, author.activity("Accept", followed))


async def test_a_post_is_looked_up_with_its_author_and_those_it_mentions(here: Town, near: Neighbour) -> None:
    ada, carol, dan = await join(here), near.person("carol"), near.person("dan")
    note = carol.note(
        "1", tag=[{"type": "Mention", "href": dan.uri}, {"type": "Mention", "href": f"{near.url}/users/x"}]
    )

    shown = await resolve(ada, note["id"])

    assert shown is not None
    assert shown["account"]["acct"] == carol.handle
    assert [one["acct"] for one in shown["mentions"]] == [dan.handle]
    again = await resolve(ada, note["id"])
    assert again is not None
    assert again["id"] == shown["id"]


async def test_the_address_of_an_activity_gives_the_post(here: Town, near: Neighbour) -> None:
    # given
    ada, carol, dan = await join(here), near.person("carol"), near.person("dan")
    note, shared = carol.note("1"), carol.note("2")
    near.serves("/users/carol/statuses/1/activity", carol.create(note))
    boost = dan.activity("Announce", shared["id"], id=f"{dan.uri}/statuses/9/activity", to=[PUBLIC])
    near.serves("/users/dan/statuses/9/activity", boost)
    said = await post(ada)

    # when
    found = [
        await resolve(ada, address)
        for address in (f"{note['id']}/activity", boost["id"], f"{said['uri']}/activity", f"{said['url']}/activity")
    ]

    # then
    assert [one and one["uri"] for one in found] == [note["id"], shared["id"], said["uri"], said["uri"]]
    told = json.loads(await here.kith("federation", "resolve", f"{note['id']}/activity", "--json"))
    assert told == {"id": note["id"], "acct": carol.handle, "url": note["id"], "type": "Note"}
    assert (await here.kith("federation", "resolve", carol.uri)).strip() == carol.uri


async def test_the_address_of_an_activity_gives_nobody_a_secret(here: Town, near: Neighbour) -> None:
    ada, bob, carol = await join(here), await join(here), near.person("carol")
    secret = await post(bob, "For nobody", visibility="direct")
    forged = carol.create(carol.note("1")) | {"object": secret["uri"]}
    near.serves("/users/carol/statuses/1/activity", forged)

    assert await resolve(ada, f"{secret['uri']}/activity") is None
    assert await resolve(ada, f"{carol.uri}/statuses/1/activity") is None


@pytest.mark.parametrize(
    "changes",
    [
        {"attributedTo": "https://third.example/users/eve"},
        {"id": "https://third.example/1"},
        {"type": "Tombstone"},
        {"type": "Note", "name": "rye", "content": "", "inReplyTo": "https://third.example/2"},  # a vote
        {"@context": "https://third.example/context"},
    ],
)
async def test_what_is_not_believed_is_not_kept(here: Town, near: Neighbour, changes: dict[str, Any]) -> None:
    ada, carol = await join(here), near.person("carol")
    note = carol.note("1") | changes
    near.serves("/users/carol/statuses/1", note)

    assert await resolve(ada, f"{carol.uri}/statuses/1") is None
    assert await find_post(here, f"{carol.uri}/statuses/1") is None


async def test_parents_are_fetched_one_after_the_other(here: Town, near: Neighbour) -> None:
    ada, carol, dan = await join(here), near.person("carol"), near.person("dan")
    await follows(ada, carol)
    root = dan.note("root")
    middle = dan.note("middle", inReplyTo=root["id"])
    leaf = carol.note("leaf", inReplyTo=middle["id"])

    await sends(carol, here, carol.create(leaf))

    async def is_whole() -> bool:
        kept = await find_post(here, leaf["id"])
        found = await ada.get(f"/api/v1/statuses/{kept.id}/context") if kept is not None else {"ancestors": []}
        return [one["uri"] for one in found["ancestors"]] == [root["id"], middle["id"]]

    await until(is_whole)
    await settle(here)
    assert await home(ada) == []  # an answer to somebody whom she does not follow


async def test_the_answers_to_what_is_looked_at_are_fetched(here: Town, near: Neighbour) -> None:
    ada, carol, dan = await join(here), near.person("carol"), near.person("dan")
    place = "/users/carol/statuses/first/replies"
    root = carol.note("first", replies={"type": "Collection", "id": near.url + place})
    inner = f"{near.url}/users/dan/statuses/first/replies"
    first = dan.note("first", inReplyTo=root["id"], replies=inner)
    second = carol.note("second", inReplyTo=first["id"])
    near.serves_collection(place, [first["id"], f"{near.url}/nothing", "https://third.invalid/1"])
    near.serves_collection("/users/dan/statuses/first/replies", [second, root["id"], first["id"]])
    shown = await resolve(ada, root["id"])
    assert shown is not None
    path = f"/api/v1/statuses/{shown['id']}/context"

    answer = await ada.call("GET", path)

    header = answer.headers["mastodon-async-refresh"]
    refresh = header.split('"')[1]
    assert refresh == f"context:{ada.id}:{shown['id']}"

    async def is_over() -> bool:
        told = await ada.get(f"/api/v1_alpha/async_refreshes/{refresh}")
        return bool(told["async_refresh"]["status"] == "finished")

    await until(is_over)
    answer = await ada.call("GET", path)
    assert [one["uri"] for one in answer.json()["descendants"]] == [first["id"], second["id"]]
    assert "mastodon-async-refresh" not in answer.headers
    bob = await join(here)
    assert (await bob.call("GET", f"/api/v1_alpha/async_refreshes/{refresh}")).status_code == 404


async def test_answers_to_a_young_post_are_asked_for_often(here: Town, near: Neighbour) -> None:
    ada, carol = await join(here), near.person("carol")
    place = "/users/carol/statuses/fresh/replies"
    root = carol.note("fresh", replies={"type": "Collection", "id": near.url + place})
    near.serves_collection(place, [])
    shown = await resolve(ada, root["id"])
    assert shown is not None
    path = f"/api/v1/statuses/{shown['id']}/context"

    async def asks_again(age: timedelta, asked: timedelta) -> bool:
        await settle(here)
        await _set(here, _grow_old, shown["id"], age)
        before = await _set(here, _asked, shown["id"], asked)
        await ada.call("GET", path)
        return await _asked_at(here, shown["id"]) != before

    assert await asks_again(timedelta(minutes=2), timedelta(seconds=61))
    assert not await asks_again(timedelta(minutes=2), timedelta(seconds=50))
    assert not await asks_again(timedelta(seconds=20), timedelta(seconds=20))
    assert await asks_again(timedelta(days=1), timedelta(minutes=16))
    assert not await asks_again(timedelta(days=1), timedelta(minutes=14))


async def test_a_parent_that_was_out_of_reach_is_looked_for_again(here: Town, near: Neighbour) -> None:
    ada, carol = await join(here), near.person("carol")
    answer = carol.note("answer", inReplyTo=f"{carol.uri}/statuses/root")
    shown = await resolve(ada, answer["id"])
    assert shown is not None
    await settle(here)
    root = carol.note("root")

    path = f"/api/v1/statuses/{shown['id']}/context"
    assert "mastodon-async-refresh" in (await ada.call("GET", path)).headers

    async def is_found() -> bool:
        return [one["uri"] for one in (await ada.get(path))["ancestors"]] == [root["id"]]

    await until(is_found)


async def test_answers_that_come_with_a_post_are_fetched(here: Town, near: Neighbour) -> None:
    ada, carol = await join(here), near.person("carol")
    await follows(ada, carol)
    uris = [f"{carol.uri}/statuses/r{number}" for number in range(7)]
    root = carol.note("root", replies={"type": "Collection", "first": {"type": "CollectionPage", "items": uris}})
    for number in range(7):
        carol.note(f"r{number}", inReplyTo=root["id"])

    await sends(carol, here, carol.create(root))

    async def are_there() -> bool:
        return await find_post(here, uris[4]) is not None

    await until(are_there)
    await settle(here)
    assert await find_post(here, uris[5]) is None  # five are enough


async def test_a_poll_that_is_read_is_asked_for_anew(here: Town, near: Neighbour) -> None:
    ada, carol = await join(here), near.person("carol")
    question = carol.note("1", type="Question", oneOf=_options(rye=0, wheat=0))
    shown = await resolve(ada, question["id"])
    assert shown is not None
    path = f"/api/v1/polls/{shown['poll']['id']}"
    carol.note("1", type="Question", oneOf=_options(rye=2, wheat=3), published=question["published"])

    assert (await ada.get(path))["votes_count"] == 0  # heard of just now
    await _set(here, _poll_is_old, shown["poll"]["id"], timedelta(minutes=2))
    assert (await here.http.get(path)).json()["votes_count"] == 0  # strangers make us ask nobody

    assert [one["votes_count"] for one in (await ada.get(path))["options"]] == [2, 3]


def _options(**counts: int) -> list[dict[str, Any]]:
    return [
        {"type": "Note", "name": name, "replies": {"type": "Collection", "totalItems": count}}
        for name, count in counts.items()
    ]


async def test_a_post_that_is_gone_there_is_gone_here(here: Town, near: Neighbour) -> None:
    ada, carol = await join(here), near.person("carol")
    question = carol.note("1", type="Question", oneOf=_options(rye=0, wheat=0))
    shown = await resolve(ada, question["id"])
    assert shown is not None
    near.serves("/users/carol/statuses/1", b"", status=404)
    await _set(here, _poll_is_old, shown["poll"]["id"], timedelta(minutes=2))

    answer = await ada.call("GET", f"/api/v1/polls/{shown['poll']['id']}")

    assert answer.status_code == 404
    assert (await ada.call("GET", f"/api/v1/statuses/{shown['id']}")).status_code == 404


async def test_a_quote_is_shown_once_the_word_of_the_quoted_is_found(here: Town, near: Neighbour) -> None:
    ada, carol, dan = await join(here), near.person("carol"), near.person("dan")
    await follows(ada, carol)
    quoted, forged = dan.note("quoted"), dan.note("forged")
    stamp, other = f"{dan.uri}/stamps/1", f"{dan.uri}/stamps/2"
    quoting = carol.note("quoting", quote=quoted["id"], quoteAuthorization=stamp)
    lying = carol.note("lying", quote=forged["id"], quoteAuthorization=other)
    near.serves("/users/dan/stamps/1", _stamp(stamp, dan, quoting["id"], quoted["id"]))
    near.serves("/users/dan/stamps/2", _stamp(other, dan, quoting["id"], forged["id"]))

    await sends(carol, here, carol.create(quoting))
    await sends(carol, here, carol.create(lying))

    async def is_accepted() -> bool:
        kept = await find_post(here, quoting["id"])
        return kept is not None and kept.quote_state == "accepted"

    await until(is_accepted)
    await settle(here)
    kept, lie = await find_post(here, quoting["id"]), await find_post(here, lying["id"])
    assert kept is not None
    assert lie is not None
    assert lie.quote_state == "pending"
    shown = await ada.get(f"/api/v1/statuses/{kept.id}")
    assert shown["quote"]["quoted_status"]["uri"] == quoted["id"]

    near.serves("/users/dan/stamps/1", b"", status=404)
    await _set(here, _stamp_is_old, kept.id, timedelta(days=8))
    await _check_stamps(here)

    async def is_revoked() -> bool:
        found: dict[str, Any] = await ada.get(f"/api/v1/statuses/{kept.id}")
        return bool(found["quote"]["state"] == "revoked")

    await until(is_revoked)


def _stamp(uri: str, giver: RemotePerson, quoting: str, quoted: str) -> dict[str, Any]:
    return {
        "@context": [AS, {"QuoteAuthorization": "https://w3id.org/fep/044f#QuoteAuthorization"}],
        "id": uri,
        "type": "QuoteAuthorization",
        "attributedTo": giver.uri,
        "interactingObject": quoting,
        "interactionTarget": quoted,
    }


async def _check_stamps(town: Town) -> None:
    async with town.house() as house, house.works.begin() as work:
        work.enqueue(CHECK_STAMPS, CheckStamps())


async def _set(town: Town, statement: Any, id: str | int, ago: timedelta) -> datetime:
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(statement, of=int(id), then=work.now - ago)
        return work.now - ago


async def _asked_at(town: Town, id: str | int) -> datetime | None:
    async with town.house() as house, house.works.begin() as work:
        beside = await store.find(work.db, StatusId(int(id)))
        return None if beside is None else beside.replies_asked_at


async def test_emoji_are_shown_from_here_and_are_pictures(here: Town, near: Neighbour) -> None:
    ada, carol = await join(here), near.person("carol")
    picture = image_file("PNG", (16, 16))
    icons = {"loaf": near.serves("/loaf.png", picture, type="image/png"), "trap": near.serves("/trap.png", b"<svg/>")}
    tag = [{"type": "Emoji", "name": f":{name}:", "icon": {"type": "Image", "url": url}} for name, url in icons.items()]
    note = carol.note("1", "Bread :loaf: and :trap:", tag=tag)

    shown = await resolve(ada, note["id"])

    assert shown is not None
    urls = {one["shortcode"]: one["url"] for one in shown["emojis"]}
    assert all(url.startswith(f"{here.base_url}/media/emojis/") for url in urls.values())
    for _ in range(2):
        assert (await here.http.get(urls["loaf"])).content == picture
    assert (await here.http.get(urls["trap"])).status_code == 404
    assert near.asked.count("/loaf.png") == 1

    # when the team wants no files of that server
    await here.kith("domains", "block", near.domain, "--severity", "noop", "--reject-media")
    await settle(here)

    # then
    assert (await here.http.get(urls["loaf"])).status_code == 404
    second = await resolve(ada, carol.note("2", "More :loaf2:", attachment=[_picture(near)])["id"])
    assert second is not None
    assert second["emojis"] == []
    assert [one["type"] for one in second["media_attachments"]] == ["unknown"]


def _picture(near: Neighbour) -> dict[str, Any]:
    return {"type": "Document", "mediaType": "image/png", "url": f"{near.url}/loaf.png"}


async def test_members_posts_are_known_without_asking(here: Town) -> None:
    ada, bob = await join(here), await join(here)
    said = await post(ada)

    shown = await resolve(bob, said["uri"])

    assert shown is not None
    assert shown["id"] == said["id"]


async def test_an_update_that_names_only_an_id_is_fetched(here: Town, near: Neighbour) -> None:
    ada, carol = await join(here), near.person("carol")
    await follows(ada, carol)
    begun = datetime.now(UTC) - timedelta(minutes=10)
    note = carol.note("1", "first", published=written(begun))
    await sends(carol, here, carol.create(note))
    carol.note("1", "second", published=written(begun), updated=written())

    await sends(carol, here, carol.activity("Update", note["id"]))

    async def is_edited() -> bool:
        kept = await find_post(here, note["id"])
        return kept is not None and kept.content == "<p>second</p>"

    await until(is_edited)


async def test_the_page_that_a_post_is_about_becomes_its_card(here: Town, near: Neighbour) -> None:
    """As Lemmy and its like tell of it: beside the text, which links to something else."""
    # given
    ada, carol = await join(here), near.person("carol")
    await follows(ada, carol)
    pages = {
        name: near.serves(f"/{name}", f"<title>{name.title()}</title>".encode(), type="text/html")
        for name in ("article", "aside", "other")
    }

    def about(page: str) -> dict[str, Any]:
        return {"attachment": [{"type": "Link", "href": pages[page]}]}

    async def shows(uri: str, title: str) -> None:
        kept = await find_post(here, uri)
        assert kept is not None

        async def is_so() -> bool:
            card = (await ada.get(f"/api/v1/statuses/{kept.id}"))["card"]
            return card is not None and bool(card["title"] == title)

        await until(is_so)

    told = carol.note("1", f'<a href="{pages["aside"]}">aside</a>', **about("article"))

    # when
    await sends(carol, here, carol.create(told))

    # then
    await shows(told["id"], "Article")

    # and
    edited = told | about("other") | {"updated": written(datetime.now(UTC))}
    await sends(carol, here, carol.activity("Update", edited))
    await shows(told["id"], "Other")

    # and
    plain = carol.note("2", f'<a href="{pages["aside"]}">aside</a>', attachment=[{"type": "Link", "href": "about:"}])
    await sends(carol, here, carol.create(plain))
    await shows(plain["id"], "Aside")
