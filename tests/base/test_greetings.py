"""Handshakes of TLS take turns: one for each address each time the event loop goes round, once their first words came."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterator

import pytest

from kith.base.server.greetings import IN_A_ROUND, Greetings


def hello() -> bytes:
    """As a client begins."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).wrap_bio(incoming, outgoing, server_hostname="kith.example")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as found:
        yield found


def pair(listener: socket.socket) -> tuple[socket.socket, socket.socket]:
    client = socket.create_connection(listener.getsockname())
    accepted, _ = listener.accept()
    accepted.setblocking(False)
    return client, accepted


def in_pieces(words: bytes, size: int) -> bytes:
    """The same first message, in a record of this size and another one."""
    kind, message = words[:3], words[5:]
    return b"".join(kind + len(one).to_bytes(2, "big") + one for one in (message[:size], message[size:]))


@pytest.mark.parametrize("first", [None, 1, 4, 100])
async def test_nothing_is_begun_before_the_first_words_are_whole(listener: socket.socket, first: int | None) -> None:
    words, (client, accepted) = hello(), pair(listener)
    words = words if first is None else in_pieces(words, first)
    with client, accepted:
        waiting = asyncio.create_task(Greetings(asyncio.get_running_loop()).wait(accepted, "192.0.2.1", 60))
        for piece in (words[:1], words[1:5], words[5:-1]):
            client.sendall(piece)
            await asyncio.sleep(0.05)
            assert not waiting.done()
        client.sendall(words[-1:])
        await waiting

        assert accepted.recv(len(words) + 1) == words


async def test_whoever_begins_many_waits_behind_themselves(listener: socket.socket) -> None:
    words, pairs = hello(), [pair(listener) for _ in range(40)]
    greetings, rounds = Greetings(asyncio.get_running_loop()), 0
    for client, _ in pairs:
        client.sendall(words)
    await asyncio.sleep(0.1)
    come: list[int] = []

    async def wait(accepted: socket.socket, address: str) -> None:
        await greetings.wait(accepted, address, 60)
        come.append(rounds)

    greedy = [asyncio.create_task(wait(accepted, "192.0.2.1")) for _, accepted in pairs[1:]]
    other = asyncio.create_task(wait(pairs[0][1], "192.0.2.2"))
    while not all(one.done() for one in greedy):
        await asyncio.sleep(0)
        rounds += 1

    assert rounds >= len(greedy)
    assert max(come.count(one) for one in come) <= IN_A_ROUND
    assert other.done()
    for client, accepted in pairs:
        client.close()
        accepted.close()


async def test_who_says_something_else_is_not_waited_for(listener: socket.socket) -> None:
    client, accepted = pair(listener)
    with client, accepted:
        client.sendall(b"GET / HTTP/1.1\r\n")
        await Greetings(asyncio.get_running_loop()).wait(accepted, "192.0.2.1", 60)


@pytest.mark.parametrize("leaves", [True, False])
async def test_who_leaves_or_says_nothing_is_let_go(listener: socket.socket, *, leaves: bool) -> None:
    client, accepted = pair(listener)
    with client:
        if leaves:
            client.close()
        with pytest.raises(ConnectionAbortedError if leaves else TimeoutError):
            await Greetings(asyncio.get_running_loop()).wait(accepted, "192.0.2.1", 60 if leaves else 0.1)

        assert accepted.fileno() == -1
