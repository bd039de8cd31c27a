"""/sources/ldap/{pk}/sync/: copying a directory by hand, rehearsing it, and how far it is."""

from __future__ import annotations

import asyncio
from typing import Any

from kith.base.errors import Complaint, Conflict, Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.limits import Limiter, LimitRule
from kith.identity.caller import ApiCaller
from kith.identity.rest import Action
from kith.identity.rest.answers import show
from kith.identity.rest.body import read_object
from kith.identity.rest.fields import read_uuid
from kith.identity.sources.ldap import store
from kith.identity.sources.ldap.settings import DirectorySource, find_directory

REHEARSALS = LimitRule("ldap-rehearsal", most=20, seconds=300)
MOST_SECONDS = 600.0


class DirectoryUnreachable(Conflict):
    code = "directory_failed"


async def sync(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:  # noqa: ARG001 - all who may, may all
    from kith.identity.sources.ldap.tasks import start  # noqa: PLC0415 - loaded when first used

    directory = await _find(exchange, id)
    sent = await read_object(exchange) if exchange.header(b"content-length") not in (b"", b"0") else {}
    if sent.get("rehearse") is True:
        return show(await _rehearse(exchange, directory))
    if not directory.source.enabled:
        raise Invalid(fields={"enabled": [Complaint("This source is disabled.", "invalid")]})
    start(exchange.work, directory.source.pbm_uuid)
    return show(await _told(exchange, directory, waits=True), 202)


async def _rehearse(exchange: Exchange, directory: DirectorySource) -> dict[str, Any]:
    from kith.identity.sources.ldap.directory import DirectoryFailed  # noqa: PLC0415 - loaded when first used
    from kith.identity.sources.ldap.sync import rehearse  # noqa: PLC0415

    exchange.find(Limiter).spend(REHEARSALS, directory.source.pbm_uuid)
    try:
        async with asyncio.timeout(MOST_SECONDS):
            progress = await rehearse(exchange.work, directory)
    except DirectoryFailed as error:
        raise DirectoryUnreachable(f"The directory could not be read: {error}") from error
    return {**progress.counts(), "notes": progress.notes}


async def status(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:  # noqa: ARG001
    return show(await _told(exchange, await _find(exchange, id)))


async def _told(exchange: Exchange, directory: DirectorySource, *, waits: bool = False) -> dict[str, Any]:
    runs = await store.last_runs(exchange.work.db, directory.source.pbm_uuid)
    last = runs[0] if runs else None
    done = next((run for run in runs if run.state == "done"), None)
    ended = next((run for run in runs if run.state != "running"), None)
    words = {"done": "successful", "failed": "error"}
    return {
        "is_running": waits or (last is not None and last.state == "running"),
        "last_successful_sync": _moment(done.finished_at) if done is not None else None,
        "last_sync_status": words[ended.state] if ended is not None else None,
        "progress": None
        if last is None
        else {
            "phase": last.phase,
            "started": _moment(last.started_at),
            "updated": _moment(last.updated_at),
            "finished": _moment(last.finished_at),
            **last.counts,
        },
        "notes": last.notes if last is not None else [],
    }


def _moment(at: Any) -> str | None:
    return at.isoformat().replace("+00:00", "Z") if at is not None else None


async def _find(exchange: Exchange, id: str) -> DirectorySource:
    pbm_uuid = read_uuid(id)
    directory = await find_directory(exchange.work, pbm_uuid) if pbm_uuid is not None else None
    if directory is None:
        raise NotFound
    return directory


ACTIONS: tuple[Action, ...] = (
    Action(
        method="POST",
        path="/sources/ldap/{id}/sync/",
        name="sources_ldap_sync",
        handler=sync,
        permission="sources.change_ldapsource",
        status=202,
        summary='Copy people and groups now; with {"rehearse": true}, say what that would change.',
    ),
    Action(
        method="GET",
        path="/sources/ldap/{id}/sync/status/",
        name="sources_ldap_sync_status",
        handler=status,
        permission="sources.view_ldapsource",
        summary="Whether the directory is being copied, how far that is, and how it went before.",
    ),
)
