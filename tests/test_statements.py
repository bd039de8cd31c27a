"""Statements are built when they are first run; here all of them are, so that none is found wrong later."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import asyncpg
import pytest

from kith.base.db.statement import Statement
from kith.base.settings import load
from tests.conftest import SharedTowns
from tests.statements import all_statements

# What one database alone understands has one statement for each.
_FOR_SQLITE = ("kith.social.admin.dimensions._size[0]", "kith.social.admin.dimensions._version[0]")
_FOR_POSTGRESQL = (
    "kith.cli.check.database._server", "kith.social.admin.dimensions._size[1]", "kith.social.admin.dimensions._version[1]",
)  # fmt: skip


@pytest.fixture(scope="module")
def declared() -> dict[str, Statement[object]]:
    found = all_statements()
    assert len(found) > 1300
    assert found.keys() >= {*_FOR_SQLITE, *_FOR_POSTGRESQL}
    return found


async def test_every_declared_statement_is_one_to_sqlite(
    declared: dict[str, Statement[object]], shared_towns: SharedTowns
) -> None:
    town = await shared_towns.get("sqlite")
    wrong: dict[str, str] = {}
    with closing(sqlite3.connect(load(town.environment).sqlite_path)) as database:
        for name, statement in declared.items():
            if name in _FOR_POSTGRESQL:
                continue
            sql = statement.compiled("sqlite").sql
            try:
                database.execute(f"EXPLAIN {sql}", [None] * sql.count("?"))
            except sqlite3.Error as error:
                wrong[name] = repr(error)

    assert wrong == {}


async def test_every_declared_statement_is_one_to_postgresql(
    declared: dict[str, Statement[object]], shared_towns: SharedTowns
) -> None:
    """It reads them as it would run them: names, types, and what may be compared with what."""
    town = await shared_towns.get("postgresql")
    wrong: dict[str, str] = {}
    database = await asyncpg.connect(town.database)
    try:
        for name, statement in declared.items():
            if name in _FOR_SQLITE:
                continue
            try:
                await database.prepare(statement.compiled("postgresql").sql)
            except asyncpg.PostgresError as error:
                wrong[name] = repr(error)
    finally:
        await database.close()

    assert wrong == {}
