"""Blueprints that this server keeps up: applied when they are new or changed, and what came of it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Collection

import msgspec

from kith.base.errors import Problem
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.blueprints import folder, store
from kith.identity.blueprints.applying import SYSTEM, Applied, ReadFile, apply
from kith.identity.blueprints.reading import FROM_API, FROM_DISK, read_blueprint
from kith.identity.blueprints.store import BlueprintInstance
from kith.identity.blueprints.tags import BadBlueprint

__all__ = ["apply_instance", "discover"]

MOST_LINES = 50
NOT_BY_ITSELF = ("kith/instantiate", "blueprints.goauthentik.io/instantiate")


async def discover(work: Work) -> list[str]:
    """Know every file of the folder, and give back the identifiers of what is to be applied, in order.

    A file that is gone leaves its record, marked as orphaned; what it made stays.
    """
    place = folder.folder_of(work.settings)
    files = await asyncio.to_thread(folder.found_files, place)
    known = await store.every(work.db)
    by_path = {one.path: one for one in known if one.path}
    names = {one.name for one in known}
    due: list[str] = []
    for file in files:
        content = await asyncio.to_thread(_content, work, file.path)
        one = by_path.pop(file.path, None)
        if one is None:
            one = await _begin(work, file.path, content, names)
            if one is None:
                continue
        if one.enabled and (one.status in ("error", "orphaned") or one.last_applied_hash != _hash(content)):
            due.append(one.instance_uuid)
    for gone in by_path.values():
        if gone.status != "orphaned":
            await store.change(work.db, gone.instance_uuid, {"status": "orphaned", "updated_at": work.now})
    due += [one.instance_uuid for one in known if not one.path and one.enabled and one.status in ("error", "unknown")]
    return due


def _content(work: Work, path: str) -> bytes:
    try:
        return folder.read_file(folder.folder_of(work.settings), path)
    except BadBlueprint:
        return b""


def _hash(content: bytes) -> str:
    return folder.content_hash(content)


async def _begin(work: Work, path: str, content: bytes, names: set[str]) -> BlueprintInstance | None:
    """The record of a new file; None for one that says it is only to be used by hand."""
    metadata = {}
    try:
        blueprint = await asyncio.to_thread(read_blueprint, content, FROM_DISK)
        if any(blueprint.labels.get(label, "").lower() == "false" for label in NOT_BY_ITSELF):
            return None
        metadata = {"name": blueprint.name, "labels": blueprint.labels}
    except BadBlueprint:
        pass  # which is said when it is applied
    name = _free_name(str(metadata.get("name") or path)[:190], path, names)
    names.add(name)
    one = BlueprintInstance(
        instance_uuid=str(uuid.uuid4()),
        name=name,
        path=path,
        content="",
        context={},
        enabled=True,
        status="unknown",
        last_applied=None,
        last_applied_hash="",
        managed_models=[],
        metadata=metadata,
        log=[],
        created_at=work.now,
        updated_at=work.now,
    )
    await store.insert(work.db, one)
    return one


def _free_name(name: str, path: str, names: Collection[str]) -> str:
    for wanted in (name, path[:190], *(f"{path[:180]} ({number})" for number in range(2, 1000))):
        if wanted not in names:
            return wanted
    return str(uuid.uuid4())


async def apply_instance(work: Work, id: str) -> None:
    """In works of its own; that it failed is kept, told to the audit trail, and stops nothing else."""
    try:
        async with work.aside() as own:
            await _apply(own, id)
    except (BadBlueprint, Problem) as error:
        words = str(error)[:2000]
        async with work.aside() as own:
            one = await store.find(own.db, id)
            if one is None:
                return
            await store.change(own.db, id, {"status": "error", "log": [words], "updated_at": own.now})
            if one.status != "error" or one.log != [words]:
                await audit.record(
                    own,
                    "configuration_error",
                    "managed.blueprintinstance",
                    username=SYSTEM.username,
                    context={"blueprint": one.name, "path": one.path, "message": words},
                )


async def _apply(work: Work, id: str) -> None:
    one = await store.find(work.db, id)
    if one is None or not one.enabled:
        return
    settings = work.settings
    if one.path:
        content = await asyncio.to_thread(folder.read_file, folder.folder_of(settings), one.path)
    else:
        content = one.content.encode()
    limits = FROM_DISK if one.path else FROM_API
    blueprint = await asyncio.to_thread(read_blueprint, content, limits)
    file = ReadFile(blueprint, folder.outside_of(settings, is_open=bool(one.path)), one.context)
    sealer = await asyncio.to_thread(folder.file_sealer, settings)
    done = await apply(work, SYSTEM, [file], sealer)
    values = {
        "status": "warning" if done.warnings else "successful",
        "last_applied": work.now,
        "last_applied_hash": _hash(content),
        "managed_models": list(done.models)[:100],
        "metadata": {"name": blueprint.name, "labels": blueprint.labels},
        "log": list(done.warnings)[:MOST_LINES],
        "updated_at": work.now,
    }
    await store.change(work.db, id, values)
    if done.changes:
        await _tell(work, one, done)


async def _tell(work: Work, one: BlueprintInstance, done: Applied) -> None:
    counts = {action: sum(change.action == action for change in done.changes) for action in ("added", "changed")}
    counts["removed"] = len(done.changes) - sum(counts.values())
    told = {"blueprint": one.name, "path": one.path, "changes": counts, "warnings": len(done.warnings)}
    await audit.record(work, "blueprint_applied", "managed.blueprintinstance", username=SYSTEM.username, context=told)
    work.log("blueprints.applied", **msgspec.to_builtins(told))
