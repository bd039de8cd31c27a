"""What the server does in the background, for those who look after its machinery."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from kith.base.errors import NotFound
from kith.base.jobs import store
from kith.base.jobs.tables import DEAD, READY, RUNNING, Job
from kith.base.routing import FromPath, FromQuery, delete, get, post
from kith.base.work import Work
from kith.social.moments import maybe, moment
from kith.social.staff import TheStaff, record, staff

PATH = "/api/v1/admin/jobs"
SEE = staff("view_devops", scope="admin:read")
CHANGE = staff("view_devops", scope="admin:write")
STATES = {"ready": READY, "running": RUNNING, "dead": DEAD}
LIMIT, MOST = 50, 500
_LINK = re.compile(r"(https?://[^\s/?#'\"<>]{1,300})[/?#][^\s'\"<>]*", re.IGNORECASE)
_ADDRESS = re.compile(r"[^\s<>'\"(),:;@]{1,200}@(?=[^\s@])")
_WORDS = {number: word for word, number in STATES.items()}


class JobQuery(msgspec.Struct, kw_only=True):
    state: str = "dead"
    kind: str = ""
    limit: int = LIMIT


def _shown(job: Job) -> dict[str, Any]:
    """Without what it was given: that may be a key to somebody's account, or what they wrote."""
    return {
        "id": str(job.id),
        "kind": job.kind,
        "state": _WORDS[job.state],
        "attempts": job.attempts,
        "error": None if job.error is None else _without_names(job.error),
        "run_at": moment(job.run_at),
        "created_at": moment(job.created_at),
    }


def _without_names(error: str) -> str:
    """Which servers it is about, but neither where exactly there nor whose mailbox."""
    return _ADDRESS.sub("…@", _LINK.sub(r"\1/…", error))


@get(PATH, guards=[SEE])
async def show_jobs(work: Work, asked: FromQuery[JobQuery]) -> list[dict[str, Any]]:
    """Those that failed for good, or those in another state; the oldest first."""
    most = min(abs(asked.limit) or LIMIT, MOST)
    found = await store.listed(work.db, state=STATES.get(asked.state, DEAD), kind=asked.kind[:100], most=most)
    return [_shown(job) for job in found]


@get(f"{PATH}/counts", guards=[SEE])
async def show_counts(work: Work) -> dict[str, Any]:
    """How many there are of each kind; `seen_at` is when a worker last said that it lives."""
    counts = [
        {"kind": kind, "state": _WORDS[state], "count": count, "oldest_run_at": maybe(since)}
        for kind, state, count, since in await store.counts(work.db)
    ]
    return {"counts": counts, "seen_at": maybe(await store.last_beat(work.db))}


@post(f"{PATH}/retry", guards=[CHANGE])
async def retry_all(work: Work, by: TheStaff) -> dict[str, Any]:
    """Everything that failed for good is tried again."""
    count = await store.retry(work.db, None, work.now)
    await record(work, by, "retry_jobs", count=count)
    return {"count": count}


@post(f"{PATH}/{{id}}/retry", guards=[CHANGE])
async def retry_one(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    if not await store.retry(work.db, id, work.now):
        raise NotFound
    await record(work, by, "retry_job", job={"id": str(id)})
    return {"count": 1}


@delete(f"{PATH}/{{id}}", guards=[CHANGE])
async def discard(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    """Forget one that failed for good."""
    if not await store.discard(work.db, id):
        raise NotFound
    await record(work, by, "discard_job", job={"id": str(id)})
    return {}


routes = [show_jobs, show_counts, retry_all, retry_one, discard]
