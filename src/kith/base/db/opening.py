"""Opening the database that the settings name."""

from __future__ import annotations

from kith.base.db.session import Database
from kith.base.db.sqlite import SQLite
from kith.base.settings import Settings


async def connect(settings: Settings, *, connections: int = 16) -> Database:
    if settings.is_sqlite:
        settings.sqlite_path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return SQLite(settings.sqlite_path)
    from kith.base.db.postgres import Postgres  # noqa: PLC0415 - its driver is loaded when first used

    replicas = None
    if settings.database_replicas:
        from kith.base.db.replicas import Replicas  # noqa: PLC0415

        replicas = Replicas(
            settings.database_replicas, connections=connections, most_seconds=settings.replica_lag_seconds
        )
    return await Postgres.open(settings.database, connections=connections, replicas=replicas)
