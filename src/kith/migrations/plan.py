"""What an upgrade will do, told before it is done: read from the migrations themselves and from the database's counts.

Seconds are a guess from how many rows are touched: an order of magnitude, for whoever decides when to do it.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Literal

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from kith.base.settings import Settings
from kith.migrations.runner import sqlalchemy_url

__all__ = ["UpgradePlan", "UpgradeStep", "find_steps", "plan"]

Reads = Literal["go on", "wait", "end"]

_VERSIONS = Path(__file__).parent / "versions"
_STEP_SECONDS = 0.05
_ROWS_A_SECOND = 150_000  # rewritten or indexed, on a modest machine
# After these the old server asks for what is gone.
_ENDING = frozenset({"drop_column", "drop_table", "rename_table"})
# PostgreSQL lets nobody read a table meanwhile.
_LOCKING = frozenset({"add_column", "alter_column", "batch_alter_table", "drop_constraint", "create_foreign_key"})
_TOUCHING = frozenset({"batch_alter_table", "create_index", "execute", "alter_column"})


class UpgradeStep(msgspec.Struct, frozen=True):
    """`tables` with how many rows each has; `reads` of the old server go on, wait for it, or end with it."""

    revision: str
    words: str
    tables: dict[str, int]
    reads: Reads
    seconds: float


class UpgradePlan(msgspec.Struct, frozen=True):
    current: str | None
    newest: str
    steps: list[UpgradeStep]
    seconds: float
    reads: Reads


class _Migration(msgspec.Struct):
    revision: str
    words: str
    calls: set[str]
    strings: set[str]
    text: str


def _read(path: Path) -> _Migration:
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    calls = {
        node.func.attr for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    strings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    words = (ast.get_docstring(tree) or path.stem).splitlines()[0]
    return _Migration(path.stem.split("_")[0], words, calls, strings, " ".join(strings))


def find_steps(current: str | None, counts: dict[str, int], *, is_sqlite: bool) -> list[UpgradeStep]:
    """Those that come after `current`, in order. The chain is straight and its names are numbers."""
    found = [_read(path) for path in sorted(_VERSIONS.glob("[0-9]*.py"))]
    return [_step(one, counts, is_sqlite=is_sqlite) for one in found if current is None or one.revision > current]


def _step(one: _Migration, counts: dict[str, int], *, is_sqlite: bool) -> UpgradeStep:
    words = set(one.text.replace("(", " ").replace('"', " ").replace(",", " ").split())
    tables = {name: rows for name, rows in counts.items() if name in words}
    reads: Reads = "go on"
    if tables and one.calls & _ENDING:
        reads = "end"
    elif tables and one.calls & _LOCKING and not is_sqlite:
        reads = "wait"
    rows = sum(tables.values()) if one.calls & _TOUCHING else 0
    return UpgradeStep(one.revision, one.words, tables, reads, round(_STEP_SECONDS + rows / _ROWS_A_SECOND, 2))


async def plan(settings: Settings, current: str | None, newest: str) -> UpgradePlan:
    steps = find_steps(current, await _counts(settings), is_sqlite=settings.is_sqlite)
    order: tuple[Reads, ...] = ("go on", "wait", "end")
    worst = max((step.reads for step in steps), key=order.index, default=order[0])
    return UpgradePlan(current, newest, steps, round(sum(step.seconds for step in steps), 1), worst)


async def _counts(settings: Settings) -> dict[str, int]:
    """Exact on SQLite; as PostgreSQL last estimated them, which costs nothing."""
    if settings.is_sqlite:
        if not settings.sqlite_path.is_file():
            return {}
        engine = sa.create_engine(f"sqlite:///{settings.sqlite_path}", poolclass=NullPool)
        with engine.connect() as connection:
            names = [name for name in sa.inspect(connection).get_table_names() if "_search" not in name]
            return {name: connection.exec_driver_sql(f'SELECT count(*) FROM "{name}"').scalar_one() for name in names}
    asynchronous = create_async_engine(sqlalchemy_url(settings.database), poolclass=NullPool)
    try:
        async with asynchronous.connect() as connected:
            rows = await connected.execute(
                sa.text(
                    "SELECT relname::text, greatest(reltuples, 0)::bigint FROM pg_class "
                    "WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
                )
            )
            return {str(name): int(count) for name, count in rows}
    finally:
        await asynchronous.dispose()
