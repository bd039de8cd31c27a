"""Reads what `ak export_blueprint` writes: every record by its key, with references by the keys of others."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from kith.base.errors import Invalid
from kith.base.import_runs import LeftOutRow
from kith.cli.imports.authentik.records import BASES, AuthentikServer, OldRecord, step_of
from kith.identity.blueprints.reading import FROM_DISK, BlueprintEntry, read_blueprint
from kith.identity.blueprints.tags import BadBlueprint, BlueprintTag

__all__ = ["read_export"]

LONGEST_KEY = 100
PROXY, OAUTH2 = "authentik_providers_proxy.proxyprovider", "authentik_providers_oauth2.oauth2provider"


def read_export(path: Path, install_id: str) -> AuthentikServer:
    try:
        if path.stat().st_size > FROM_DISK.bytes:
            raise Invalid(f"{path} is larger than {FROM_DISK.bytes >> 20} MB")
        blueprint = read_blueprint(path.read_bytes(), FROM_DISK)
    except BadBlueprint as error:
        raise Invalid(f"{path}: {error}") from error
    name = str(path.absolute())
    origin = hashlib.sha256(f"authentik:{install_id or name}".encode()).hexdigest()
    server = AuthentikServer(name, origin, [], install_id=install_id)
    for entry in blueprint.entries:
        _take(server, entry)
    proxies = {one.pk for one in server.records if one.model == PROXY}
    server.records = [one for one in server.records if one.model != OAUTH2 or one.pk not in proxies]
    return server


def _take(server: AuthentikServer, entry: BlueprintEntry) -> None:
    if entry.model in BASES:
        return
    values: dict[str, Any] = {**entry.attrs, **entry.identifiers}
    pk = str(values.pop("pk", None) or "")
    record = OldRecord(entry.model, pk, values, target=pk)
    if step_of(entry.model) is None:
        kind = entry.model.removeprefix("authentik_")
        server.left.append(LeftOutRow("others", f"{kind}: {record.label}", f"there is nothing like {kind} here"))
    elif not 0 < len(pk) <= LONGEST_KEY or entry.conditions or entry.state != "present" or _has_tags(values):
        words = "it is no record of an export, but written by hand: apply it with `kith blueprints apply`"
        server.left.append(LeftOutRow(step_of(entry.model) or "", record.label, words))
    else:
        server.records.append(record)


def _has_tags(value: Any) -> bool:
    if isinstance(value, BlueprintTag):
        return True
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_has_tags(one) for one in parts)
