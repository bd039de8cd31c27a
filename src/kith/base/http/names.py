"""Asking the name service, for a while and not too often."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from ipaddress import ip_address
from typing import Literal

from kith.base import asking
from kith.base.caches import ForAWhile
from kith.base.http.sites import registrable_domain
from kith.base.places import Places, TakenPlace

__all__ = ["Names"]

SECONDS = 2.0
KEPT_SECONDS = 180.0
MOST_KEPT = 64
MOST_AT_ONCE = 32
# A dead name server holds a question for half a minute. So one domain and one caller get a few, and all strangers
# together a half: the rest is for members and for the server's own work.
EACH = {"host": 4, "caller": 8}
FOR_STRANGERS = 0.5
_HOST = re.compile(r"[A-Za-z0-9_:.-]{1,253}")
_FAMILIES = {None: socket.AF_UNSPEC, 4: socket.AF_INET, 6: socket.AF_INET6}

_Question = tuple[str, object]


class Names:
    """A name service that does not answer holds up nobody but whoever asked, and them for `seconds`.

    The system's resolver cannot be interrupted: each question has a thread of its own that the end of the
    server does not wait for, and only so many may be open at once, in all, about one domain and for one caller. Who
    asks the same at the same time waits for one answer.
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
        """`name` is that of its cache and its places. `keep_none`: whether it is also kept that nobody could tell."""
        self._kept: ForAWhile[list[str]] = ForAWhile(name, seconds=KEPT_SECONDS, most=most_kept)
        self._seconds, self._keep_none = seconds, keep_none
        self._places = Places(name, most=most_at_once, each=EACH, strangers=int(most_at_once * FOR_STRANGERS))
        self._open: dict[_Question, asyncio.Future[list[str]]] = {}

    async def resolve(self, host: str, version: Literal[4, 6] | None = None) -> list[str]:
        """Every address of `host`; none if it has none or nobody can tell. Raises `Full`."""
        if not _HOST.fullmatch(host):
            return []
        name = host.lower()
        found = self._kept.get((name, version))
        if found is not None:
            return found
        site = registrable_domain(name.rstrip("."))
        return await self._ask((name, version), site, lambda: _addresses(host, _FAMILIES[version]))

    async def reverse(self, address: str) -> str | None:
        """The name that an address says it has; None if nobody can tell. Raises `Full`."""
        try:
            ip = str(ip_address(address))
        except ValueError:
            return None
        found = self._kept.get((ip, "reverse"))
        if found is None:
            look = partial(socket.getnameinfo, (ip, 0), socket.NI_NAMEREQD)
            found = await self._ask((ip, "reverse"), ip, lambda: [look()[0]])
        return found[0] if found else None

    async def _ask(self, question: _Question, site: str, look: Callable[[], list[str]]) -> list[str]:
        answer = self._open.get(question)
        if answer is None:
            place = await self._places.enter(
                seconds=self._seconds,
                is_stranger=asking.is_for_a_stranger(),
                host=site,
                caller=asking.caller(),
            )
            answer = self._open.get(question)  # somebody else may have asked meanwhile
            if answer is None:
                answer = self._begin(question, place, look)
            else:
                place.give_back()
        try:
            return await asyncio.wait_for(asyncio.shield(answer), self._seconds)
        except TimeoutError:
            return []

    def _begin(
        self, question: _Question, place: TakenPlace, look: Callable[[], list[str]]
    ) -> asyncio.Future[list[str]]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[str]] = loop.create_future()
        self._open[question] = answer

        def tell(value: list[str]) -> None:
            del self._open[question]
            if value or self._keep_none:
                self._kept.put(question, value)
            answer.set_result(value)
            place.give_back()

        def run() -> None:
            try:
                value = look()
            except (OSError, ValueError):
                value = []
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(tell, value)

        threading.Thread(target=run, name="name", daemon=True).start()
        return answer


def _addresses(host: str, family: socket.AddressFamily) -> list[str]:
    found = socket.getaddrinfo(host, None, family=family, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))[:50]
