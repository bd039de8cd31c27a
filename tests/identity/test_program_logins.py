"""Sign-ins through LDAP and RADIUS are in the audit trail, once per person, address and hour, and are last logins."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kith.identity.radius_server.packets import PacketCode, RadiusType
from tests.identity.ldap_client import LdapTown, name_of
from tests.identity.ldap_library import Connection, Server
from tests.identity.records import API, results
from tests.identity.test_flows_run import run_sql
from tests.identity.test_radius_server import SECRET, RadiusTown
from tests.town import Person, Town, build_town
from tests.town.ports import ReservedPort
from tests.town.town import Engine

Enter = Callable[[Person, str], Awaitable[bool]]


class Programs:
    """A town with both servers, and somebody who uses them."""

    def __init__(self, town: Town, ldap: LdapTown, radius: RadiusTown, boss: Person) -> None:
        self.town, self.ldap, self.radius, self.boss = town, ldap, radius, boss

    async def bind(self, person: Person, password: str, source: str = "127.0.0.1") -> bool:
        def do() -> bool:
            server = Server("127.0.0.1", port=self.ldap.plain)
            connection = Connection(
                server,
                user=name_of(person),
                password=password,
                source_address=source,
                receive_timeout=20,
            )
            try:
                return bool(connection.bind())
            finally:
                connection.unbind()

        return await asyncio.to_thread(do)

    async def accept(self, person: Person, password: str, source: str = "127.0.0.1") -> bool:
        packet = _access_request(person.username, password)
        return await asyncio.to_thread(_send, self.radius.port, packet, source) == PacketCode.ACCESS_ACCEPT

    async def logins(self, person: Person, app: str) -> list[dict[str, Any]]:
        [user] = await results(self.boss, "/core/users/", username=person.username)
        found = await results(self.boss, "/audit/events/", action="login", user=user["pk"])
        return [one for one in found if one["app"] == app]

    async def last_login(self, person: Person) -> str | None:
        [user] = await results(self.boss, "/core/users/", username=person.username)
        at: str | None = user["last_login"]
        return at


def _access_request(username: str, password: str) -> bytes:
    """PAP (RFC 2865), signed with the secret."""
    secret, random = SECRET.encode(), os.urandom(16)
    clear, hidden, before = password.encode(), b"", random
    for at in range(0, len(clear), 16):
        mask = hashlib.md5(secret + before).digest()
        before = bytes(one ^ other for one, other in zip(clear[at : at + 16].ljust(16, b"\0"), mask, strict=True))
        hidden += before
    attributes = ((RadiusType.USER_NAME, username.encode()), (RadiusType.USER_PASSWORD, hidden))
    body = b"".join(bytes((kind, len(value) + 2)) + value for kind, value in attributes)
    head = bytes((PacketCode.ACCESS_REQUEST, random[0])) + (20 + len(body) + 18).to_bytes(2, "big") + random
    signed = head + body + bytes((RadiusType.MESSAGE_AUTHENTICATOR, 18))
    return signed + hmac.new(secret, signed + bytes(16), hashlib.md5).digest()


def _send(port: int, packet: bytes, source: str) -> int:
    """The code of the answer."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as device:
        device.settimeout(30)
        device.bind((source, 0))
        device.sendto(packet, ("127.0.0.1", port))
        return device.recv(4096)[0]


@pytest.fixture(scope="module")
async def programs(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Programs]:
    folder, udp = tmp_path_factory.mktemp("programs"), ReservedPort()
    udp.release()  # it holds the port for UDP, which is what the server needs
    with ReservedPort() as plain, ReservedPort() as encrypted:
        ldap_bind, radius_bind = f"127.0.0.1:{plain.number}", f"127.0.0.1:{udp.number}"
        async with build_town(engine, folder / "town", ldap_bind=ldap_bind, radius_bind=radius_bind) as town:
            boss = await town.sign_up("boss", role="owner")
            ldap, radius = LdapTown(town, plain, encrypted), RadiusTown(town, udp.number, Path(folder))
            await ldap.furnish(boss)
            await radius.furnish(boss)
            yield Programs(town, ldap, radius, boss)


@pytest.mark.parametrize("app", ["providers.ldap", "providers.radius"])
async def test_a_sign_in_by_a_program_is_written_down_once_an_hour(programs: Programs, app: str) -> None:
    ada = await programs.town.sign_up()
    enter: Enter = programs.bind if app == "providers.ldap" else programs.accept

    assert not await enter(ada, "wrong")
    assert (await programs.logins(ada, app), await programs.last_login(ada)) == ([], None)
    assert [await enter(ada, ada.password) for _ in range(3)] == [True] * 3
    [event] = await programs.logins(ada, app)
    first = await programs.last_login(ada)

    assert first is not None
    assert event["context"]["auth_method"] == app.partition(".")[2]
    assert event["context"]["authorized_application"]["name"]
    assert event["client_ip"] == "127.0.0.1"

    # another process knows of it, and an hour later it is new
    await programs.town.stop()
    await programs.town.start()
    assert await enter(ada, ada.password)
    assert len(await programs.logins(ada, app)) == 1
    long_ago = "'2020-01-01T00:00:00.000000Z'" if programs.town.engine == "sqlite" else "'2020-01-01T00:00:00Z'"
    await run_sql(programs.town, f"UPDATE identity_events SET created_at = {long_ago} WHERE action = 'login'")
    await programs.town.stop()
    await programs.town.start()
    assert await enter(ada, ada.password)
    assert len(await programs.logins(ada, app)) == 2
    assert str(await programs.last_login(ada)) > first


@pytest.mark.parametrize("app", ["providers.ldap", "providers.radius"])
async def test_each_address_is_written_down(programs: Programs, app: str) -> None:
    ada = await programs.town.sign_up()
    enter = programs.bind if app == "providers.ldap" else programs.accept

    for source in ("127.0.0.1", "127.0.0.2", "127.0.0.1", "127.0.0.2"):
        assert await enter(ada, ada.password, source)

    assert sorted(one["client_ip"] for one in await programs.logins(ada, app)) == ["127.0.0.1", "127.0.0.2"]


async def test_who_is_refused_by_a_policy_has_not_signed_in(programs: Programs) -> None:
    ada = await programs.town.sign_up()
    [user] = await results(programs.boss, "/core/users/", username=ada.username)
    sent = {"target": programs.ldap.application, "user": user["pk"], "order": 0, "negate": True}
    bound = await programs.boss.call("POST", f"{API}/policies/bindings/", json=sent)

    assert not await programs.bind(ada, ada.password)
    await programs.boss.call("DELETE", f"{API}/policies/bindings/{bound.json()['pk']}/")
    assert (await programs.logins(ada, "providers.ldap"), await programs.last_login(ada)) == ([], None)
