"""Backups and their rehearsals, for those who look after the machinery."""

from __future__ import annotations

from typing import Any

from kith.base.backups import store
from kith.base.backups.schedule import is_overdue
from kith.base.backups.tables import BACKUP, REHEARSAL, BackupRun
from kith.base.backups.tasks import start_now
from kith.base.errors import Unprocessable
from kith.base.routing import get, post
from kith.base.work import Work
from kith.social.moments import moment
from kith.social.staff import TheStaff, record, staff

PATH = "/api/v1/admin/backups"
SEE = staff("view_devops", scope="admin:read")
CHANGE = staff("manage_settings", scope="admin:write")  # a run takes the machine's time and room
MOST = 30
NO_TARGET = "It is not set where backups go: KITH_BACKUP"


def _shown(run: BackupRun) -> dict[str, Any]:
    return {
        "id": str(run.id),
        "backup": run.backup or None,
        "succeeded": run.succeeded,
        "started_at": moment(run.started_at),
        "ended_at": moment(run.ended_at),
        "encrypted": run.is_encrypted,
        "size": run.size,
        "new_bytes": run.new_bytes,
        "words": run.words,
    }


@get(PATH, guards=[SEE])
async def show_backups(work: Work) -> dict[str, Any]:
    """The last of each, the newest first. Where they go is the operator's business, so it is not told."""
    settings = work.settings
    good = await store.last_success(work.db, BACKUP, work.now)
    return {
        "schedule": settings.backup_schedule or "off",
        "is_set_up": bool(settings.backup),
        "keep": settings.backup_keep,
        "rehearsal": settings.backup_rehearsal,
        "overdue": is_overdue(settings, good.started_at if good is not None else None, work.now),
        "backups": [_shown(run) for run in await store.listed(work.db, BACKUP, MOST)],
        "rehearsals": [_shown(run) for run in await store.listed(work.db, REHEARSAL, MOST)],
    }


@post(PATH, guards=[CHANGE])
async def back_up_now(work: Work, by: TheStaff) -> dict[str, Any]:
    return await _start(work, by, BACKUP)


@post(f"{PATH}/rehearsals", guards=[CHANGE])
async def rehearse_now(work: Work, by: TheStaff) -> dict[str, Any]:
    return await _start(work, by, REHEARSAL)


async def _start(work: Work, by: TheStaff, kind: str) -> dict[str, Any]:
    if not work.settings.backup:
        raise Unprocessable(NO_TARGET)
    start_now(work, kind)
    await record(work, by, f"start_{kind}")
    return {}


routes = [show_backups, back_up_now, rehearse_now]
