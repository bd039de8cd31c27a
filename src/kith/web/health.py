"""Is the server alive, and is it of use?"""

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.errors import Unavailable
from kith.base.exchange import JSON, Answer
from kith.base.jobs import store as jobs
from kith.base.routing import get
from kith.base.work import Work
from kith.migrations import HEAD

WORKER_SILENCE = timedelta(seconds=30)


@get("/health")
async def alive() -> dict[str, str]:
    return {"status": "ok"}


@get("/health/ready")
async def ready(work: Work) -> Answer:
    """Ready means: the database answers, its schema is ours, and a worker has been heard of lately."""
    checks = {"database": False, "migrations": False, "worker": False}
    try:
        checks["migrations"] = await work.revision() == HEAD
        checks["database"] = True
        seen = await jobs.last_beat(work.db)
        checks["worker"] = seen is not None and work.now - seen < WORKER_SILENCE
    except (Unavailable, OSError):
        pass
    fine = all(checks.values())
    told = {"status": "ok" if fine else "not ready", **checks}
    return Answer(200 if fine else 503, JSON, msgspec.json.encode(told))


routes = [alive, ready]
