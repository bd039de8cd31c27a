"""A published LDAP client in Python, pointed at a town. It uses names of another library that are deprecated there."""

from __future__ import annotations

import asyncio
import ssl
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from tests.identity.ldap_client import BASE, LdapTown, name_of
from tests.town import Person

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from ldap3 import ALL, MODIFY_REPLACE, Connection, Server, Tls
    from ldap3.utils.conv import escape_filter_chars
    from ldap3.utils.dn import escape_rdn

__all__ = ["MODIFY_REPLACE", "Bound", "Connection", "Server", "escape_filter_chars", "escape_rdn", "found_by"]

T = TypeVar("T")


class Bound:
    """A connection of the library; what it does blocks, so it is done in a thread."""

    def __init__(self, ldap: LdapTown, who: Person | None, password: str | None = None, *, tls: str = "") -> None:
        self._ldap = ldap
        self._who = who
        self._password = password
        self._tls = tls

    async def do(self, what: Callable[[Connection], T]) -> T:
        return await asyncio.to_thread(self._do, what)

    def _do(self, what: Callable[[Connection], T]) -> T:
        port = self._ldap.encrypted if self._tls == "all" else self._ldap.plain
        unchecked = Tls(validate=ssl.CERT_NONE)
        server = Server("127.0.0.1", port=port, use_ssl=self._tls == "all", tls=unchecked, get_info=ALL)
        given: dict[str, Any] = {"receive_timeout": 20, "auto_bind": False, "auto_encode": True}
        if self._who is not None:
            given |= {"user": name_of(self._who), "password": self._password or self._who.password}
        connection = Connection(server, **given)
        connection.open()
        if self._tls == "start":
            assert connection.start_tls()
        if self._who is not None:
            connection.bind()
        try:
            return what(connection)
        finally:
            connection.unbind()


def found_by(connection: Connection, asked: str, **more: Any) -> dict[str, dict[str, Any]]:
    connection.search(BASE, asked, **{"attributes": ["*"]} | more)
    return {one["dn"]: one["attributes"] for one in connection.response if one["type"] == "searchResEntry"}
