"""Answers and sockets that stay open: ended when whoever they belong to may not enter any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from sqlalchemy import and_, bindparam, or_, select

from kith.base import asking
from kith.base.db import Instant, any_of, query
from kith.base.logger import Logger
from kith.base.work import Work, Works
from kith.identity.gateway.logins import GatewayLogin
from kith.identity.gateway.tables import gateway_sessions
from kith.identity.providers.oauth2.authentication import bearers
from kith.identity.sessions.tables import sessions
from kith.identity.tokens.tables import tokens
from kith.identity.users.tables import is_active, users

__all__ = ["OpenEntries", "OpenEntry"]

LOOK_SECONDS = 1.0
AT_ONCE = 500
_now = bindparam("now", type_=Instant())
_live = query(
    select(gateway_sessions.c.key_hash)
    .join(sessions, sessions.c.session_uuid == gateway_sessions.c.session_uuid)
    .join(users, users.c.id == gateway_sessions.c.user_id)
    .where(
        and_(
            any_of(gateway_sessions.c.key_hash, "hashes"),
            gateway_sessions.c.expires_at > _now,
            sessions.c.expires_at > _now,
            is_active(),
        )
    ),
    str,
)
_app_passwords = query(
    select(tokens.c.key_hash)
    .join(users, users.c.id == tokens.c.user_id)
    .where(
        and_(
            any_of(tokens.c.key_hash, "hashes"),
            or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > _now),
            is_active(),
        )
    ),
    str,
)
_log = Logger()


class OpenEntry:
    """One answer or socket on its way. `end` is called once, if its person may not enter any more."""

    __slots__ = ("end", "login")

    def __init__(self, login: GatewayLogin, end: Callable[[], None]) -> None:
        self.login = login
        self.end = end


class OpenEntries:
    """Looked through every second, and at once when something was announced; not at all while there are none."""

    def __init__(self, works: Works) -> None:
        self._works = works
        self._open: set[OpenEntry] = set()
        self._looking: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()

    def add(self, entry: OpenEntry) -> None:
        self._open.add(entry)
        if self._looking is None:
            self._looking = asking.begin_for_everybody(self._look_on())

    def discard(self, entry: OpenEntry) -> None:
        self._open.discard(entry)

    def look(self) -> None:
        """Something has changed."""
        self._wake.set()

    async def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def _look_on(self) -> None:
        try:
            while self._open:
                try:
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self._wake.wait()
                except TimeoutError:
                    pass
                self._wake.clear()
                try:
                    await self._end_strangers()
                except Exception as error:  # noqa: BLE001 - a database that is away may be back in a moment
                    _log.warning("gateway.not_looked", cause=str(error))
        finally:
            self._looking = None

    async def _end_strangers(self) -> None:
        entries = list(self._open)
        for start in range(0, len(entries), AT_ONCE):
            await self._end_among(entries[start : start + AT_ONCE])

    async def _end_among(self, entries: list[OpenEntry]) -> None:
        hashes = sorted({one.login.key_hash for one in entries if one.login.key_hash})
        given = sorted({one.login.token_hash for one in entries if one.login.token_hash})
        async with self._works.begin() as work:
            live = set(await work.db.all(_live, hashes=hashes, now=work.now)) if hashes else set()
            live |= await _live_tokens(work, given) if given else set()
        for entry in entries:
            if (entry.login.key_hash or entry.login.token_hash) not in live:
                self._open.discard(entry)
                entry.end()


async def _live_tokens(work: Work, hashes: list[str]) -> set[str]:
    """Which of these access tokens and app passwords still open something."""
    found = await bearers.still_open(work, hashes)
    return found | set(await work.db.all(_app_passwords, hashes=hashes, now=work.now))
