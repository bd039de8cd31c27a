"""The client for directories. It waits, so all of it runs in threads of its own (`Directories`)."""

from __future__ import annotations

import asyncio
import socket
import ssl
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from kith.base import asking
from kith.base.db import writing
from kith.base.http.addresses import PrivateHosts, is_public
from kith.base.places import Full, Places
from kith.identity.sources.ldap.bounded_socket import BoundedSocket
from kith.identity.sources.ldap.entries import DirectoryEntry, read_entry
from kith.identity.sources.ldap.settings import DirectorySettings

T = TypeVar("T")
CONNECT_SECONDS = 15
BIND_SECONDS = 15
ANSWER_SECONDS = 60
PAGE_SIZE = 200
MOST_ENTRIES = 1_000_000  # of one search
MOST_EMPTY = 20  # pages one after the other, of a directory that says that there are more
THREADS = 8
OF_ONE = 3  # places of one directory
PLACE_SECONDS = 20.0  # for a place
_PORTS = (389, 636, 3268, 3269)
# What a directory answers where the name or the password is wrong.
_WRONG_CREDENTIALS = 49


class DirectoryFailed(Exception):  # noqa: N818 - the directory did
    """The directory could not be asked, or said no; the message is for staff."""


class Directories:
    """The threads in which directories are asked."""

    def __init__(self) -> None:
        self._threads: ThreadPoolExecutor | None = None
        self._places = Places("directories", most=THREADS, each={"directory": OF_ONE})

    async def ask(self, source: str, question: Callable[..., T], *given: Any) -> T:
        """Ask the directory of this source. One that is slow keeps only its own people waiting."""
        writing.refuse("A directory is asked")
        if self._threads is None:
            self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="ldap")
        try:
            async with self._places.take(seconds=PLACE_SECONDS, directory=source):
                return await asyncio.get_running_loop().run_in_executor(self._threads, question, *given)
        except Full as error:
            raise DirectoryFailed("it has not answered others in time") from error
        finally:
            await asking.look_again()

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)


class OpenDirectory:
    """A connection that is bound as the source's own user."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.source = ""  # whose directory it is
        self._pages: Iterator[list[DirectoryEntry]] | None = None

    def search(self, base: str, query: str, attributes: tuple[str, ...] = ("*", "+")) -> None:
        self._pages = self._paged(base, query, attributes)

    def next_page(self) -> list[DirectoryEntry]:
        """The next entries of the search; none at its end."""
        return next(self._pages, []) if self._pages is not None else []

    def _paged(self, base: str, query: str, attributes: tuple[str, ...]) -> Iterator[list[DirectoryEntry]]:
        from ldap3 import SUBTREE  # noqa: PLC0415 - loaded when first used

        cookie: Any = None
        count, empty = 0, 0
        while True:
            with _told():
                self._connection.socket.allow(ANSWER_SECONDS)
                _, result, response, _ = self._connection.search(
                    base, query, SUBTREE, attributes=list(attributes), paged_size=PAGE_SIZE, paged_cookie=cookie
                )
                page = [one for one in response or [] if one.get("type") == "searchResEntry"]  # no referrals
                entries = [read_entry(one["dn"], one["raw_attributes"]) for one in page]
                controls = (result.get("controls") or {}).get("1.2.840.113556.1.4.319")
                cookie = controls["value"]["cookie"] if controls else None
            if result["result"] != 0:
                raise DirectoryFailed(f"the search failed: {result['description']} {result.get('message', '')}"[:300])
            count, empty = count + len(entries), 0 if entries else empty + 1
            if count > MOST_ENTRIES or empty > MOST_EMPTY:
                raise DirectoryFailed("the search does not end")
            if entries:
                yield entries
            if not cookie:
                return

    def set_password(self, dn: str, password: str, *, active_directory: bool) -> None:
        """Set somebody's password as an administrator of the directory."""
        from ldap3 import MODIFY_REPLACE  # noqa: PLC0415 - loaded when first used

        with _told():
            self._connection.socket.allow(ANSWER_SECONDS)
            if active_directory:
                quoted = f'"{password}"'.encode("utf-16-le")
                _, result, _, _ = self._connection.modify(dn, {"unicodePwd": [(MODIFY_REPLACE, [quoted])]})
            else:
                result = _modify_password(self._connection, dn, password)
        if result["result"] != 0:
            raise DirectoryFailed(f"{result['description']} {result.get('message', '')}"[:300])

    def close(self) -> None:
        _leave(self._connection)


@contextmanager
def _told() -> Iterator[None]:
    """Whatever a directory answers, and the library makes of it, is the directory's failure."""
    try:
        yield
    except DirectoryFailed:
        raise
    except Exception as error:  # errors of the library, and of reading what is no answer at all
        raise DirectoryFailed(f"{type(error).__name__}: {error}"[:300]) from error


def _leave(connection: Any) -> None:
    with suppress(Exception):
        connection.socket.allow(BIND_SECONDS)
        connection.unbind()


def open_directory(settings: DirectorySettings) -> OpenDirectory:
    """The first of the servers that answers. StartTLS comes before the bind, and without it there is none."""
    return OpenDirectory(_connected(settings, settings.bind_cn, settings.bind_password))


def is_password(settings: DirectorySettings, dn: str, password: str) -> bool:
    """Whether the directory takes the password. An empty one would be a bind as nobody, which always works."""
    if not dn or not password or "\0" in password:
        return False
    try:
        connection = _connected(settings, dn, password)
    except _WrongPassword:
        return False
    _leave(connection)
    return True


class _WrongPassword(DirectoryFailed):
    pass


def _connected(settings: DirectorySettings, name: str, password: str) -> Any:
    if not name or not password:
        raise _WrongPassword("a bind needs a name and a password")
    failed: list[str] = []
    for server in settings.servers:
        try:
            return _connect(settings, server, name, password)
        except _WrongPassword:
            raise
        except DirectoryFailed as error:
            failed.append(f"{server}: {error}")
    raise DirectoryFailed("; ".join(failed) or "there is no server")


def _connect(settings: DirectorySettings, uri: str, name: str, password: str) -> Any:
    from ldap3 import NONE, SAFE_SYNC, Connection, Server  # noqa: PLC0415 - loaded when first used

    parts = urlsplit(uri)
    secure = parts.scheme == "ldaps"
    host, port = parts.hostname or "", parts.port or (636 if secure else 389)
    address = _address(settings, host, port)
    with _tls(settings, host) as tls, _told():
        server = Server(address, port, use_ssl=secure, tls=tls, get_info=NONE, connect_timeout=CONNECT_SECONDS)
        connection = Connection(
            server,
            name,
            password,
            client_strategy=SAFE_SYNC,
            auto_referrals=False,
            receive_timeout=BIND_SECONDS,
            auto_encode=False,
        )
        connection.open()
        try:
            result = _bind(connection, starts_tls=settings.start_tls and not secure)
        except BaseException:
            _leave(connection)
            raise
    if result["result"] == 0:
        return connection
    _leave(connection)
    if result["result"] == _WRONG_CREDENTIALS:
        raise _WrongPassword("the name or the password is wrong")
    raise DirectoryFailed(f"the bind failed: {result['description']} {result.get('message', '')}"[:300])


def _bind(connection: Any, *, starts_tls: bool) -> dict[str, Any]:
    connection.socket = BoundedSocket(connection.socket)
    connection.socket.allow(BIND_SECONDS)
    if starts_tls:
        if not connection.start_tls()[0]:
            raise DirectoryFailed("the server refused StartTLS")
        connection.socket = BoundedSocket(connection.socket)
        connection.socket.allow(BIND_SECONDS)
    _, result, _, _ = connection.bind()
    found: dict[str, Any] = result
    return found


@contextmanager
def _tls(settings: DirectorySettings, host: str) -> Iterator[Any]:
    """Certificates are always checked, by those given or by the system's. A key of our own is needed as a file."""
    from ldap3 import Tls  # noqa: PLC0415 - loaded when first used

    with tempfile.TemporaryDirectory(prefix="kith-ldap-") as folder:
        own: dict[str, Any] = {}
        for option, text in (
            ("local_certificate_file", settings.client_certificate),
            ("local_private_key_file", settings.client_key),
        ):
            if text:
                place = Path(folder, option)
                place.touch(0o600)
                place.write_text(text)
                own[option] = str(place)
        yield Tls(
            validate=ssl.CERT_REQUIRED,
            version=ssl.PROTOCOL_TLS_CLIENT,
            ca_certs_data=settings.ca or None,
            valid_names=[host],
            sni=host if settings.sni else None,
            **own,
        )


def _address(settings: DirectorySettings, host: str, port: int) -> str:
    """The address to connect to. Addresses that are not public are asked only if the operator has listed them."""
    try:
        found = [str(one[4][0]) for one in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except OSError as error:
        raise DirectoryFailed("the name of the server is not known") from error
    exempt = PrivateHosts(settings.private_hosts)
    for address in found:
        ip = ip_address(address.partition("%")[0])
        if (is_public(ip) and (port in _PORTS or port >= 1024)) or exempt.may_reach(host, ip, port):
            return address
    raise DirectoryFailed("this address is not public; add it to KITH_PRIVATE_HOSTS")


def _modify_password(connection: Any, dn: str, password: str) -> dict[str, Any]:
    """The operation of RFC 3062; the directory hashes the password as it is set up to."""
    from ldap3.extend.standard.modifyPassword import ModifyPassword  # noqa: PLC0415 - loaded when first used

    asked = ModifyPassword(connection, dn, None, password.encode(), None, None)
    asked.send()
    result: dict[str, Any] = asked.result
    return result
