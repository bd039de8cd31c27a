"""Neither side of TLS lets the other choose how dear it is."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

import kith
from kith.base.tls import WITHOUT_DATA, CostlyTls, client_context, server_context
from kith.base.tls_hellos import bytes_needed, check_client, check_server, first_message
from kith.identity.crypto.certificates import generate

X25519, P256, FFDHE2048, FFDHE8192, UNKNOWN = 0x1D, 0x17, 0x100, 0x104, 0x7A7A
RETRY = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")


def long(data: bytes, size: int = 2) -> bytes:
    return len(data).to_bytes(size, "big") + data


def extension(kind: int, data: bytes) -> bytes:
    return kind.to_bytes(2, "big") + long(data)


def message(kind: int, body: bytes) -> bytes:
    return bytes((kind,)) + long(body, 3)


def records(data: bytes, *sizes: int) -> bytes:
    """`data` in records of these sizes, and one for the rest."""
    made = b""
    for size in (*sizes, len(data) - sum(sizes)):
        made += b"\x16\x03\x01" + long(data[:size])
        data = data[size:]
    return made


def client_hello(shares: Sequence[int], *, version: int = 0x0304) -> bytes:
    groups = b"".join(one.to_bytes(2, "big") for one in (X25519, P256, FFDHE2048, FFDHE8192))
    keys = b"".join(one.to_bytes(2, "big") + long(bytes(range(1, 33)) * 32) for one in shares)
    told = (
        extension(10, long(groups))
        + extension(13, long(b"\x04\x03\x08\x04"))
        + extension(43, long(version.to_bytes(2, "big"), 1))
        + extension(51, long(keys))
    )
    body = b"\x03\x03" + bytes(32) + b"\0" + long(b"\x13\x02\xc0\x2b") + b"\x01\0" + long(told)
    return message(1, body)


def server_hello(group: int, *, random: bytes = RETRY) -> bytes:
    told = extension(43, b"\x03\x04") + extension(51, group.to_bytes(2, "big"))
    return message(2, b"\x03\x03" + random + b"\0" + b"\x13\x02" + b"\0" + long(told))


# What is said first


@pytest.mark.parametrize("shares", [[X25519], [P256], [UNKNOWN, X25519], [X25519, P256]])
def test_clients_bring_a_key_for_a_curve(shares: list[int]) -> None:
    check_client(client_hello(shares))


@pytest.mark.parametrize("shares", [[], [UNKNOWN], [FFDHE2048], [FFDHE8192, X25519], [X25519, FFDHE8192]])
def test_or_are_not_listened_to(shares: list[int]) -> None:
    with pytest.raises(ValueError, match="a key"):
        check_client(client_hello(shares))
    check_client(client_hello(shares, version=0x0303))

    came, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = serving().wrap_bio(came, out, server_side=True)
    came.write(records(client_hello(shares)))
    with pytest.raises(CostlyTls):
        server.do_handshake()
    assert not out.pending


def test_servers_ask_for_curves_only() -> None:
    check_server(server_hello(X25519))
    check_server(server_hello(FFDHE8192, random=bytes(32)))  # is none to which a key is made
    with pytest.raises(ValueError, match="costs too much"):
        check_server(server_hello(FFDHE8192))


@pytest.mark.parametrize("before", [b"", records(message(0, b"")), b"\x15\x03\x03\0\2\1\0", b"\x14\x03\x03\0\1\1"])
def test_a_server_that_asks_for_more_is_left(before: bytes) -> None:
    came, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = client_context().wrap_bio(came, out, server_hostname="kith.example")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    out.read()
    came.write(before + records(server_hello(FFDHE8192)))
    with pytest.raises(CostlyTls):
        client.do_handshake()
    assert not out.pending


def test_the_words_of_a_refusal_are_kept() -> None:
    came, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = client_context().wrap_bio(came, out, server_hostname="kith.example")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    came.write(b"\x15\x03\x03\0\2\2\x28")
    with pytest.raises(ssl.SSLError, match=r"(?i)handshake.failure"):
        client.do_handshake()


def test_no_key_exchange_is_left_in_which_servers_choose_the_numbers() -> None:
    names = [str(one["name"]) for one in client_context().get_ciphers()]

    assert any(name.startswith("ECDHE-") for name in names)
    assert any(name.startswith("TLS_") for name in names)
    assert not [name for name in names if not name.startswith(("ECDHE-", "TLS_"))]


def test_a_message_is_whole_when_its_last_record_is() -> None:
    hello = client_hello([X25519])
    for sizes in ((), (1,), (4, 5), (1, 1, 1, 1, 1, 1, 1)):
        sent = records(hello, *sizes)
        for length in range(len(sent)):
            assert first_message(sent[:length]) is None
            assert length < bytes_needed(sent[:length]) <= len(sent)
        assert first_message(sent + b"more") == hello
        assert bytes_needed(sent) == 0
    for wrong in (records(hello, *[1] * 8), b"GET / HTTP/1.1", b"\x16\x03\x01\0\0", b"\x16\x03\x01\xff\xff"):
        with pytest.raises(ValueError, match=r"pieces|no handshake|record"):
            first_message(wrong)


# What comes later


def serving(*, ours: bool = True, tickets: int = 2) -> ssl.SSLContext:
    certificate, key = generate("kith.example", [], 30, "ecdsa", datetime.now(UTC))
    context = server_context() if ours else ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.num_tickets = tickets
    held = os.memfd_create("test")
    os.write(held, f"{certificate}\n{key}".encode())
    context.load_cert_chain(f"/proc/self/fd/{held}")
    os.close(held)
    return context


class Wire:
    """Both ends of a connection, and what is between them."""

    def __init__(self, server: ssl.SSLContext, client: ssl.SSLContext) -> None:
        client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
        self.there, self.back = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.server = server.wrap_bio(self.there, self.back, server_side=True)
        self.client = client.wrap_bio(self.back, self.there, server_hostname="kith.example")
        waiting = [self.client, self.server]
        while waiting:
            for one in list(waiting):
                try:
                    one.do_handshake()
                    waiting.remove(one)
                except ssl.SSLWantReadError:
                    pass


@pytest.mark.parametrize(("size", "times"), [(1, 3 * WITHOUT_DATA // 22), (100, 2000), (16_384, 40), (100_000, 20)])
def test_whatever_is_said_is_heard(size: int, times: int) -> None:
    wire = Wire(serving(), client_context())
    for speaker, listener in ((wire.server, wire.client), (wire.client, wire.server)):
        said, heard = os.urandom(size), b""
        for _ in range(times):
            speaker.write(said)
        while len(heard) < size * times:
            heard += listener.read(size)
        assert heard == said * times


def test_much_that_brings_nothing_ends_a_connection() -> None:
    wire = Wire(serving(ours=False, tickets=1000), client_context())
    assert wire.back.pending > 3 * WITHOUT_DATA
    with pytest.raises(CostlyTls):
        wire.client.read()
    assert wire.back.pending > WITHOUT_DATA  # nor is the rest looked at


def test_all_tls_is_made_in_one_place() -> None:
    made = re.compile(r"ssl\.(SSLContext|create_default_context)\(|ssl\.create_default_context\b|ssl\._create")
    source = Path(kith.__file__).parent
    found = {str(path.relative_to(source)) for path in source.rglob("*.py") if made.search(path.read_text())}

    assert found == {"base/tls.py", "cli/check/world.py"}  # and where an operator asks whether a host can be reached
