"""News of commands beside a server on SQLite, where nobody can be called: it is written down, and the server looks.

A command writes what it tells into the table of news, in the transaction of what it did (`news_rows`). The one server
process asks four times a second whether the database has changed, which costs next to nothing, and reads the rows. It
writes none itself, so whatever is there is of a command; what was told is deleted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from sqlalchemy import delete, select

from kith.base.db import Database, any_of, command, query
from kith.base.logger import Logger
from kith.base.news import News
from kith.base.news_rows import NewsRow, news

__all__ = ["CommandNews", "Written"]

LOOK_SECONDS = 0.25
AT_ONCE = 500
_log = Logger()
_rows = query(select(news).order_by(news.c.id).limit(AT_ONCE), NewsRow)
_forget = command(delete(news).where(any_of(news.c.id, "ids")))


class Written:
    """For a command: its news is in the table already, and nobody is called."""

    def send(self, news: Sequence[NewsRow], *, lanes: Collection[str]) -> None:
        pass


class CommandNews:
    def __init__(self, database: Database, news: News) -> None:
        self._database = database
        self._news = news
        self._version: int | None = None
        self._told: set[int] = set()

    async def run(self) -> None:
        """What was written before the server came is news to nobody, but is told: it does no harm."""
        while True:
            try:
                await self._look()
            except Exception as error:  # noqa: BLE001 - a busy or full disk may be well again in a moment
                _log.warning("news.not_read", cause=str(error))
            await asyncio.sleep(LOOK_SECONDS)

    async def _look(self) -> None:
        version = self._database.version()
        if version == self._version:
            return
        session = self._database.session()
        try:
            rows = await session.all(_rows)
            for row in rows:
                if row.id not in self._told:
                    self._told.add(row.id)
                    self._news.arrived(row.name, row.body.encode())
            if rows:
                self._news.call_workers()
                await session.run(_forget, ids=[row.id for row in rows])
            await session.commit()
        except BaseException:
            await session.rollback()
            raise
        self._told.difference_update(row.id for row in rows)
        self._version = version if len(rows) < AT_ONCE else None
