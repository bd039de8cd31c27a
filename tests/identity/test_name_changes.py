"""Names whose addresses change between two questions, or lead inwards with one of them: nobody inside is ever reached."""

from __future__ import annotations

import ast
import asyncio
import gc
import socket
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import kith
from kith.base.http import Outgoing, OutgoingError, PrivateHosts
from kith.base.http.guarded_sockets import GuardedSockets
from kith.base.http.names import Names
from kith.base.mail import Mail, MailFailed, mailer
from kith.identity.gateway.upstream.pool import Upstream, UpstreamPool
from kith.identity.sources.ldap import directory
from kith.identity.sources.ldap.settings import DirectorySettings
from kith.identity.stages.mail_servers import MailServer, mailer_of
from tests.town import Town

with warnings.catch_warnings():  # it uses names of another library that are deprecated there
    warnings.simplefilter("ignore")
    import ldap3  # noqa: F401 - loaded when a directory is first asked

NAME = "changing.example"
OPEN, INSIDE = "127.0.0.9", "127.0.0.1"  # the operator has opened the first, where nobody listens
# What the name service says, one question after the other; the last answer stays.
ANSWERS = {
    "inside alone": [[INSIDE]],
    "open, then inside": [[OPEN], [INSIDE]],
    "both": [[OPEN, INSIDE]],
    "both, the other way about": [[INSIDE, OPEN]],
    "inside in disguise": [[f"::ffff:{INSIDE}"]],
    "inside by translation": [["64:ff9b::7f00:1"]],
    "nowhere": [["0.0.0.0"]],
    "a mixture": [[OPEN, "::1"], ["::1", INSIDE], [INSIDE]],
}


@asynccontextmanager
async def inside() -> AsyncIterator[tuple[int, list[str]]]:
    """A server within, on all of this machine's addresses but the open one, and who came there."""
    came: list[str] = []

    async def take(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(str(writer.get_extra_info("peername")))
        writer.close()

    server = await asyncio.start_server(take, INSIDE, 0)
    port = server.sockets[0].getsockname()[1]
    six = await asyncio.start_server(take, "::1", port) if socket.has_ipv6 else None
    try:
        yield port, came
    finally:
        for one in filter(None, (server, six)):
            one.close()
            await one.wait_closed()


async def request(tmp_path: Path, port: int) -> None:
    await _call(lambda outgoing: outgoing.request("GET", f"http://{NAME}:{port}/", timeout=3))


async def post(tmp_path: Path, port: int) -> None:
    await _call(lambda outgoing: outgoing.post(f"http://{NAME}:{port}/", {"host": NAME}, b""))


async def _call(ask: Callable[[Outgoing], Awaitable[Any]]) -> None:
    outgoing = Outgoing("test", [OPEN])
    try:
        for _ in range(3):
            with pytest.raises(OutgoingError):
                await ask(outgoing)
    finally:
        await outgoing.close()


async def mail(tmp_path: Path, port: int) -> None:
    sockets = GuardedSockets(Names(), PrivateHosts([OPEN]), (port,))
    for _ in range(3):
        way = mailer(f"smtp://{NAME}:{port}?tls=none", tmp_path, "a@example.org", patience=2, sockets=sockets)
        with pytest.raises(MailFailed):
            await way.send(Mail(to="b@example.org", subject="Hello", text="Hello"))


async def gateway(tmp_path: Path, port: int) -> None:
    pool = UpstreamPool(PrivateHosts([OPEN]))
    for _ in range(3):
        with pytest.raises(Exception, match=r"connection|address"):
            await pool.connect(Upstream("http", NAME, port, is_guarded=True))


async def ldap(tmp_path: Path, port: int) -> None:
    values: dict[str, Any] = dict.fromkeys(DirectorySettings.__struct_fields__, "")
    values |= {"servers": (f"ldap://{NAME}:{port}",), "start_tls": False, "private_hosts": (OPEN,)}
    for _ in range(3):
        with pytest.raises(directory.DirectoryFailed):
            await asyncio.to_thread(directory._connected, DirectorySettings(**values), "cn=a", "secret")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()  # the library leaves sockets that nobody answered to whoever tidies up


@pytest.mark.parametrize("way", [request, post, mail, gateway, ldap])
@pytest.mark.parametrize("answers", ANSWERS)
async def test_nobody_inside_is_reached_by_a_name(
    way: Callable[[Path, int], Awaitable[None]], answers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = list(ANSWERS[answers])
    real = socket.getaddrinfo

    def answer(host: str, port: Any, *more: Any, **named: Any) -> Any:
        if host != NAME:
            return real(host, port, *more, **named)
        said = left.pop(0) if len(left) > 1 else left[0]
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (one, port or 0, 0, 0))
            if ":" in one
            else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port or 0))
            for one in said
        ]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    async with inside() as (port, came):
        await way(tmp_path, port)
        await asyncio.sleep(0)
    assert came == []


async def test_the_mail_server_of_a_stage_is_not_inside(town: Town) -> None:
    """Whoever may change a stage says which server its mails go to; the network of our own machine is not theirs."""
    async with inside() as (port, came), town.house() as house, house.works.begin() as work:
        for host in (INSIDE, "localhost", "::1", "0.0.0.0", "::ffff:127.0.0.1"):
            named = MailServer(
                use_global_settings=False,
                host=host,
                port=port,
                username="",
                password=None,
                use_tls=False,
                use_ssl=False,
                timeout=2,
                from_address="a@example.org",
            )
            with pytest.raises(MailFailed, match="KITH_PRIVATE_HOSTS"):
                await mailer_of(work, named, sealed_as="").send(Mail(to="b@example.org", subject="Hello", text="Hello"))
    assert came == []


# Who opens connections to others, and by whose word. Whoever is new here needs a guard, and a row above.
GUARDED = "guarded"
OPERATOR = "only where the operator's settings or commands say"
OPENERS = {
    "base/http/client.py": GUARDED,
    "base/http/posting.py": GUARDED,
    "base/http/guarded_sockets.py": GUARDED,
    "base/http/measured.py": GUARDED,  # for client.py, which says where to and by which names
    "base/mail.py": GUARDED,
    "identity/gateway/upstream/pool.py": GUARDED,
    "identity/sources/ldap/directory.py": GUARDED,
    "backup/copying/postgres_target.py": OPERATOR,
    "backup/rehearsal.py": OPERATOR,
    "base/db/lender.py": OPERATOR,
    "base/db/unopened.py": OPERATOR,
    "base/relay.py": OPERATOR,
    "cli/check/outside.py": OPERATOR,
    "cli/check/replicas.py": OPERATOR,
    "cli/check/world.py": OPERATOR,
}
_OPENING = {
    "open_connection", "create_connection", "sock_connect", "create_unix_connection", "connect_ex", "TCPConnector",
    "ClientSession", "SMTP", "urlopen", "HTTPConnection", "HTTPSConnection", "create_datagram_endpoint",
}  # fmt: skip


def _opens(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=name)) if name in _OPENING:
                yield name
            case ast.Call(func=ast.Attribute(attr="connect", value=ast.Name(id="asyncpg"))):
                yield "asyncpg.connect"
            case ast.ImportFrom(module="ldap3", names=names):
                yield from (one.name for one in names if one.name == "Connection")
            case ast.Import(names=names):
                yield from (one.name for one in names if one.name in ("requests", "httpx", "urllib3", "http.client"))


def test_whoever_opens_connections_is_known() -> None:
    root = Path(kith.__file__).parent
    found = {}
    for path in sorted(root.rglob("*.py")):
        text = path.read_text()
        if any(word in text for word in (*_OPENING, "asyncpg", "ldap3", "import requests", "import httpx")):
            opened = sorted(set(_opens(ast.parse(text))))
            if opened:
                found[str(path.relative_to(root))] = opened
    answering = {"identity/radius_server/listener.py"}  # it answers who asks, and asks nobody
    assert {name: words for name, words in found.items() if name not in OPENERS and name not in answering} == {}
    assert sorted(set(OPENERS) - set(found)) == []
