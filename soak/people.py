"""Who acts: people with tokens, how they ask, and what an answer may be."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections.abc import Iterable
from typing import Any

import aiohttp
import msgspec

from soak.ledger import Ledger
from soak.town import Site
from soak.windows import Windows

__all__ = ["Answer", "Asker", "Person"]

PATIENCE_SECONDS = 40.0
_FINE = frozenset({200})
_DURING_FAULTS = frozenset({503, 507})


class Answer(msgspec.Struct, frozen=True):
    """`status` is 0 where none came: then nobody knows what became of it."""

    status: int
    body: Any = None

    @property
    def is_yes(self) -> bool:
        return 200 <= self.status < 300

    @property
    def outcome(self) -> bool | None:
        """Whether it was accepted; None where nobody can know: no answer, or the database went away, perhaps with a
        commit that was made. A full disk is known before anything is written down."""
        if self.is_yes:
            return True
        return None if self.status == 0 or self.status in (500, 503) else False


class Asker:
    """Sends requests past the balancer to each server in turn, and judges the answers."""

    def __init__(self, ledger: Ledger, windows: Windows, session: aiohttp.ClientSession) -> None:
        self.ledger, self.windows, self.session = ledger, windows, session
        self._turns = itertools.count()
        self.open: dict[int, tuple[str, float]] = {}
        self._numbers = itertools.count()

    def address(self, site: Site) -> str:
        """Of the next server: one that is down is asked too, as clients do not know that."""
        servers = site.servers
        return f"http://127.0.0.1:{servers[next(self._turns) % len(servers)].port}"

    async def ask(
        self, site: Site, kind: str, method: str, path: str, *, fine: Iterable[int] = _FINE, **options: Any
    ) -> Answer:
        headers = {"Host": site.host} | options.pop("headers", {})
        started_at, number = time.monotonic(), next(self._numbers)
        self.open[number] = (f"{kind} {method} {path}", started_at)
        said = ""
        try:
            async with (
                asyncio.timeout(PATIENCE_SECONDS),
                self.session.request(
                    method, self.address(site) + path, headers=headers, allow_redirects=False, **options
                ) as response,
            ):
                raw = await response.read()
                answer = Answer(response.status, _decoded(raw, response.content_type))
        except TimeoutError:
            answer, said = Answer(0), "timeout"
        except (aiohttp.ClientError, OSError) as error:
            answer, said = Answer(0), type(error).__name__
        finally:
            del self.open[number]
        took = time.monotonic() - started_at
        self.ledger.answered(kind, said or str(answer.status), took)
        self._judge(site, kind, f"{method} {path}", answer, said, frozenset(fine), started_at)
        return answer

    def _judge(
        self, site: Site, kind: str, what: str, answer: Answer, said: str, fine: frozenset[int], since: float
    ) -> None:
        faults = self.windows.since(since)
        if said == "timeout":
            self.ledger.violated("no answer in time", f"{site.name} {kind} {what} ({faults or 'no fault'})")
        elif answer.status == 0:
            if not faults:
                self.ledger.violated("connection lost without a fault", f"{site.name} {kind} {what}: {said}")
        elif answer.status in fine:
            pass
        elif answer.status in _DURING_FAULTS:
            if not faults:
                self.ledger.violated("refused without a fault", f"{site.name} {kind} {what}: {answer}")
            elif answer.status == 507 and "disk" not in faults:
                self.ledger.violated("no space without a full disk", f"{site.name} {kind} {what}: {answer}")
        elif answer.status >= 500:
            self.ledger.violated("answered 5xx", f"{site.name} {kind} {what}: {answer} ({faults or 'no fault'})")
        else:
            self.ledger.violated("unexpected answer", f"{site.name} {kind} {what}: {answer} ({faults or 'no fault'})")


def _decoded(raw: bytes, type: str) -> Any:
    if type.endswith("json") and raw:
        try:
            return msgspec.json.decode(raw)
        except msgspec.DecodeError:
            return raw[:200]
    return raw[:200].decode(errors="replace")


class Person:
    """Somebody with an account at one of the servers, who does one thing after the other."""

    def __init__(self, asker: Asker, site: Site, name: str, token: str, id: str, dice: random.Random) -> None:
        self.asker, self.site, self.name, self.token, self.id, self.dice = asker, site, name, token, id, dice
        self.known: dict[str, str] = {}  # what others are called here, by their whole name

    @property
    def ledger(self) -> Ledger:
        return self.asker.ledger

    @property
    def handle(self) -> str:
        return f"{self.name}@{self.site.host}"

    async def ask(self, kind: str, method: str, path: str, **options: Any) -> Answer:
        headers = {"Authorization": f"Bearer {self.token}"} | options.pop("headers", {})
        return await self.asker.ask(self.site, kind, method, path, headers=headers, **options)
