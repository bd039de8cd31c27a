"""Opening the database that the settings name."""

from __future__ import annotations

from kith.base.db.session import Database
from kith.base.db.sqlite import SQLite
from kith.base.settings import BadSettings, Settings, label


async def connect(settings: Settings, *, connections: int = 16) -> Database:
    if settings.is_sqlite:
        settings.sqlite_path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return SQLite(settings.sqlite_path)
    from kith.base.db.postgres import Postgres  # noqa: PLC0415 - its driver is loaded when first used
    from kith.base.db.unopened import FAILURES, place_of, reason  # noqa: PLC0415

    replicas = None
    if settings.database_replicas:
        from kith.base.db.replicas import Replicas  # noqa: PLC0415

        replicas = Replicas(
            settings.database_replicas, connections=connections, most_seconds=settings.replica_lag_seconds
        )
    try:
        return await Postgres.open(settings.database, connections=connections, replicas=replicas)
    except FAILURES as error:
        raise BadSettings(
            f"the database at {place_of(settings.database)} cannot be opened: {reason(error)}; "
            f"{label('database')} says where it is"
        ) from error
