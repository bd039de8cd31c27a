"""Whether two databases hold the same: every row of every table, and every index and constraint."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import asyncpg

from kith.backup.copying.rows import tables_of_file

__all__ = ["rows_of_file", "shape_of_postgres"]

_SHAPE = """
SELECT 'index'::text, indexdef::text FROM pg_indexes WHERE schemaname = current_schema()
UNION ALL SELECT conrelid::regclass::text, conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = current_schema()::regnamespace
UNION ALL SELECT 'table', relname || ' ' || relkind::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace
UNION ALL SELECT 'revision', version_num FROM alembic_version
"""


def rows_of_file(path: Path) -> dict[str, Any]:
    """Documents as what they say: PostgreSQL keeps them in an order of its own. And what SQLite itself knows of them."""
    with closing(sqlite3.connect(path)) as opened:
        rows: dict[str, Any] = {}
        for table in tables_of_file(opened):
            documents = table.places("document")
            found = opened.execute(f'SELECT {table.listed} FROM "{table.name}" ORDER BY {table.listed_key}').fetchall()
            rows[table.name] = [
                tuple(json.loads(v) if at in documents and v is not None else v for at, v in enumerate(row))
                for row in found
            ]
        rows["shape"] = {
            (kind, name, tuple(sorted(line.strip(", \t") for line in (words or "").splitlines())))  # in any order
            for kind, name, words in opened.execute("SELECT type, name, sql FROM sqlite_master")
        }
        rows["counters"] = dict(opened.execute("SELECT name, seq FROM sqlite_sequence"))
        for index in ("social_status_words_index", "social_account_words_index", "identity_users_search"):
            opened.execute(f"INSERT INTO {index} ({index}) VALUES ('integrity-check')")
        return rows


async def shape_of_postgres(url: str) -> set[tuple[str, str]]:
    connection = await asyncpg.connect(url)
    try:
        return {(kind, words) for kind, words in await connection.fetch(_SHAPE)}
    finally:
        await connection.close()
