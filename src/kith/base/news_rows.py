"""News kept as rows, so that a process that could not listen for a while can catch up.

A row is written in the transaction of what it tells, by every process that carries news to others, and is kept for an
hour. On SQLite there is one server process; only commands beside it write rows (`command_news`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Column, String, Table, Text, bindparam, insert

from kith.base.db import METADATA, Session, command
from kith.base.news import Fact

__all__ = ["KEPT", "NewsRow", "add", "news"]

KEPT = timedelta(hours=1)

news = Table(
    "base_news",
    METADATA,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("name", String(100), nullable=False),
    Column("body", Text, nullable=False),
)
_add = command(insert(news).values({column.name: bindparam(column.name) for column in news.columns}).inline())


class NewsRow(msgspec.Struct, frozen=True):
    """One piece of news, as it is written down and carried."""

    id: int
    name: str
    body: str


def kept(id: int, fact: Fact) -> NewsRow:
    return NewsRow(id, type(fact).__name__, msgspec.json.encode(fact).decode())


async def add(db: Session, rows: Sequence[NewsRow]) -> None:
    values: list[dict[str, Any]] = [{"id": one.id, "name": one.name, "body": one.body} for one in rows]
    await db.many(_add, values)
