"""Those who ask too much of streams: wrong tokens, long and many messages, too many streams, silence, slow reading."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import socket as sockets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from kith.base.log import AccessLog
from kith.base.server import ConnectionLimits, HttpServer, listen
from kith.social.ids import AccountId
from kith.social.streaming.channels import Stream, of_user
from kith.social.streaming.connections import MOST_UNREAD, StreamConnection
from kith.social.streaming.events import StreamEvent
from kith.social.streaming.hub import Hub
from kith.social.streaming.keeping import Streaming
from kith.social.streaming.sockets import MOST_BYTES, MOST_STREAMS
from tests.conftest import TownBuilder
from tests.social import streams
from tests.social.members import Member, join, until
from tests.social.posts import post
from tests.social.streams import BASE, open_socket
from tests.town import Town
from tests.town.plain import PLAIN


async def test_wrong_tokens_are_counted(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    at = f"{town.base_url.replace('http', 'ws')}{BASE}?access_token="
    statuses = []
    for number in range(310):
        with pytest.raises(InvalidStatus) as refused:
            async with connect(f"{at}{number}", proxy=None):
                pass
        statuses.append(refused.value.response.status_code)
    assert set(statuses) == {401, 429}


async def test_a_message_that_is_too_long_or_no_text_ends_the_socket(town: Town) -> None:
    ada = await join(town)
    for message, code in (("x" * (MOST_BYTES + 1), 1009), (b"\x00", 1003), ("ä" * 100_000, 1009)):
        async with open_socket(ada) as socket:
            await socket.socket.send(message)
            assert (await socket.closed())[0] == code
    async with open_socket(ada) as socket:
        await socket.socket.send(["x" * 2000] * 10)  # in pieces that are short enough
        assert (await socket.closed())[0] == 1009


async def test_ten_thousand_subscriptions_are_too_many(town: Town) -> None:
    ada = await join(town)
    async with open_socket(ada) as socket:
        with pytest.raises(ConnectionClosed):
            for number in range(10_000):
                await socket.asks("subscribe", "hashtag", tag=f"tag{number}")
            while True:  # a slow server refuses some before so many have come within a second
                assert (await socket.answer())["status"] == 429
        assert (await socket.closed())[0] == 1008
    async with open_socket(ada) as other:
        await other.subscribes("user")  # nobody else is the worse for it


async def test_one_socket_has_a_hundred_streams_at_most(new_town: TownBuilder) -> None:
    ada = await join(await new_town(start=True))
    async with serving(ada.town) as server:
        at = f"ws://127.0.0.1:{server.port}{BASE}?access_token={ada.token}"
        async with connect(at, proxy=None) as client:
            socket = streams.Socket(client)
            [connection] = await server.connected(1)
            for number in range(MOST_STREAMS):
                server.hub.subscribe(connection, Stream("hashtag", f"tag{number}"), (f"hashtag:tag{number}",))
            await socket.asks("subscribe", "hashtag", tag="more")
            assert await socket.answer() == {"error": "Too many requests", "status": 429}


async def test_a_person_and_an_address_have_so_many_streams(new_town: TownBuilder) -> None:
    limits = {"rate_limits": "on", "max_streams_per_person": "2", "max_streams_per_address": "3"}
    town = await new_town(**limits)
    ada, bob = await join(town), await join(town)
    async with AsyncExitStack() as stack:
        for _ in range(2):
            await stack.enter_async_context(streams.listen(ada, "user"))
        refused = await town.http.get(f"{BASE}/user", headers={"Authorization": f"Bearer {ada.token}"})
        assert (refused.status_code, refused.json()) == (429, {"error": "Too many requests"})
        await stack.enter_async_context(open_socket(bob))
        with pytest.raises(InvalidStatus) as caught:
            await stack.enter_async_context(open_socket(bob))
        assert caught.value.response.status_code == 429

    async def is_free() -> bool:
        try:
            async with open_socket(ada):
                return True
        except InvalidStatus:
            return False

    await until(is_free)  # places come back when streams end


# A server of this process, so that one can look inside, and turn its clock


class Inside:
    def __init__(self, server: HttpServer, hub: Hub) -> None:
        self.server = server
        self.hub = hub
        self.port = server.address[1]

    async def connected(self, count: int) -> list[StreamConnection]:
        async with asyncio.timeout(60):
            while len(self.hub.connections) != count:
                await asyncio.sleep(0)
        return list(self.hub.connections)


@asynccontextmanager
async def serving(town: Town) -> AsyncIterator[Inside]:
    async with town.house() as house:
        log = AccessLog(io.StringIO(), as_json=True, enabled=True)
        server = HttpServer(house.asgi(log), listen("127.0.0.1", 0, shared=False), ConnectionLimits(per_address=0))
        await server.start()
        try:
            yield Inside(server, house.find(Streaming).hub)
        finally:
            await server.stop(5)


async def _shake_hands(inside: Inside, path: str) -> sockets.socket:
    """A client that reads what it must to be let in, and then nothing."""
    loop = asyncio.get_running_loop()
    one = sockets.socket()
    one.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
    one.setblocking(False)
    await loop.sock_connect(one, ("127.0.0.1", inside.port))
    key = base64.b64encode(os.urandom(16)).decode()
    head = (
        f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    )
    await loop.sock_sendall(one, f"{head}Sec-WebSocket-Key: {key}\r\n\r\n".encode())
    assert b" 101 " in await loop.sock_recv(one, 40)
    return one


async def _flood(inside: Inside, ada: Member) -> None:
    """More than the system and the server hold for anybody who does not read."""
    event = StreamEvent("update", json.dumps("x" * 200_000))
    for _ in range(200):
        await inside.hub.publish(of_user(AccountId(int(ada.id))), event)
        await asyncio.sleep(0)


async def test_whoever_does_not_read_is_dropped_and_told_to_come_again(town: Town) -> None:
    ada = await join(town)
    async with serving(town) as inside:
        at = f"ws://127.0.0.1:{inside.port}{BASE}?stream=user&access_token={ada.token}"
        slow = sockets.socket()
        slow.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", inside.port))
        async with connect(at, sock=slow, max_queue=1, max_size=None, proxy=None) as reader:
            [connection] = await inside.connected(1)
            await _flood(inside, ada)
            assert not connection.is_open
            assert connection.pipe.unread < MOST_UNREAD + 500_000
            with pytest.raises(ConnectionClosed):
                while True:
                    await reader.recv()
            assert reader.close_code == 1013
        await inside.connected(0)


async def test_whoever_is_still_reading_one_long_event_is_not_slow(town: Town) -> None:
    """Two posts that are as long as they may be end nobody's stream whose line carries them in time."""
    ada = await join(town)
    async with serving(town) as inside:
        at = f"ws://127.0.0.1:{inside.port}{BASE}?stream=user&access_token={ada.token}"
        slow = sockets.socket()
        slow.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", inside.port))
        async with connect(at, sock=slow, max_queue=1, max_size=None, proxy=None) as reader:
            [connection] = await inside.connected(1)
            long = StreamEvent("update", json.dumps("x" * 8_000_000))
            channel = of_user(AccountId(int(ada.id)))
            await inside.hub.publish(channel, long)
            assert connection.pipe.unread > 2 * MOST_UNREAD
            await inside.hub.publish(channel, StreamEvent("filters_changed"))
            assert connection.is_open
            got = [json.loads(await reader.recv())["event"] for _ in range(2)]
            assert got == ["update", "filters_changed"]
            while connection.pipe.unread:
                await asyncio.sleep(0.01)
            await inside.hub.publish(channel, StreamEvent("filters_changed"))
            assert connection.longest < 1000


async def test_an_event_stream_that_is_not_read_ends(town: Town) -> None:
    ada = await join(town)
    async with serving(town) as inside:
        loop = asyncio.get_running_loop()
        one = sockets.socket()
        one.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
        one.setblocking(False)
        await loop.sock_connect(one, ("127.0.0.1", inside.port))
        asked = f"GET {BASE}/user HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ada.token}\r\n\r\n"
        await loop.sock_sendall(one, asked.encode())
        [connection] = await inside.connected(1)
        await _flood(inside, ada)
        assert not connection.is_open
        inside.server.register.tick(loop.time() + 60)  # it is not waited for without end
        with one:
            while await _received(one):
                pass


async def _received(one: sockets.socket) -> bytes:
    try:
        return await asyncio.get_running_loop().sock_recv(one, 1 << 20)
    except ConnectionResetError:
        return b""


async def test_a_socket_whose_client_is_gone_without_a_word_is_dropped(town: Town) -> None:
    ada = await join(town)
    async with serving(town) as inside:
        loop = asyncio.get_running_loop()
        with await _shake_hands(inside, f"{BASE}?stream=user&access_token={ada.token}") as silent:
            await inside.connected(1)
            while b"\r\n\r\n" not in await loop.sock_recv(silent, 4096):
                pass
            inside.server.register.tick(loop.time() + 31)
            assert (await loop.sock_recv(silent, 2))[0] == 0x89  # a ping, which it does not answer
            inside.server.register.tick(loop.time() + 80)
            await inside.connected(0)


async def test_hearts_beat(town: Town) -> None:
    ada = await join(town)
    async with (
        serving(town) as inside,
        httpx.AsyncClient(timeout=60, verify=PLAIN) as http,
        http.stream(
            "GET", f"http://127.0.0.1:{inside.port}{BASE}/user", headers={"Authorization": f"Bearer {ada.token}"}
        ) as response,
    ):
        lines = response.aiter_lines()
        assert await anext(lines) == ":)"
        [connection] = await inside.connected(1)
        inside.hub.thump(connection.beat)
        assert [await anext(lines) for _ in range(2)] == [":thump", ""]


async def test_an_older_client_reads_until_the_connection_ends(town: Town) -> None:
    ada = await join(town)
    async with serving(town) as inside:
        reader, writer = await asyncio.open_connection("127.0.0.1", inside.port)
        writer.write(f"GET {BASE}/user HTTP/1.0\r\nAuthorization: Bearer {ada.token}\r\n\r\n".encode())
        [connection] = await inside.connected(1)
        await inside.hub.publish(of_user(AccountId(int(ada.id))), StreamEvent("filters_changed"))
        inside.hub.close(connection, 1008, "over")
        _head, body = (await reader.read()).split(b"\r\n\r\n", 1)
        writer.close()
    assert body == b":)\nevent: filters_changed\ndata: undefined\n\n"


async def test_streams_end_when_the_server_stops(new_town: TownBuilder) -> None:
    town = await new_town()
    ada = await join(town)
    async with streams.listen(ada, "user") as events, open_socket(ada, "user") as socket:
        assert await town.stop() == 0
        assert await events.ended()
        assert (await socket.closed())[0] == 1001
    await town.start()
    async with streams.listen(ada, "user") as events:
        said = await post(ada)
        await events.until("update", said["id"])
