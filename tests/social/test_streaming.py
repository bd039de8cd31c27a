"""Streams: both transports, every stream, every event that posts and notifications make."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from kith.social.ids import AccountId
from kith.social.streaming.publishing import EVERYBODY, of_direct, of_notifications, of_token, of_user, publish
from tests.conftest import TownBuilder
from tests.social.members import Member, join, join_all, stranger
from tests.social.posts import arrive, does, post, said_elsewhere, settle
from tests.social.samples import image_file
from tests.social.streams import BASE, address_of, listen, open_socket
from tests.social.tokens import new_app
from tests.town import Town
from tests.town.plain import PLAIN


async def friends(town: Town) -> tuple[Member, Member]:
    """Ada follows Bob, and both have a home."""
    ada, bob = await join_all(town, 2)
    await ada.to(bob, "follow")
    await arrive(ada, bob)
    return ada, bob


# Framing


async def test_an_event_stream_greets_and_tells_in_the_exact_framing(town: Town) -> None:
    ada, bob = await friends(town)
    async with listen(ada, "user") as events:
        said = await post(bob, "Hello")
        assert await events.line() == "event: update"
        data = await events.line()
        assert await events.line() == ""
        assert events.response.headers["content-type"] == "text/event-stream"
        assert events.response.headers["cache-control"] == "private, no-store"

        shown = json.loads(data.removeprefix("data: "))
        assert shown["id"] == said["id"]
        assert shown["favourited"] is False
        await bob.delete(f"/api/v1/statuses/{said['id']}")
        assert [await events.line() for _ in range(3)] == ["event: delete", f"data: {said['id']}", ""]


async def test_a_socket_names_the_stream_and_quotes_the_payload(town: Town) -> None:
    ada, bob = await friends(town)
    async with open_socket(ada, "user") as socket:
        said = await post(bob, 'Hello "you" \u2028 ä')
        told = await socket.answer()
    assert list(told) == ["stream", "event", "payload"]
    assert (told["stream"], told["event"]) == (["user"], "update")
    assert isinstance(told["payload"], str)
    assert json.loads(told["payload"])["content"] == said["content"]


async def test_a_token_may_come_in_three_ways(town: Town) -> None:
    ada, bob = await friends(town)
    bearer = {"Authorization": f"Bearer {ada.token}"}
    by_header = connect(address_of(ada, stream="user"), additional_headers=bearer)
    by_query = connect(address_of(ada, stream="user", access_token=ada.token))
    by_protocol = connect(address_of(ada, stream="user"), subprotocols=[Subprotocol(ada.token)])
    async with by_header as one, by_query as two, by_protocol as three:
        assert three.subprotocol == ada.token
        said = await post(bob)
        for socket in (one, two, three):
            assert json.loads(json.loads(await socket.recv())["payload"])["id"] == said["id"]


async def test_an_event_stream_takes_its_token_from_the_query_too(town: Town) -> None:
    ada, bob = await friends(town)
    async with (
        httpx.AsyncClient(base_url=town.base_url, timeout=60, verify=PLAIN) as http,
        http.stream("GET", f"{BASE}/user", params={"access_token": ada.token}) as response,
    ):
        lines = response.aiter_lines()
        assert await anext(lines) == ":)"
        await post(bob)
        heard = await anext(lines)
        while heard in {":thump", ""}:  # said while nothing happens
            heard = await anext(lines)
        assert heard == "event: update"


@pytest.mark.parametrize(
    ("path", "token", "status", "words"),
    [
        ("user", "", 401, "Missing access token"),
        ("public", "", 401, "Missing access token"),
        ("user", "wrong", 401, "Invalid access token"),
        ("nowhere", "good", 400, "Unknown channel requested"),
        ("user/nothing", "", 400, "Unknown channel requested"),
        ("hashtag", "good", 400, "Missing tag name parameter"),
        ("hashtag/local?tag=", "good", 400, "Missing tag name parameter"),
        ("list", "good", 400, "Missing list name parameter"),
        ("list?list=1", "good", 401, "Not authorized to stream this list"),
        ("list?list=x", "good", 401, "Not authorized to stream this list"),
    ],
)
async def test_event_streams_are_refused_in_words(town: Town, path: str, token: str, status: int, words: str) -> None:
    ada = await join(town)
    sent = {"Authorization": f"Bearer {ada.token if token == 'good' else token}"} if token else {}
    answer = await town.http.get(f"{BASE}/{path}", headers=sent)
    assert (answer.status_code, answer.json()) == (status, {"error": words})


async def test_a_token_needs_the_scope_of_its_stream(town: Town) -> None:
    person = await town.sign_up()
    app = await new_app(town, "read:statuses read:notifications write")
    statuses, notices = await app.token_of(person, "read:statuses"), await app.token_of(person, "read:notifications")
    words = {"error": "Access token does not have the required scopes"}
    for path, token in (("user", notices), ("public", notices), ("user/notification", statuses)):
        answer = await town.http.get(f"{BASE}/{path}", headers={"Authorization": f"Bearer {token}"})
        assert (answer.status_code, answer.json()) == (401, words)
    async with connect(f"{town.base_url.replace('http', 'ws')}{BASE}?access_token={statuses}") as socket:
        await socket.send(json.dumps({"type": "subscribe", "stream": "user:notification"}))
        assert json.loads(await socket.recv()) == words | {"status": 401}


async def test_what_only_an_app_may_do_is_no_right_to_listen(town: Town) -> None:
    app = await new_app(town, "read")
    answer = await town.http.get(f"{BASE}/public", headers={"Authorization": f"Bearer {await app.token('read')}"})
    assert (answer.status_code, answer.json()) == (401, {"error": "Invalid access token"})


@pytest.mark.parametrize(("token", "words"), [("", "Missing access token"), ("wrong", "Invalid access token")])
async def test_a_socket_without_a_right_is_refused_before_it_opens(town: Town, token: str, words: str) -> None:
    at = f"{town.base_url.replace('http', 'ws')}{BASE}"
    with pytest.raises(InvalidStatus) as refused:
        async with connect(f"{at}?access_token={token}" if token else at):
            pass
    answer = refused.value.response
    assert (answer.status_code, answer.headers["x-error-message"]) == (401, words)
    assert json.loads(answer.body or b"") == {"error": words}


async def test_a_plain_request_is_shown_the_way(new_town: TownBuilder) -> None:
    town = await new_town(streaming_url="wss://live.example.org")
    answer = await town.http.get(f"{BASE}/?stream=user&x=%20")
    assert answer.status_code == 301
    assert answer.headers["location"] == f"wss://live.example.org{BASE}/?stream=user&x=%20"
    at_home = await town.http.get(BASE, headers={"Host": "live.example.org"})
    assert at_home.status_code == 404
    assert (await town.http.get("/api/v1/instance")).json()["urls"]["streaming_api"] == "wss://live.example.org"
    told = (await town.http.get("/api/v2/instance")).json()
    assert told["configuration"]["urls"]["streaming"] == "wss://live.example.org"


async def test_here_the_address_is_a_socket(town: Town) -> None:
    answer = await town.http.get(BASE)
    assert (answer.status_code, answer.json()) == (404, {"error": "Not found"})
    health = await town.http.get(f"{BASE}/health")
    assert (health.status_code, health.text) == (200, "OK")
    assert health.headers["content-type"].startswith("text/plain")
    told = (await town.http.get("/api/v1/instance")).json()
    assert told["urls"]["streaming_api"] == town.base_url.replace("http", "ws")


# Several streams on one socket


async def test_one_socket_has_several_streams_and_leaves_them_again(town: Town) -> None:
    ada, bob = await friends(town)
    async with open_socket(ada) as socket:
        await socket.subscribes("user")
        await socket.subscribes("user")  # again: once is enough
        await socket.subscribes("public:local")
        await socket.subscribes("hashtag", tag="Grüße")
        await socket.subscribes("hashtag", tag="GRÜSSE")  # the same tag
        said = await post(bob, "look #GRUSSE and #grüße")
        heard = [await socket.next_of() for _ in range(3)]
        assert sorted(stream for stream, _, _ in heard) == [["hashtag", "Grüße"], ["public:local"], ["user"]]
        assert {payload["id"] for _, _, payload in heard} == {said["id"]}
        assert "favourited" not in next(payload for stream, _, payload in heard if stream == ["public:local"])

        await socket.asks("unsubscribe", "public:local")
        await socket.asks("unsubscribe", "hashtag", tag="grüße")
        await socket.subscribes("direct")
        await post(bob, "again #grüße")
        await bob.delete(f"/api/v1/statuses/{said['id']}")
        heard = [await socket.next_of() for _ in range(2)]
        assert sorted((stream, event) for stream, event, _ in heard) == [(["user"], "delete"), (["user"], "update")]


@pytest.mark.parametrize(
    ("asked", "status", "words"),
    [
        ({"stream": "nonsense"}, 400, "Unknown stream type"),
        ({}, 400, "Unknown stream type"),
        ({"stream": 5}, 400, "Unknown stream type"),
        ({"stream": "hashtag"}, 400, "Missing tag name parameter"),
        ({"stream": "list"}, 400, "Missing list name parameter"),
        ({"stream": "list", "list": "12"}, 401, "Not authorized to stream this list"),
        ({"stream": "list", "list": {"a": 1}}, 400, "Missing list name parameter"),
    ],
)
async def test_a_socket_is_told_what_it_cannot_have(town: Town, asked: Any, status: int, words: str) -> None:
    ada = await join(town)
    async with open_socket(ada) as socket:
        for passed_over in ("", "{", "[]", "5", '{"type":"dance"}', "[" * 4000):
            await socket.socket.send(passed_over)
        await socket.socket.send(json.dumps({"type": "subscribe", **asked}))
        assert await socket.answer() == {"error": words, "status": status}


async def test_what_is_wrong_with_the_first_stream_is_said_through_the_socket(town: Town) -> None:
    ada = await join(town)
    async with open_socket(ada, "list", list="12") as socket:
        assert await socket.answer() == {"error": "Not authorized to stream this list", "status": 401}
        await socket.subscribes("user")


# What is streamed where


async def test_each_public_stream_has_what_its_timeline_has(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    far = await stranger(town)
    names = ("public", "public:media", "public:local", "public:local:media", "public:remote", "public:remote:media")
    async with open_socket(ada) as socket:
        for name in (*names, "hashtag", "hashtag:local"):
            await socket.subscribes(name, tag="streams")
        picture = await bob.post("/api/v2/media", files={"file": ("a.png", image_file("PNG"), "image/png")})
        plain = await post(bob, "plain")
        shown = await post(bob, "picture", media_ids=[picture["id"]])
        away = await said_elsewhere(town, far, "from afar", tag_names=["streams"])
        await post(ada, "an answer", in_reply_to_id=plain["id"])
        answer = await post(ada, "an answer #streams", in_reply_to_id=plain["id"])
        for visibility in ("unlisted", "private", "direct"):
            await post(bob, "quiet #streams", visibility=visibility)
        own = await post(bob, "an answer to myself", in_reply_to_id=plain["id"])
        await does(ada, "reblog", plain)
        last = await post(bob, "last")
        heard: dict[str, list[str]] = {}
        # On SQLite nobody hears what another process writes; in a town, that is what comes from afar.
        is_heard = town.engine == "postgresql"
        for _ in range(12 + 3 * is_heard):
            stream, event, payload = await socket.next_of()
            assert event == "update"
            heard.setdefault(stream[0], []).append(payload["id"])
    here = [plain["id"], shown["id"], own["id"], last["id"]]
    assert heard.pop("public:local") == here
    afar = [away] if is_heard else []
    assert sorted(heard.pop("public")) == sorted([*here, *afar])
    assert heard.pop("public:remote", []) == afar
    assert sorted(heard.pop("hashtag")) == sorted([*afar, answer["id"]])
    assert heard == {
        "public:media": [shown["id"]],
        "public:local:media": [shown["id"]],
        "hashtag:local": [answer["id"]],
    }


async def test_event_streams_of_public_posts_may_be_for_pictures_alone(town: Town) -> None:
    [ada] = await join_all(town, 1)
    picture = await ada.post("/api/v2/media", files={"file": ("a.png", image_file("PNG"), "image/png")})
    async with (
        listen(ada, "public/local", only_media="true") as events,
        listen(ada, "hashtag", tag="x") as tagged,
        listen(ada, "public") as public,
    ):
        plain = await post(ada, "plain #x")
        shown = await post(ada, "picture", media_ids=[picture["id"]])
        assert await events.until("update", shown["id"]) == [("update", shown["id"])]
        assert await tagged.until("update", plain["id"]) == [("update", plain["id"])]
        assert (await public.until("update", shown["id"]))[-2:] == [("update", plain["id"]), ("update", shown["id"])]


async def test_a_list_streams_its_own_posts_to_its_owner(town: Town) -> None:
    ada, bob = await friends(town)
    [eve] = await join_all(town, 1)
    await ada.to(eve, "follow")
    made = await ada.post("/api/v1/lists", json={"title": "some"})
    await ada.post(f"/api/v1/lists/{made['id']}/accounts", json={"account_ids": [bob.id]})
    async with open_socket(ada, "list", list=made["id"]) as socket, open_socket(bob) as curious:
        await curious.asks("subscribe", "list", list=made["id"])
        assert (await curious.answer())["status"] == 401
        await post(eve, "not on it")
        said = await post(bob, "on it")
        stream, event, payload = await socket.next_of()
        assert (stream, event, payload["id"]) == (["list", made["id"]], "update", said["id"])
        await ada.call("DELETE", f"/api/v1/lists/{made['id']}/accounts", json={"account_ids": [bob.id]})
        async with listen(ada, "user") as home:
            gone = await post(bob, "no longer on it")
            await home.until("update", gone["id"])  # by then it is decided who hears of it
        await settle(town)
        await ada.post(f"/api/v1/lists/{made['id']}/accounts", json={"account_ids": [bob.id]})
        last = await post(bob, "again")
        assert await socket.until("update", last["id"]) == [("update", last["id"])]


async def test_home_has_boosts_edits_deletions_and_ones_own(town: Town) -> None:
    ada, bob = await friends(town)
    [eve] = await join_all(town, 1)
    old = await post(eve, "old")
    await does(ada, "favourite", old)
    async with listen(ada, "user") as events:
        own = await post(ada, "mine")
        await events.until("update", own["id"])
        boost = await does(bob, "reblog", old)
        name, told = await events.next()
        assert (name, told["id"], told["reblog"]["id"]) == ("update", boost["id"], old["id"])
        assert told["favourited"] is True
        assert told["reblog"]["favourited"] is True
        await eve.call("PUT", f"/api/v1/statuses/{old['id']}", json={"status": "new"})
        name, told = await events.next()
        assert (name, told["id"], told["content"]) == ("status.update", old["id"], "<p>new</p>")
        await eve.delete(f"/api/v1/statuses/{old['id']}")
        assert await events.until("delete", boost["id"]) == [("delete", boost["id"])]


async def test_edits_and_deletions_of_public_posts_are_told_to_everybody(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    async with open_socket(ada, "public:local") as socket:
        said = await post(bob, "one")
        await bob.call("PUT", f"/api/v1/statuses/{said['id']}", json={"status": "two"})
        await bob.delete(f"/api/v1/statuses/{said['id']}")
        heard = await socket.until("delete", said["id"])
    assert heard == [("update", said["id"]), ("status.update", said["id"]), ("delete", said["id"])]


async def test_notifications_come_on_their_streams(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    said = await post(ada)
    await settle(town)
    async with listen(ada, "user") as user, listen(ada, "user/notification") as only, open_socket(ada) as socket:
        await socket.subscribes("user:notification")
        await does(bob, "favourite", said)
        for ear in (user, only):
            name, told = await ear.next()
            assert (name, told["type"], told["account"]["id"]) == ("notification", "favourite", bob.id)
            assert told["status"]["id"] == said["id"]
        assert (await socket.next_of())[:2] == (["user:notification"], "notification")


async def test_a_token_without_that_right_hears_of_no_notification(town: Town) -> None:
    person, [bob] = await town.sign_up(), await join_all(town, 1)
    app = await new_app(town, "read:statuses write read:accounts")
    ada = Member(town, await app.token_of(person, "read:statuses write read:accounts"))
    await ada.refreshed()
    said = await post(ada)
    await settle(town)
    async with listen(ada, "user") as events:
        await does(bob, "favourite", said)
        await settle(town)
        last = await post(ada)
        assert await events.until("update", last["id"]) == [("update", last["id"])]


async def test_a_direct_post_is_heard_by_those_it_names_alone(town: Town) -> None:
    ada, bob = await friends(town)
    [eve] = await join_all(town, 1)
    await eve.to(bob, "follow")
    await arrive(eve)
    async with listen(ada, "user") as named, listen(eve, "user") as other:
        secret = await post(bob, f"@{ada.name} hush", visibility="direct")
        said = await post(bob, "for all")
        assert ("update", secret["id"]) in await named.until("update", said["id"])
        assert await other.until("update", said["id"]) == [("update", said["id"])]


async def test_other_rooms_publish_what_they_have(town: Town) -> None:
    [ada] = await join_all(town, 1)
    async with open_socket(ada) as socket, listen(ada, "user") as events:
        for stream in ("user", "direct", "user:notification"):
            await socket.subscribes(stream)
        async with town.house() as house, house.works.begin() as work:
            me = AccountId(int(ada.id))
            publish(work, of_user(me), "filters_changed")
            publish(work, of_direct(me), "conversation", {"id": "5", "unread": True})
            publish(work, EVERYBODY, "announcement", b'{"id":"6"}')
            publish(work, EVERYBODY, "announcement.delete", "6")
            publish(work, of_notifications(me), "notifications_merged", "1")
            publish(work, of_token("another"), "encrypted_message", {"id": "7"})
            publish(work, of_user(me), "announcement.reaction", {"name": "x" * 9000, "count": 1})
        if town.engine == "postgresql":  # on SQLite another process has no way to tell; there is none
            heard = [await socket.next_of() for _ in range(7)]
            assert [(stream[0], event) for stream, event, _ in heard] == [
                ("user", "filters_changed"),
                ("direct", "conversation"),
                ("user", "announcement"),
                ("user", "announcement.delete"),
                ("user", "notifications_merged"),
                ("user:notification", "notifications_merged"),
                ("user", "announcement.reaction"),
            ]
            assert heard[0][2] is None
            assert await events.next() == ("filters_changed", "undefined")
            assert await events.next() == ("announcement", {"id": "6"})
            assert await events.next() == ("announcement.delete", "6")
