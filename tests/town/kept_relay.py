"""News of a house that stands beside a server on PostgreSQL, told over a connection that is kept for the next house."""

from __future__ import annotations

from contextlib import suppress

import asyncpg

from kith.base.db.postgres import Postgres
from kith.base.news import News
from kith.base.relay import Relay

__all__ = ["KeptRelay"]


class KeptRelay(Relay):
    """Tells and does not listen: a house in a test hears of nothing on SQLite either."""

    def __init__(self, database: Postgres, news: News) -> None:
        super().__init__(database.url, news)
        news.relay = self
        self._lender = database._lender
        self._is_over = False

    async def run(self) -> None:
        while not self._is_over:
            await self._wake.wait()
            self._wake.clear()
            await self._tell()

    def end(self) -> None:
        """What waits is told, and then it runs no more."""
        self._is_over = True
        self._wake.set()

    async def _tell(self) -> None:
        """What cannot be told is found by the server when it looks next."""
        if not self._outbox:
            return
        with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            connection = await self._lender.take()
            try:
                await self._empty_outbox(connection)
            finally:
                self._lender.give(connection)
