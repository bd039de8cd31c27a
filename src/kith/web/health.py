"""Is the server alive, and is it of use?"""

from __future__ import annotations

from datetime import timedelta

from litestar import Response, get
from litestar.di import NamedDependency

from kith.base.errors import Unavailable
from kith.base.jobs import store as jobs
from kith.base.watchdog import Watchdog
from kith.base.work import Work
from kith.migrations import HEAD

WORKER_SILENCE = timedelta(seconds=30)


@get("/health", sync_to_thread=False)
def alive() -> dict[str, str]:
    return {"status": "ok"}


@get("/health/ready")
async def ready(work: NamedDependency[Work]) -> Response[dict[str, object]]:
    """Ready means: the database answers, its schema is ours, a worker has been heard of lately, and the event loop has
    not stood still a moment ago."""
    checks = {"database": False, "migrations": False, "worker": False, "loop": work.find(Watchdog).is_turning}
    try:
        checks["migrations"] = await work.revision() == HEAD
        checks["database"] = True
        seen = await jobs.last_beat(work.db)
        checks["worker"] = seen is not None and work.now - seen < WORKER_SILENCE
    except (Unavailable, OSError):
        pass
    fine = all(checks.values())
    return Response({"status": "ok" if fine else "not ready", **checks}, status_code=200 if fine else 503)


routes = [alive, ready]
