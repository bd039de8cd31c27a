"""What can be done with blueprints beside the collection: listing files, applying, importing, exporting a flow."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from kith.base.errors import Complaint, Forbidden, Invalid, NotFound
from kith.base.exchange import JSON, Answer, Exchange
from kith.base.params import BodyLimits, Upload
from kith.base.params.body import read_body
from kith.identity.audit import service as audit
from kith.identity.blueprints import folder
from kith.identity.blueprints.applying import Applied, ReadFile, apply, rehearse
from kith.identity.blueprints.collection import RESOURCE
from kith.identity.blueprints.exporting import export_some
from kith.identity.blueprints.flow_parts import parts_of
from kith.identity.blueprints.reading import FROM_API, FROM_DISK, read_blueprint
from kith.identity.blueprints.store import find
from kith.identity.blueprints.tags import BadBlueprint
from kith.identity.blueprints.tasks import APPLY, ApplyBlueprint
from kith.identity.blueprints.writing import as_yaml
from kith.identity.caller import ApiCaller
from kith.identity.rest import Action, operations
from kith.identity.rest.answers import show_record
from kith.identity.rest.fields import read_uuid
from kith.identity.rest.record_store import RecordStore

__all__ = ["ACTIONS"]

SENT = BodyLimits(max_bytes=2 << 20, max_file_bytes=FROM_API.bytes, max_files=1, depth=20, values=50_000)
VIEW, CHANGE = "managed.view_blueprintinstance", "managed.change_blueprintinstance"
_encode = msgspec.json.Encoder().encode
_records = RecordStore(RESOURCE)


def _show(value: Any, status: int = 200) -> Answer:
    return Answer(status, JSON, _encode(value))


async def available(exchange: Exchange, _caller: ApiCaller, _id: str) -> Answer:
    place = folder.folder_of(exchange.work.settings)

    def look() -> list[dict[str, Any]]:
        return [_told(place, one) for one in folder.found_files(place)]

    return _show(await asyncio.to_thread(look))


def _told(place: Any, one: folder.BlueprintFile) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": "", "labels": {}}
    digest = ""
    try:
        content = folder.read_file(place, one.path)
        digest = folder.content_hash(content)
        if one.size <= FROM_API.bytes:
            blueprint = read_blueprint(content, FROM_API)
            meta = {"name": blueprint.name, "labels": blueprint.labels}
    except BadBlueprint as error:
        meta["error"] = str(error)
    return {"path": one.path, "last_m": one.changed_at, "hash": digest, "meta": meta}


async def apply_again(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    """Whatever has changed since; the record is as it was before the run. One that is off is for superusers."""
    key = read_uuid(id)
    found = None if key is None else await find(exchange.work.db, key)
    if found is None:
        raise NotFound
    if not found.enabled and caller.permissions is not None:
        raise Forbidden("Only a superuser may apply a blueprint that is switched off.")
    record = await operations.read(_records, exchange.work, found.instance_uuid, sees_secrets=False)
    exchange.work.enqueue(APPLY, ApplyBlueprint(found.instance_uuid), key=found.instance_uuid)
    return show_record(_records, record)


async def import_file(exchange: Exchange, caller: ApiCaller, _id: str) -> Answer:
    """As the caller, who needs the rights for every model inside. With `rehearse` nothing of it stays."""
    sent = await read_body(exchange, SENT)
    wants_rehearsal = str(sent.get("rehearse", "")).lower() in ("true", "1", "on")
    work = exchange.work
    try:
        file = await _read(exchange, caller, sent)
        done = await (rehearse if wants_rehearsal else apply)(work, caller, [file])
    except BadBlueprint as error:
        return _show({"success": False, "logs": [_line("error", str(error))], "changes": []})
    if not wants_rehearsal:
        told = {"name": file.blueprint.name, "changes": len(done.changes)}
        await audit.record(
            work, "blueprint_imported", "managed.blueprintinstance", user_id=caller.id, username=caller.username,
            context={"blueprint": told},
        )  # fmt: skip
    return _show({"success": True, "logs": _logs(done), "changes": msgspec.to_builtins(done.changes)})


# It may say where a secret of the file is sent.
OTHERS_FILE = "Only a superuser may send a context for a file of the folder. Send the blueprint itself, or no context."


async def _read(exchange: Exchange, caller: ApiCaller, sent: dict[str, Any]) -> ReadFile:
    settings = exchange.work.settings
    upload, path, context = sent.get("file"), sent.get("path"), sent.get("context") or {}
    if isinstance(context, str):
        try:
            context = msgspec.json.decode(context)
        except (msgspec.DecodeError, RecursionError):
            context = None
    if not isinstance(context, dict):
        raise Invalid(fields={"context": [Complaint("Value must be valid JSON.")]})
    if isinstance(upload, Upload):
        content, path = await asyncio.to_thread(upload.file.read), None
    elif isinstance(sent.get("content"), str) and sent["content"]:
        content, path = sent["content"].encode("utf-8", "surrogatepass"), None
    elif isinstance(path, str) and path:
        content = await asyncio.to_thread(folder.read_file, folder.folder_of(settings), path)
    else:
        raise Invalid(fields={"": [Complaint("Either path or file must be set.")]})
    is_delegate = caller.permissions is not None
    if path is not None and context and is_delegate:
        raise Forbidden(OTHERS_FILE)
    blueprint = await asyncio.to_thread(read_blueprint, content, FROM_API if path is None else FROM_DISK)
    outside = folder.outside_of(settings, is_open=False, is_shut=path is None and is_delegate)
    return ReadFile(blueprint, outside, context)


def _line(level: str, words: str) -> dict[str, str]:
    return {"log_level": level, "logger": "blueprints", "event": words}


def _logs(done: Applied) -> list[dict[str, str]]:
    told = [_line("warning", words) for words in done.warnings]
    return told + [_line("info", f"{one.action}: {one.model} {one.name}") for one in done.changes[:1000]]


async def export_flow(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    """A flow with its steps, stages, prompts and policies, as a blueprint without secrets."""
    key = read_uuid(id)
    found = None if key is None else await parts_of(exchange.work, key)
    if found is None:
        raise NotFound
    slug, parts = found
    text = as_yaml(await export_some(exchange.work, parts, f"flow-{slug}"))
    await audit.record(
        exchange.work, "flow_exported", "flows.flow", user_id=caller.id, username=caller.username,
        context={"flow": slug},
    )  # fmt: skip
    headers = (
        (b"content-type", b"application/yaml; charset=utf-8"),
        (b"content-disposition", f'attachment; filename="flow-{slug}.yaml"'.encode()),
    )
    return Answer(200, headers, text.encode())


ACTIONS: tuple[Action, ...] = (
    Action(
        method="GET",
        path="/managed/blueprints/available/",
        name="managed_blueprints_available",
        handler=available,
        permission=VIEW,
        summary="The files of the blueprint folder.",
    ),
    Action(
        method="POST",
        path="/managed/blueprints/{id}/apply/",
        name="managed_blueprints_apply",
        handler=apply_again,
        permission=CHANGE,
        answer="BlueprintInstance",
        summary="Apply it once more, soon.",
    ),
    Action(
        method="POST",
        path="/managed/blueprints/import/",
        name="managed_blueprints_import",
        handler=import_file,
        permission="managed.add_blueprintinstance",
        summary="Apply a blueprint once, with the caller's own permissions: a file, or a path in the folder.",
    ),
    Action(
        method="GET",
        path="/flows/instances/{id}/export/",
        name="flows_instances_export",
        handler=export_flow,
        permission="flows.export_flow",
        summary="A flow as a blueprint.",
    ),
)
