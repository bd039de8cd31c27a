"""A directory that takes every password and answers searches as badly as it was told to."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

from kith.identity.ldap_server.ber import OCTETS, SEQUENCE, BerReader, encode, encode_integer
from kith.identity.ldap_server.messages import ResultCode, entry, paged_control, result

__all__ = ["HostileDirectory", "hostile_directory", "read_message"]

Answers = Callable[[int], Iterator[bytes]]
PIECE = bytes(1 << 20)


def person(number: int, at: int) -> bytes:
    name = f"uid=p{at},dc=example,dc=org"
    return entry(number, name, {"uid": [f"p{at}"], "cn": [f"P {at}"], "entryUUID": [f"{at}"], "x": ["x" * 1000]})


def endless_entries(number: int) -> Iterator[bytes]:
    at = 0
    while True:
        at += 1
        yield person(number, at)


def endless_pages(number: int) -> Iterator[bytes]:
    yield result(number, 0x65, ResultCode.SUCCESS, controls=paged_control(b"more"))


def endless_message(number: int) -> Iterator[bytes]:
    yield b"\x30\x84\x7f\xff\xff\xff\x02\x01" + bytes((number,))
    while True:
        yield PIECE


def nested(number: int) -> Iterator[bytes]:
    deep = b""
    for _ in range(5000):
        deep = encode(0x30, deep)
    yield encode(SEQUENCE, encode_integer(number) + encode(0x64, encode(OCTETS, b"uid=x") + deep))


def referrals(number: int) -> Iterator[bytes]:
    yield encode(SEQUENCE, encode_integer(number) + encode(0x73, encode(OCTETS, b"ldap://127.0.0.1:1/dc=inside")))
    yield result(number, 0x65, ResultCode.SUCCESS)


STRANGE: dict[str, dict[str, list[str | bytes]]] = {
    "uid=z\0ero,dc=example,dc=org": {},
    f"uid={'long' * 30_000},dc=example,dc=org": {},
    "uid=a,dc=example,dc=org": {"userAccountControl": ["9" * 5000]},
    "uid=b,dc=example,dc=org": {"userAccountControl": ["²"], "pwdLastSet": ["²"]},
    "uid=c,dc=example,dc=org": {"pwdLastSet": ["9" * 18], "mail": ["no\0address", "@", b"\xff"]},
    "uid=d,dc=example,dc=org": {"cn": ["n" * 1_000_000]},
    "uid=e,dc=example,dc=org": {"entryUUID": ["u\0" * 200]},
    "uid=f,dc=example,dc=org": {"uid": [b"\xff\xfe"]},
    "uid=g,dc=example,dc=org": {"memberOf": ["cn=x" + ",dc=y" * 20_000] * 3},
    "no name at all": {},
    "": {},
}


def strange_people(number: int) -> Iterator[bytes]:
    """One who is as they should be comes last."""
    for at, (name, more) in enumerate(STRANGE.items()):
        usual: dict[str, list[str | bytes]] = {
            "uid": [f"strange{at}"], "cn": [f"S {at}"], "entryUUID": [f"s{at}"], "mail": [f"s{at}@example.org"],
        }  # fmt: skip
        yield entry(number, name, usual | more)
    yield entry(number, "uid=last,dc=example,dc=org", {"uid": ["last-of-all"], "cn": ["L"], "entryUUID": ["last"]})
    yield result(number, 0x65, ResultCode.SUCCESS)


class HostileDirectory:
    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self.uri = ""
        self.searches = 0
        self.sent = 0

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                message = await read_message(reader)
                number = message.integer()
                if message.peek() == 0x60:
                    writer.write(result(number, 0x61, ResultCode.SUCCESS))
                elif message.peek() == 0x63:
                    self.searches += 1
                    for piece in self._answers(number):
                        writer.write(piece)
                        self.sent += len(piece)
                        await writer.drain()
                else:
                    break
        writer.close()


async def read_message(reader: asyncio.StreamReader) -> BerReader:
    head = await reader.readexactly(2)
    size = head[1]
    if size > 0x80:
        size = int.from_bytes(await reader.readexactly(size & 0x7F), "big")
    return BerReader(await reader.readexactly(size))


@asynccontextmanager
async def hostile_directory(answers: Answers) -> AsyncIterator[HostileDirectory]:
    directory = HostileDirectory(answers)
    server = await asyncio.start_server(directory.talk, "127.0.0.1", 0)
    directory.uri = f"ldap://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield directory
    finally:
        server.close()
