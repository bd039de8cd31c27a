"""How this process is doing, told to whoever watches every few seconds."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from kith.base import caches, places
from kith.base.counted_log import take_counts
from kith.base.db import Database
from kith.base.db.figures import FIGURES
from kith.base.event_counts import take_events
from kith.base.metrics import (
    AUDIT_EVENTS,
    COUNTED_EVENTS,
    DATABASE_CONNECTIONS,
    DATABASE_LONG_TURNS,
    DATABASE_SECONDS,
    DATABASE_SLOW,
    DATABASE_STATEMENTS,
    DATABASE_TURN_SECONDS,
    IN_FLIGHT,
    MEMORY,
    PLACES,
    PLACES_REFUSED,
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
    for name, (taken, waiting, refused) in places.take_figures().items():
        PLACES.labels(name, "taken").set(taken)
        PLACES.labels(name, "waiting").set(waiting)
        PLACES_REFUSED.labels(name).inc(refused)
    MEMORY.set(memory())
    for action, count in take_events().items():
        AUDIT_EVENTS.labels(action).inc(count)
    for event, number in take_counts().items():
        COUNTED_EVENTS.labels(event).inc(number)
    count, slow, seconds = FIGURES.take()
    DATABASE_STATEMENTS.inc(count)
    DATABASE_SLOW.inc(slow)
    DATABASE_SECONDS.inc(seconds)
    long_turns, turn_seconds = FIGURES.take_turns()
    DATABASE_LONG_TURNS.inc(long_turns)
    DATABASE_TURN_SECONDS.inc(turn_seconds)
    for state, connections in database.connections().items():
        DATABASE_CONNECTIONS.labels(state).set(connections)


async def tell_forever(database: Database) -> None:
    while True:
        tell(database)
        await asyncio.sleep(TELL_SECONDS)
