"""Read replicas: reachable, standbys of this database, and not too far behind."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg

from kith.base.db.replicas import LAG
from kith.base.settings import Settings
from kith.cli.check.findings import Finding, cause, ok, problem, warning

PATIENCE_SECONDS = 5.0


async def replicas(settings: Settings) -> AsyncIterator[Finding]:
    for number, url in enumerate(settings.database_replicas, 1):
        yield await _look_at(number, url, settings.replica_lag_seconds)


async def _look_at(number: int, url: str, most_seconds: int) -> Finding:
    try:
        connection = await asyncpg.connect(url, timeout=PATIENCE_SECONDS, command_timeout=PATIENCE_SECONDS)
        try:
            is_standby = await connection.fetchval("SELECT pg_is_in_recovery()")
            seconds = await connection.fetchval(LAG)
        finally:
            connection.terminate()
    except (OSError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        return problem(
            "database",
            f"read replica {number} is not reachable: {cause(error)}",
            "mend it or take it out of KITH_DATABASE_REPLICAS; until then the primary answers everything",
        )
    if not is_standby:
        return warning(
            "database",
            f"read replica {number} is no standby, so how far it is behind cannot be told",
            "make sure that KITH_DATABASE_REPLICAS names copies that follow KITH_DATABASE",
        )
    if seconds > most_seconds:
        return warning(
            "database",
            f"read replica {number} is {seconds:.0f} s behind and is not asked (limit: {most_seconds} s)",
            "see why replication is slow, or raise KITH_REPLICA_LAG_SECONDS",
        )
    return ok("database", f"read replica {number} is {seconds:.0f} s behind")
