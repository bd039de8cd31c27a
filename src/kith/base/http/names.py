"""Asking the name service, for a while and not too often."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address
from typing import Literal

from kith.base.caches import ForAWhile

__all__ = ["Names"]

SECONDS = 2.0
KEPT_SECONDS = 180.0
MOST_KEPT = 64
MOST_AT_ONCE = 4
_HOST = re.compile(r"[A-Za-z0-9_:.-]{1,253}")
_FAMILIES = {None: socket.AF_UNSPEC, 4: socket.AF_INET, 6: socket.AF_INET6}


class Names:
    """A name service that does not answer holds up nobody but whoever asked, and them for `seconds`.

    The system's resolver cannot be interrupted: each question has a thread of its own that the end of the
    server does not wait for, and only a few may be open at once.
    """

    def __init__(
        self,
        name: str = "names",
        *,
        seconds: float = SECONDS,
        most_kept: int = MOST_KEPT,
        most_at_once: int = MOST_AT_ONCE,
        keep_none: bool = True,
    ) -> None:
        """`name` is that of its cache. `keep_none`: whether it is also kept that nobody could tell."""
        self._kept: ForAWhile[list[str]] = ForAWhile(name, seconds=KEPT_SECONDS, most=most_kept)
        self._seconds, self._most_at_once, self._keep_none = seconds, most_at_once, keep_none
        self._open = 0

    async def resolve(self, host: str, version: Literal[4, 6] | None = None) -> list[str]:
        """Every address of `host`; none if it has none or nobody can tell."""
        if not _HOST.fullmatch(host):
            return []
        return await self._ask((host.lower(), version), lambda: _addresses(host, _FAMILIES[version]))

    async def reverse(self, address: str) -> str | None:
        try:
            ip = str(ip_address(address))
        except ValueError:
            return None
        found = await self._ask((ip, "reverse"), lambda: [socket.getnameinfo((ip, 0), socket.NI_NAMEREQD)[0]])
        return found[0] if found else None

    async def _ask(self, question: tuple[str, object], look: Callable[[], list[str]]) -> list[str]:
        found = self._kept.get(question)
        if found is not None:
            return found
        if self._open >= self._most_at_once:
            return []
        self._open += 1
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[str]] = loop.create_future()

        def tell(value: list[str]) -> None:
            self._open -= 1
            if value or self._keep_none:
                self._kept.put(question, value)
            if not answer.done():
                answer.set_result(value)

        def run() -> None:
            try:
                value = look()
            except (OSError, ValueError):
                value = []
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(tell, value)

        threading.Thread(target=run, name="name", daemon=True).start()
        try:
            return await asyncio.wait_for(answer, self._seconds)
        except TimeoutError:
            return []


def _addresses(host: str, family: socket.AddressFamily) -> list[str]:
    found = socket.getaddrinfo(host, None, family=family, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))[:50]
