"""How this process is doing, told to whoever watches every few seconds."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from kith.base import caches
from kith.base.db import Database
from kith.base.db.figures import FIGURES
from kith.base.event_counts import take_events
from kith.base.metrics import (
    AUDIT_EVENTS,
    DATABASE_CONNECTIONS,
    DATABASE_SECONDS,
    DATABASE_SLOW,
    DATABASE_STATEMENTS,
    IN_FLIGHT,
    MEMORY,
)

__all__ = ["memory", "tell_forever"]

TELL_SECONDS = 5.0


def memory() -> int:
    """Bytes of this process; 0 where the system does not tell."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def tell(database: Database) -> None:
    IN_FLIGHT.tell()
    caches.tell()
    MEMORY.set(memory())
    for action, count in take_events().items():
        AUDIT_EVENTS.labels(action).inc(count)
    count, slow, seconds = FIGURES.take()
    DATABASE_STATEMENTS.inc(count)
    DATABASE_SLOW.inc(slow)
    DATABASE_SECONDS.inc(seconds)
    for state, connections in database.connections().items():
        DATABASE_CONNECTIONS.labels(state).set(connections)


async def tell_forever(database: Database) -> None:
    while True:
        tell(database)
        await asyncio.sleep(TELL_SECONDS)
