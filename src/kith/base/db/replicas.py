"""Read replicas of PostgreSQL: standbys that answer what may be some seconds old.

Which reads those are, routes say (`may_lag`). Every few seconds each standby is asked whether it is fit for them:
whether it answers, and has replayed something lately. (Workers write every five seconds, so one that keeps up is never
far behind.) One that fails is left alone until it was asked again, and the read goes to the primary.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import count

import asyncpg
import structlog

from kith.base.db.lender import Lender
from kith.base.errors import Unavailable
from kith.base.metrics import REPLICA_FIT, REPLICA_LAG, REPLICA_READS

__all__ = ["LAG", "Replica", "Replicas"]

LOOK_SECONDS = 2.0
PATIENCE_SECONDS = 5.0
# Seconds behind. What is no standby (a balancer's address, another kind of copy) cannot tell and counts as there.
LAG = (
    "SELECT CASE WHEN pg_is_in_recovery() THEN "
    "coalesce(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()), 1e9) ELSE 0 END::float8"
)
_answered, _failed = REPLICA_READS.labels("answered"), REPLICA_READS.labels("failed")
_log = structlog.get_logger()


class Replica:
    """One standby and the connections to it."""

    def __init__(self, name: str, url: str, *, connections: int) -> None:
        self.name = name
        self.lender = Lender(url, most=connections)
        self.is_fit = False

    def answered(self) -> None:
        _answered.inc()

    def fail(self, cause: BaseException, *, is_well: bool = False) -> None:
        """Nobody is sent there until it was looked at again, unless it is well and only could not do this."""
        _failed.inc()
        if is_well:
            return
        if self.is_fit:
            _log.warning("database.replica_failed", replica=self.name, cause=str(cause) or type(cause).__name__)
        self.is_fit = False


class Replicas:
    """Who to ask for what may lag: each fit one in turn."""

    def __init__(self, urls: Sequence[str], *, connections: int, most_seconds: float) -> None:
        self._most_seconds = most_seconds
        self._turns = count()
        self.all = [Replica(str(index), url, connections=connections) for index, url in enumerate(urls, 1)]

    def choose(self) -> Replica | None:
        fit = [one for one in self.all if one.is_fit]
        return fit[next(self._turns) % len(fit)] if fit else None

    async def watch(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self) -> None:
        await asyncio.gather(*map(self._look_at, self.all))

    async def _look_at(self, replica: Replica) -> None:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                seconds = await _ask(replica.lender)
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, Unavailable) as error:
            replica.fail(error)
        else:
            REPLICA_LAG.labels(replica.name).set(seconds)
            if replica.is_fit != (seconds <= self._most_seconds):
                replica.is_fit = not replica.is_fit
                _log.info("database.replica", replica=replica.name, fit=replica.is_fit, behind=round(seconds, 1))
        REPLICA_FIT.labels(replica.name).set(replica.is_fit)

    async def close(self) -> None:
        await asyncio.gather(*(one.lender.close() for one in self.all))


async def _ask(lender: Lender) -> float:
    connection = await lender.take()
    try:
        seconds = float(await connection.fetchval(LAG))
    except BaseException:
        lender.give(connection, is_well=False)
        raise
    lender.give(connection)
    return seconds
