"""Do the migrations make the tables that the code declares? On both databases; `--draft` writes the next one."""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
import warnings
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy.ext.asyncio import create_async_engine

from kith import migrations
from kith.migrations import HEAD, is_ours, runner
from kith.schema import METADATA
from tests.town.postgres import fresh_database


def differences(connection: sa.Connection) -> list[str]:
    runner.run(connection)
    context = MigrationContext.configure(connection, opts={"compare_type": True, "include_name": is_ours})
    with warnings.catch_warnings():
        # SQLite tells of such an index that it is there, not of what; those are made by hand (`is_ours`).
        warnings.filterwarnings("ignore", "Skipped unsupported reflection of expression-based index", sa.exc.SAWarning)
        return [str(difference) for difference in compare_metadata(context, METADATA)]


async def on_postgres() -> list[str]:
    async with fresh_database() as url:
        engine = create_async_engine(runner.sqlalchemy_url(url))
        async with engine.begin() as connection:
            found = await connection.run_sync(differences)
        await engine.dispose()
    return found


def draft(message: str) -> None:
    slug = re.sub(r"\W+", "_", message.lower()).strip("_")
    with tempfile.TemporaryDirectory() as folder:
        engine = sa.create_engine(f"sqlite:///{folder}/draft.sqlite3")
        with engine.begin() as connection:
            if runner.known_revisions():
                runner.run(connection)
            config = runner.alembic_config(connection)
            config.attributes["batch"] = bool(runner.known_revisions())
            number = f"{int(max(runner.known_revisions())) + 1:04}"
            command.revision(config, message=message, autogenerate=True, rev_id=number)
    head = Path(migrations.__file__)
    head.write_text(re.sub(r'^HEAD = ".*"$', f'HEAD = "{number}"', head.read_text(), count=1, flags=re.MULTILINE))
    print(f"wrote {number}_{slug}.py and made it the newest (HEAD in kith/migrations/__init__.py); read it")


def main() -> int:
    if sys.argv[1:2] == ["--draft"]:
        draft(sys.argv[2])
        return 0
    newest = max(runner.known_revisions())
    if newest != HEAD:
        print(f"kith.migrations.HEAD is {HEAD}, the newest migration is {newest}")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        engine = sa.create_engine(f"sqlite:///{Path(folder) / 'drift.sqlite3'}")
        with engine.begin() as connection:
            found = {"SQLite": differences(connection)}
    found["PostgreSQL"] = asyncio.run(on_postgres())
    for name, lines in found.items():
        print(f"{name}: tables and migrations {'differ' if lines else 'agree'}")
        for line in lines:
            print(f"  {line}")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())
