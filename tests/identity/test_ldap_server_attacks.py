"""What somebody tries who does not mean well by the LDAP server: bytes, filters, cookies, and a place in between."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Iterator
from typing import Any

import pytest

from kith.base.server.client_places import ClientPlace
from kith.base.server.turns import Turns
from kith.identity.ldap_server.ber import OCTETS, SEQUENCE, BerReader, encode, encode_integer
from kith.identity.ldap_server.connection import LdapConnection
from kith.identity.ldap_server.listener import FOR_STRANGERS, IN_A_ROUND, MOST_PER_ADDRESS
from kith.identity.ldap_server.listener import MOST_CONNECTIONS as MOST
from kith.identity.ldap_server.messages import PAGED, ResultCode
from tests.identity.ldap_client import BASE, LdapTown, name_of
from tests.identity.records import API, make
from tests.identity.test_ldap_server import ada, boss, id_of, ldap  # noqa: F401 - fixtures
from tests.town import Person

START_TLS = "1.3.6.1.4.1.1466.20037"
DISCONNECTION = b"1.3.6.1.4.1.1466.20036"


class RawClient:
    """Sends whatever it likes, and reads messages as numbers, tags and what is in them."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def open(cls, port: int, at: str = "127.0.0.1") -> RawClient:
        return cls(*await asyncio.open_connection("127.0.0.1", port, local_addr=(at, 0)))

    def send(self, *operations: bytes, number: int = 1, controls: bytes = b"") -> None:
        """In one piece."""
        messages = (encode_integer(number + at) + one + controls for at, one in enumerate(operations))
        self.writer.write(b"".join(encode(SEQUENCE, one) for one in messages))

    async def hear(self) -> tuple[int, BerReader, BerReader]:
        """The tag of the next message, what it says, and what comes after that."""
        head = await asyncio.wait_for(self.reader.readexactly(2), 60)
        size = head[1]
        if size > 0x80:
            size = int.from_bytes(await self.reader.readexactly(size & 0x7F), "big")
        message = BerReader(await self.reader.readexactly(size))
        message.integer()
        tag = message.peek()
        return tag, message.inside(None), message

    async def code(self) -> int:
        """How the operation ended, whatever was found before."""
        while True:
            tag, said, _ = await self.hear()
            if tag != 0x64:
                return said.integer(0x0A)

    async def ask(self, *operations: bytes, controls: bytes = b"") -> int:
        self.send(*operations, controls=controls)
        return await self.code()

    def close(self) -> None:
        self.writer.close()


def bind_as(who: Person, password: str | None = None) -> bytes:
    name, word = name_of(who).encode(), (password or who.password).encode()
    return encode(0x60, encode_integer(3) + encode(OCTETS, name) + encode(0x80, word))


def search_for(asked: bytes, base: str = BASE, *, scope: int = 2, attributes: tuple[bytes, ...] = (b"1.1",)) -> bytes:
    wanted = b"".join(encode(OCTETS, one) for one in attributes)
    numbers = encode_integer(scope, 0x0A) + encode_integer(0, 0x0A) + encode_integer(0) * 2 + encode(1, b"\0")
    return encode(0x63, encode(OCTETS, base.encode()) + numbers + asked + encode(SEQUENCE, wanted))


def equals(attribute: bytes, value: bytes) -> bytes:
    return encode(0xA3, encode(OCTETS, attribute) + encode(OCTETS, value))


def page(size: int, cookie: bytes) -> bytes:
    value = encode(SEQUENCE, encode_integer(size) + encode(OCTETS, cookie))
    return encode(0xA0, encode(SEQUENCE, encode(OCTETS, PAGED.encode()) + encode(OCTETS, value)))


@pytest.fixture
async def client(ldap: LdapTown) -> Any:  # noqa: F811
    found = await RawClient.open(ldap.plain)
    yield found
    found.close()


async def bound(client: RawClient, who: Person) -> None:
    assert await client.ask(bind_as(who)) == ResultCode.SUCCESS


START = encode(0x77, encode(0x80, START_TLS.encode()))
WHO = encode(0x77, encode(0x80, b"1.3.6.1.4.1.4203.1.11.3"))


async def test_what_was_sent_in_clear_does_not_count_as_encrypted(client: RawClient, ada: Person) -> None:  # noqa: F811
    client.send(START, bind_as(ada))  # as somebody in between would add it
    heard = await asyncio.wait_for(client.reader.read(), 60)

    assert DISCONNECTION in heard
    assert START_TLS.encode() not in heard


async def test_after_start_tls_nobody_is_bound(client: RawClient, ada: Person) -> None:  # noqa: F811
    await bound(client, ada)
    assert await client.ask(START) == ResultCode.SUCCESS
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    await client.writer.start_tls(context)
    client.send(WHO)
    _, said, _ = await client.hear()

    assert [said.integer(0x0A), said.octets(), said.octets(), said.octets(0x8B)] == [0, b"", b"", b""]
    assert await client.ask(search_for(equals(b"uid", b"x"))) == ResultCode.INSUFFICIENT_ACCESS


@pytest.mark.parametrize("value", [b"\0", b"a\0b", b"\xff\xfe", b"\xed\xa0\x80", "ß\u0131".encode(), b"9" * 40])
@pytest.mark.parametrize("attribute", [b"uid", b"mail", b"memberUid", b"uidNumber", b"member", b"description"])
async def test_no_value_breaks_a_search(
    client: RawClient,
    boss: Person,  # noqa: F811
    attribute: bytes,
    value: bytes,
) -> None:
    await bound(client, boss)

    assert await client.ask(search_for(equals(attribute, value))) == ResultCode.SUCCESS
    assert await client.ask(search_for(encode(0xA2, equals(attribute, value)), scope=0)) == ResultCode.SUCCESS


@pytest.mark.parametrize("name", [r"cn=\00,ou=users", r'cn="\00",ou=users', r"cn=\ff,ou=users", r"cn=\00,ou=groups"])
async def test_no_name_breaks_a_search_or_a_bind(client: RawClient, boss: Person, name: str) -> None:  # noqa: F811
    await bound(client, boss)
    asked = search_for(encode(0x87, b"objectClass"), f"{name},{BASE}")
    named = encode(0x60, encode_integer(3) + encode(OCTETS, f"{name},{BASE}".encode()) + encode(0x80, b"x"))

    assert await client.ask(asked) == ResultCode.NO_SUCH_OBJECT
    assert await client.ask(named) == ResultCode.INVALID_CREDENTIALS


def _filters() -> Iterator[bytes]:
    deep = equals(b"uid", b"x")
    for _ in range(1000):
        deep = encode(0xA2, deep)
    parts = encode(SEQUENCE, encode(0x81, b"a"))
    part = encode(0xA4, encode(OCTETS, b"uid") + parts)
    yield encode(0xA1, equals(b"uid", b"x") * 10_000)
    yield encode(0xA0, part * 200)
    yield deep
    yield equals(b"uid", b"x" * 5000)


@pytest.mark.parametrize("asked", list(_filters()), ids=["10,000 tests", "200 parts", "1,000 deep", "long value"])
async def test_a_filter_that_is_too_large_is_refused_and_nothing_else(
    client: RawClient,
    boss: Person,  # noqa: F811
    asked: bytes,
) -> None:
    await bound(client, boss)

    assert await client.ask(search_for(asked)) == ResultCode.ADMIN_LIMIT
    assert await client.ask(search_for(equals(b"uid", b"x"))) == ResultCode.SUCCESS


async def _first_page(client: RawClient, asked: bytes) -> bytes:
    client.send(asked, controls=page(1, b""))
    while True:
        tag, _, after = await client.hear()
        if tag == 0x65:
            value = BerReader(_control_value(after)).inside(SEQUENCE)
            value.integer()
            return value.octets()


def _control_value(after: BerReader) -> bytes:
    control = after.inside(0xA0).inside(SEQUENCE)
    control.octets()
    return control.octets()


ALL = encode(0x87, b"objectClass")


async def test_a_page_goes_on_for_the_same_search_only(
    ldap: LdapTown,  # noqa: F811
    client: RawClient,
    boss: Person,  # noqa: F811
    ada: Person,  # noqa: F811
) -> None:
    await bound(client, boss)
    cookie = await _first_page(client, search_for(ALL))
    other = await RawClient.open(ldap.plain)
    await bound(other, boss)

    assert await client.ask(search_for(ALL), controls=page(1, cookie)) == ResultCode.SUCCESS
    assert await client.ask(search_for(ALL), controls=page(0, cookie)) == ResultCode.SUCCESS
    assert await client.ask(search_for(equals(b"cn", b"x")), controls=page(1, cookie)) == ResultCode.UNWILLING
    assert await other.ask(search_for(ALL), controls=page(1, cookie)) == ResultCode.UNWILLING
    await bound(client, ada)
    assert await client.ask(search_for(ALL), controls=page(1, cookie)) == ResultCode.UNWILLING
    other.close()


@pytest.mark.parametrize(
    "cookie",
    [b'[0,99999999999999999999999,"",false]', b'[0,0,"\\u0000",true]', b'[0,0,"\xff",true]', b"x", b"\0" * 200],
)
async def test_a_forged_cookie_is_refused(client: RawClient, boss: Person, cookie: bytes) -> None:  # noqa: F811
    await bound(client, boss)

    assert await client.ask(search_for(ALL), controls=page(5, cookie)) == ResultCode.UNWILLING
    assert await client.ask(search_for(equals(b"uid", b"x"))) == ResultCode.SUCCESS


async def test_a_group_beyond_the_first_batch_is_found(ldap: LdapTown, client: RawClient, boss: Person) -> None:  # noqa: F811
    for at in range(260):
        await make(boss, "/core/groups/", name=f"batch {at:03}")
    await bound(client, boss)
    base = f"cn=Batch 259,ou=groups,{BASE}"

    assert list((await ldap.search(boss, base=base)).entries) == [f"cn=batch 259,ou=groups,{BASE}"]
    assert await client.ask(search_for(equals(b"cn", b"no"), base)) == ResultCode.SUCCESS
    assert await client.ask(search_for(ALL, f"cn=batch 999,ou=groups,{BASE}")) == ResultCode.NO_SUCH_OBJECT


async def test_pages_of_own_groups_hold_each_once(ldap: LdapTown, boss: Person, ada: Person) -> None:  # noqa: F811
    names = [f"{start}{ada.username}" for start in ("a", "B", "_", "Z", "é", "c")]
    for name in names:
        await make(boss, "/core/groups/", name=name, user_set=[await id_of(boss, ada)])
    found = await ldap.run(
        "ldapsearch", "-LLL", "-o", "ldif-wrap=no", "-E", "pr=1/noprompt", "-b", f"ou=groups,{BASE}",
        "(objectClass=groupOfNames)", "cn", who=ada,
    )  # fmt: skip

    assert sorted(values["cn"][0] for values in found.entries.values()) == sorted(names)


async def test_what_was_proved_with_a_password_ends_with_it(
    ldap: LdapTown,  # noqa: F811
    client: RawClient,
    boss: Person,  # noqa: F811
    ada: Person,  # noqa: F811
) -> None:
    await bound(client, ada)
    place = f"{API}/core/users/{await id_of(boss, ada)}"
    assert (await boss.call("POST", f"{place}/set_password/", json={"password": "another horse 77"})).status_code == 204

    assert await client.ask(search_for(ALL)) == ResultCode.INSUFFICIENT_ACCESS
    assert await asyncio.wait_for(client.reader.read(), 60) == b""  # so that whoever shares connections opens a new one


async def test_what_was_proved_with_an_app_password_ends_with_it(client: RawClient, boss: Person, ada: Person) -> None:  # noqa: F811
    sent = {"identifier": f"{ada.username}-mail", "intent": "app_password", "user": await id_of(boss, ada)}
    token = await make(boss, "/core/tokens/", **sent)
    place = f"{API}/core/tokens/{token['pk']}/"
    assert await client.ask(bind_as(ada, token["key"])) == ResultCode.SUCCESS
    assert await client.ask(search_for(ALL)) == ResultCode.SUCCESS
    assert (await boss.call("DELETE", place)).status_code == 204

    assert await client.ask(search_for(ALL)) == ResultCode.INSUFFICIENT_ACCESS


async def test_many_messages_at_once_are_answered_in_their_order(client: RawClient, ada: Person) -> None:  # noqa: F811
    await bound(client, ada)
    count = 3000
    writing = asyncio.get_running_loop().create_task(_write_all(client, count))
    heard = [await client.code() for _ in range(count)]
    await writing

    assert set(heard) == {ResultCode.SUCCESS}


async def _write_all(client: RawClient, count: int) -> None:
    for _ in range(count):
        client.send(search_for(ALL, "", scope=0))
        await client.writer.drain()


@pytest.mark.parametrize("connections", [1, 20])
async def test_messages_that_come_together_leave_others_their_turn(connections: int) -> None:
    """The connections themselves, with everything they will ever be sent already there: nothing else makes them wait.

    However many somebody has, one thing is done for them each time the loop goes round.
    """
    count, rounds = 500 // connections, 0
    sent = encode(SEQUENCE, encode_integer(1) + encode(0x50, b"\x07")) * count
    turns = Turns(asyncio.get_running_loop(), at_once=IN_A_ROUND, for_strangers=FOR_STRANGERS, each=1)
    done: list[bool] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        waiting = asyncio.StreamReader()
        waiting.feed_data(sent)
        waiting.feed_eof()
        nobody: Any = None
        await LdapConnection(nobody, waiting, writer, nobody, ClientPlace("127.0.0.1"), turns, nobody).run()
        done.append(True)
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    writers = [(await asyncio.open_connection(*server.sockets[0].getsockname()[:2]))[1] for _ in range(connections)]
    for writer in writers:
        writer.write_eof()
    while len(done) < connections:
        await asyncio.sleep(0)
        rounds += 1
    for writer in writers:
        writer.close()
    server.close()

    assert rounds >= count * connections


# Places

ANONYMOUS = encode(0x60, encode_integer(3) + encode(OCTETS, b"") + encode(0x80, b""))


async def test_strangers_who_take_all_places_make_room(ldap: LdapTown, boss: Person, ada: Person) -> None:  # noqa: F811
    known = await RawClient.open(ldap.plain)
    await bound(known, boss)
    strangers = [
        await RawClient.open(ldap.plain, f"127.0.0.{10 + number // MOST_PER_ADDRESS}") for number in range(MOST)
    ]
    for stranger in strangers[1:]:
        assert await stranger.ask(ANONYMOUS) == ResultCode.SUCCESS
    one_more = await RawClient.open(ldap.plain, "127.0.0.10")

    late = await RawClient.open(ldap.plain)
    await bound(late, ada)

    assert await late.ask(search_for(encode(0x87, b"objectClass"), scope=0)) == ResultCode.SUCCESS
    assert await known.ask(WHO) == ResultCode.SUCCESS
    with pytest.raises(asyncio.IncompleteReadError):
        await strangers[0].hear()  # it had been idle for longest
    for client in (known, late, one_more, *strangers):
        client.close()


async def test_strangers_who_read_nothing_make_room(ldap: LdapTown, ada: Person) -> None:  # noqa: F811
    asked = encode(SEQUENCE, encode_integer(1) + search_for(encode(0x87, b"objectClass"), "", scope=0)) * 4000
    strangers = [await deaf_client(ldap.plain, f"127.0.0.{30 + number // MOST_PER_ADDRESS}") for number in range(MOST)]
    for one in strangers:
        with contextlib.suppress(BlockingIOError):
            one.send(asked)
    await asyncio.sleep(1)

    late = await RawClient.open(ldap.plain)
    await bound(late, ada)

    late.close()
    for one in strangers:
        one.close()


async def deaf_client(port: int, at: str) -> socket.socket:
    """One that takes next to nothing of what it is answered."""
    made = socket.socket()
    made.setblocking(False)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    made.bind((at, 0))
    await asyncio.get_running_loop().sock_connect(made, ("127.0.0.1", port))
    return made


@pytest.mark.whole
async def test_a_stranger_has_half_a_minute_in_all(client: RawClient) -> None:
    """However often something is said meanwhile."""
    with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
        for _ in range(12):
            await client.ask(ANONYMOUS)
            await asyncio.sleep(5)
