"""The RADIUS server, with the client of FreeRADIUS and with what a phone uses for Wi-Fi (wpa_supplicant)."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.identity.radius_server.packets import (
    MOST_ATTRIBUTES,
    PacketCode,
    RadiusError,
    RadiusType,
    answer_to,
    is_authentic,
    read_packet,
    reveal_password,
)
from kith.identity.radius_server.ttls import read_eap
from tests.identity.records import API, make, new_name
from tests.identity.test_addresses import call
from tests.town import Person, Town, build_town
from tests.town.debian import find_program
from tests.town.ports import ReservedPort
from tests.town.town import Engine

SECRET = "a long enough secret"


class RadiusTown:
    def __init__(self, town: Town, port: int, folder: Path) -> None:
        self.town = town
        self.port = port
        self.folder = folder
        self.application = ""

    async def furnish(self, owner: Person) -> None:
        order = {"common_name": "wifi.localhost", "subject_alt_name": "DNS:wifi.localhost", "validity_days": 30}
        pair = (await owner.call("POST", f"{API}/crypto/certificatekeypairs/generate/", json=order)).json()["pk"]
        provider = await make(owner, "/providers/radius/", name="wifi", shared_secret=SECRET, certificate=pair)
        made = await make(owner, "/core/applications/", name="The Wi-Fi", slug="wifi", provider=provider["pk"])
        self.application = made["pbm_uuid"]

    async def pap(self, name: str, password: str, secret: str = SECRET) -> str:
        """What the device is told."""
        program = await asyncio.to_thread(find_program, "radclient", "freeradius-utils")
        asked = f'User-Name = "{name}"\nUser-Password = "{password}"\nMessage-Authenticator = 0x00\n'
        words = (program, "-x", "-t", "10", "-r", "1", f"127.0.0.1:{self.port}", "auth", secret)
        return (await _run(*words, sent=asked))[1]

    async def wifi(self, name: str, password: str) -> tuple[int, str]:
        """EAP-TTLS as a phone does it: 0, and both sides have the same keys."""
        program = await asyncio.to_thread(find_program, "eapol_test", "eapoltest")
        file = self.folder / f"{name}.conf"
        who = (f'identity="{name}"', f'password="{password}"')
        lines = ('ssid="x"', "key_mgmt=WPA-EAP", "eap=TTLS", *who, 'phase2="auth=PAP"')
        file.write_text("network={\n" + "\n".join(lines) + "\n}\n")
        words = (program, "-c", str(file), "-a", "127.0.0.1", "-p", str(self.port), "-s", SECRET, "-t", "30")
        return await _run(*words)


async def _run(*words: str, sent: str = "") -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    out, _ = await process.communicate(sent.encode())
    return process.returncode or 0, out.decode(errors="replace")


@pytest.fixture(scope="module")
async def radius(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RadiusTown]:
    folder = tmp_path_factory.mktemp("radius")
    reserved = ReservedPort()
    port = reserved.number
    reserved.release()  # it holds the port for UDP, which is what the server needs
    async with build_town(engine, folder / "town", radius_bind=f"127.0.0.1:{port}") as town:
        found = RadiusTown(town, port, folder)
        await found.furnish(await town.sign_up("boss", role="owner"))
        yield found


@pytest.fixture
def boss(radius: RadiusTown) -> Person:
    return Person(radius.town.http, "boss", "correct horse boss")


async def test_a_password_opens_the_network(radius: RadiusTown) -> None:
    ada = await radius.town.sign_up()

    assert "Received Access-Accept" in await radius.pap(ada.username, ada.password)
    wrong = await radius.pap(ada.username, "wrong")
    assert "Received Access-Reject" in wrong
    assert "The name or the password is wrong" in wrong
    assert "Received Access-Reject" in await radius.pap("nobody", ada.password)
    assert "Received Access-Reject" in await radius.pap(ada.username, "")


async def test_an_address_stands_for_nobody_in_the_network(radius: RadiusTown, boss: Person) -> None:
    ada, theirs = await radius.town.sign_up(), "the namesakes one"
    address = f"{ada.username}@example.org"
    owner = await radius.pap(address, ada.password)
    made = await make(boss, "/core/users/", username=new_name("n"), name="N", password=theirs)
    await call(radius.town, made["pk"], address)

    after, namesake = await radius.pap(address, ada.password), await radius.pap(address, theirs)

    assert "Received Access-Reject" in owner
    assert "Received Access-Reject" in after
    assert "Received Access-Accept" in namesake


async def test_the_wifi_of_a_phone_gets_its_keys(radius: RadiusTown) -> None:
    ada = await radius.town.sign_up()

    code, said = await radius.wifi(ada.username, ada.password)
    assert code == 0, said[-2000:]
    assert "MPPE keys OK: 1  mismatch: 0" in said
    code, said = await radius.wifi(ada.username, "wrong")
    assert code != 0
    assert "EAP-Failure" in said


async def test_policies_and_disabled_people_count_at_once(radius: RadiusTown, boss: Person) -> None:
    ada = await radius.town.sign_up()
    [found] = (await boss.get(f"{API}/core/users/", params={"username": ada.username})).json()["results"]
    assert "Received Access-Accept" in await radius.pap(ada.username, ada.password)

    bound = await make(boss, "/policies/bindings/", target=radius.application, user=found["pk"], order=0, negate=True)
    refused = await radius.pap(ada.username, ada.password)
    await boss.call("DELETE", f"{API}/policies/bindings/{bound['pk']}/")
    assert "You may not use this application." in refused
    code = refused.rpartition("(")[2].partition(")")[0]
    assert "The Wi-Fi" in await radius.town.kith("why", code)

    await boss.call("PATCH", f"{API}/core/users/{found['pk']}/", json={"is_active": False})
    assert "Received Access-Reject" in await radius.pap(ada.username, ada.password)


async def test_whoever_does_not_know_the_secret_hears_nothing(radius: RadiusTown, boss: Person) -> None:
    good = _request((RadiusType.USER_NAME, b"boss"), (RadiusType.USER_PASSWORD, bytes(16)))
    unsigned = b"\x01\x07" + (20).to_bytes(2, "big") + bytes(16)
    forged = good[:-1] + bytes((good[-1] ^ 1,))
    heard = await _ask(radius.port, unsigned, forged, b"", b"\x01", os.urandom(60), good)

    # Only the last one is answered: whatever came before it would have been answered first.
    assert len(heard) == 1
    assert heard[0][0] == PacketCode.ACCESS_REJECT


async def test_who_asks_again_gets_the_same_answer(radius: RadiusTown) -> None:
    ada = await radius.town.sign_up()
    again = _request((RadiusType.USER_NAME, ada.username.encode()), (RadiusType.USER_PASSWORD, bytes(16)))

    first, second = await _twice(radius.port, again)

    assert first == second


async def test_one_who_guesses_does_not_keep_the_others_out(engine: Engine, tmp_path: Path) -> None:
    """All of them come from the address of the access point."""
    reserved = ReservedPort()
    reserved.release()
    bind = f"127.0.0.1:{reserved.number}"
    async with build_town(engine, tmp_path / "town", radius_bind=bind, rate_limits="on") as town:
        network = RadiusTown(town, reserved.number, tmp_path)
        await network.furnish(await town.sign_up("boss", role="owner"))
        ada = await town.sign_up()
        guesses = [
            _request((RadiusType.USER_NAME, f"guess{at}".encode()), (RadiusType.USER_PASSWORD, bytes(range(16))), id=at)
            for at in range(30)
        ]
        for one in guesses:
            await _ask(network.port, one)
        told = [await network.pap(ada.username, "wrong") for _ in range(11)]

        assert "Received Access-Accept" in await network.pap("boss", "correct horse boss")
        assert "Too many tries" in told[-1]
        assert "Received Access-Reject" in await network.pap(ada.username, ada.password)


async def test_what_must_be_repeated_leaves_room_or_there_is_no_answer(radius: RadiusTown, boss: Person) -> None:
    name = (RadiusType.USER_NAME, b"nobody")
    long = _request(name, (RadiusType.USER_PASSWORD, bytes(16)), *[(RadiusType.PROXY_STATE, bytes(253))] * 15)
    short = _request(name, (RadiusType.USER_PASSWORD, bytes(16)))
    heard = await _ask(radius.port, long, short)

    assert [len(one) <= 4096 for one in heard] == [True] * len(heard)


async def test_a_conversation_that_has_failed_is_over(radius: RadiusTown, boss: Person) -> None:
    begun = (await _ask(radius.port, _request((RadiusType.EAP_MESSAGE, b"\x02\x01\x00\x06\x01x"))))[0]
    state = dict(read_packet(begun).attributes)[RadiusType.STATE]
    nonsense = b"\x02\x02\x00\x16\x15\x00" + b"\x16\x03\x01\x00\x0b" + b"nonsense..."
    given = ((RadiusType.EAP_MESSAGE, nonsense), (RadiusType.STATE, state))
    heard = [(await _ask(radius.port, _request(*given)))[0][0] for _ in range(2)]

    assert begun[0] == PacketCode.ACCESS_CHALLENGE
    assert heard == [PacketCode.ACCESS_REJECT] * 2


async def test_a_short_secret_and_a_wrong_network_are_refused(boss: Person) -> None:
    sent = {"name": "bad", "shared_secret": "short", "client_networks": "192.0.2.0/24, nowhere"}
    answer = await boss.call("POST", f"{API}/providers/radius/", json=sent)

    assert answer.status_code == 400
    assert set(answer.json()) == {"shared_secret", "client_networks"}


def _request(*attributes: tuple[int, bytes], id: int = 7) -> bytes:
    random = os.urandom(16)
    body = b"".join(bytes((kind, len(value) + 2)) + value for kind, value in attributes)
    head = bytes((PacketCode.ACCESS_REQUEST, id)) + (20 + len(body) + 18).to_bytes(2, "big") + random
    last = bytes((RadiusType.MESSAGE_AUTHENTICATOR, 18))
    return head + body + last + hmac.new(SECRET.encode(), head + body + last + bytes(16), hashlib.md5).digest()


class _Heard(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.heard: asyncio.Queue[bytes] = asyncio.Queue()

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.heard.put_nowait(data)


async def _ask(port: int, *packets: bytes) -> list[bytes]:
    """All that is heard until the last packet is answered."""
    transport, protocol = await asyncio.get_running_loop().create_datagram_endpoint(
        _Heard, remote_addr=("127.0.0.1", port)
    )
    try:
        for one in packets:
            transport.sendto(one)
        found = [await asyncio.wait_for(protocol.heard.get(), 60)]
        while not protocol.heard.empty():
            found.append(protocol.heard.get_nowait())
        return found
    finally:
        transport.close()


async def _twice(port: int, packet: bytes) -> tuple[bytes, bytes]:
    transport, protocol = await asyncio.get_running_loop().create_datagram_endpoint(
        _Heard, remote_addr=("127.0.0.1", port)
    )
    try:
        found = []
        for _ in range(2):
            transport.sendto(packet)
            found.append(await asyncio.wait_for(protocol.heard.get(), 60))
        return found[0], found[1]
    finally:
        transport.close()


# Bytes


@given(st.binary(max_size=300))
def test_no_bytes_whatever_break_the_readers(data: bytes) -> None:
    for read in (read_packet, read_eap):
        with contextlib.suppress(RadiusError):
            read(data)
    with contextlib.suppress(RadiusError):
        reveal_password(data, b"secret", bytes(16))


def test_a_packet_of_thousands_of_attributes_is_not_read() -> None:
    few, many = (bytes((RadiusType.USER_NAME, 2)) * count for count in (MOST_ATTRIBUTES, MOST_ATTRIBUTES + 1))
    head = b"\x01\x07%b" + bytes(16)

    assert len(read_packet(head % (20 + len(few)).to_bytes(2, "big") + few).attributes) == MOST_ATTRIBUTES
    with pytest.raises(RadiusError, match="too many"):
        read_packet(head % (20 + len(many)).to_bytes(2, "big") + many)


@given(st.lists(st.tuples(st.sampled_from([1, 18, 24, 79]), st.binary(max_size=600)), max_size=4))
def test_an_answer_is_read_and_believed_by_the_other_side(attributes: list[tuple[int, bytes]]) -> None:
    asked = read_packet(_request((RadiusType.PROXY_STATE, b"p"), id=9))
    answer = answer_to(asked, PacketCode.ACCESS_ACCEPT, SECRET.encode(), attributes)
    read = read_packet(answer)

    assert (read.code, read.id) == (2, 9)
    assert read.attributes[0][0] == RadiusType.MESSAGE_AUTHENTICATOR
    assert read.attributes[-1] == (RadiusType.PROXY_STATE, b"p")
    whole = hashlib.md5(answer[:4] + asked.authenticator + answer[20:] + SECRET.encode()).digest()
    assert read.authenticator == whole
    for kind in {kind for kind, _ in attributes}:
        assert read.joined(RadiusType(kind)) == b"".join(value for one, value in attributes if one == kind)


def test_a_request_is_believed_only_with_the_right_secret() -> None:
    asked = read_packet(_request((RadiusType.USER_NAME, b"ada")))

    assert is_authentic(asked, SECRET.encode())
    assert not is_authentic(asked, b"another")
