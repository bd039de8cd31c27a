"""How full the server is at this moment."""

from __future__ import annotations

import os
import shutil

import msgspec
from sqlalchemy import func, select

from kith.base.db import METADATA, query
from kith.base.jobs import store as jobs
from kith.base.jobs.tables import DEAD
from kith.base.vitals import memory
from kith.base.work import Work

__all__ = ["OWN_JOB", "Levels", "read_levels"]

# The table is named, for pages and federation do not know each other.
_deliveries = query(lambda: select(func.count()).select_from(METADATA.tables["federation_deliveries"]), int)
OWN_JOB = "levels.note"  # by which levels are noted down, and which is under way while it counts


class Levels(msgspec.Struct, frozen=True):
    """Bytes, and how much of each waits."""

    disk: int
    disk_size: int
    memory: int
    memory_size: int
    jobs: int
    jobs_failed: int
    deliveries: int


async def read_levels(work: Work) -> Levels:
    disk = shutil.disk_usage(work.settings.data)
    counts = [one for one in await jobs.counts(work.db) if one[0] != OWN_JOB]
    failed = sum(count for _, state, count, _ in counts if state == DEAD)
    [deliveries] = await work.db.slow(_deliveries)
    return Levels(
        disk=disk.used,
        disk_size=disk.total,
        memory=memory(),
        memory_size=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        jobs=sum(count for _, _, count, _ in counts) - failed,
        jobs_failed=failed,
        deliveries=deliveries,
    )
