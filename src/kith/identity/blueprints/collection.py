"""/managed/blueprints/: the blueprints that this server keeps up."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

from kith.base.errors import Problem
from kith.base.work import Work
from kith.identity.blueprints import folder
from kith.identity.blueprints.applying import SYSTEM, ReadFile, rehearse
from kith.identity.blueprints.reading import FROM_API, read_blueprint
from kith.identity.blueprints.tables import FIELDS, instances
from kith.identity.blueprints.tags import BadBlueprint
from kith.identity.blueprints.tasks import APPLY, ApplyBlueprint
from kith.identity.rest import RecordDraft, Resource
from kith.identity.rest.record import Record

__all__ = ["RESOURCE", "BlueprintInstanceRecord"]

_SAYS = ("path", "content", "context")


class BlueprintInstanceRecord(Record, kw_only=True):
    pk: str
    instance_uuid: str
    name: str
    path: str
    content: str
    context: dict[str, Any]
    enabled: bool
    status: str
    last_applied: datetime | None
    last_applied_hash: str
    managed_models: list[str]
    metadata: dict[str, Any]
    log: list[str]
    created: datetime
    last_updated: datetime


async def ahead(draft: RecordDraft[BlueprintInstanceRecord]) -> None:
    """A blueprint is applied as the server itself: what is in one must be right before it is kept."""
    if not any(draft.sets(name) for name in _SAYS):
        return
    path, content = draft.value("path") or "", draft.value("content") or ""
    if not path and not content:
        draft.complain("", "Either path or content must be set.")
    if path:
        await _check_path(draft, path)
    if content and not path:
        await _check_content(draft, content)
    draft.raise_complaints()


async def _check_path(draft: RecordDraft[BlueprintInstanceRecord], path: str) -> None:
    try:
        await asyncio.to_thread(folder.read_file, folder.folder_of(draft.work.settings), path)
    except BadBlueprint as error:
        draft.complain("path", str(error), "does_not_exist")


async def _check_content(draft: RecordDraft[BlueprintInstanceRecord], content: str) -> None:
    """By doing it, and undoing it."""
    settings = draft.work.settings
    try:
        blueprint = await asyncio.to_thread(read_blueprint, content, FROM_API)
        file = ReadFile(blueprint, folder.outside_of(settings, is_open=False), draft.value("context") or {})
        await rehearse(draft.work, SYSTEM, [file], await asyncio.to_thread(folder.file_sealer, settings))
    except (BadBlueprint, Problem) as error:
        draft.complain("content", f"Failed to validate blueprint: {error}")


async def prepare(draft: RecordDraft[BlueprintInstanceRecord]) -> None:
    if draft.is_new:
        empty: dict[str, Any] = {"managed_models": [], "metadata": {}, "log": []}
        draft.columns |= {"status": "unknown", "last_applied": None, "last_applied_hash": "", **empty}


async def saved(draft: RecordDraft[BlueprintInstanceRecord]) -> None:
    if draft.now.enabled and any(draft.sets(name) for name in (*_SAYS, "enabled")):
        _queue(draft.work, str(draft.id))


def _queue(work: Work, id: str) -> None:
    work.enqueue(APPLY, ApplyBlueprint(id), key=id)


RESOURCE = Resource(
    path="/managed/blueprints/",
    name="BlueprintInstance",
    record=BlueprintInstanceRecord,
    key="instance_uuid",
    table=instances,
    fields=FIELDS,
    search=("name", "path"),
    exact=("name", "path", "enabled", "status"),
    ahead=ahead,
    prepare=prepare,
    saved=saved,
)
