"""People of an authentik server: as they were, with their passwords and the `sub` by which applications know them."""

from __future__ import annotations

import hashlib
import uuid
from datetime import UTC, datetime
from typing import Any

from kith.base.errors import Invalid
from kith.cli.imports.authentik.adjusting import NotTaken
from kith.cli.imports.authentik.records import AuthentikServer, OldRecord
from kith.cli.imports.running import Batch
from kith.identity.blueprints.models import StoredValues
from kith.identity.blueprints.run import BlueprintRun
from kith.identity.blueprints.user_model import UserModel
from kith.identity.users import address_ownership, store
from kith.identity.users.brought_passwords import brought

__all__ = ["at", "new_person"]


async def new_person(
    batch: Batch[OldRecord],
    model: UserModel,
    run: BlueprintRun,
    server: AuthentikServer,
    record: OldRecord,
    attrs: dict[str, Any],
) -> StoredValues:
    old, username = record.values, str(record.values.get("username") or "")
    if await store.find(batch.work.db, username) is not None:
        raise NotTaken("somebody has that username here already")
    attrs = {name: value for name, value in attrs.items() if name != "password"}
    attrs["name"] = str(attrs.get("name") or username)
    email = str(attrs.get("email") or "")
    if email and await address_ownership.belongs_to_another(batch.work, email, 0):
        batch.leave(username, f"its address {email} belongs to somebody else here: it is without one now")
        attrs["email"] = ""
    attrs["uuid"] = str(old.get("uuid") or uuid.uuid5(uuid.UUID(server.origin[:32]), record.pk))
    columns: dict[str, Any] = {"created_at": at(old.get("date_joined")) or batch.work.now}
    if at(old.get("last_login")) is not None:
        columns["last_login_at"] = at(old.get("last_login"))
    if server.install_id:
        columns["subject"] = hashlib.sha256(f"{record.pk}-{server.install_id}".encode()).hexdigest()
    columns |= _password(batch, record, username)
    try:
        made = await model.create_with(run, attrs, columns)
    except Invalid as problem:
        if not attrs.get("email") or set(problem.fields or ()) != {"email"}:
            raise
        batch.leave(username, f"its address {email} is none that can be used: it is without one now")
        made = await model.create_with(run, attrs | {"email": ""}, columns)
    return made


def _password(batch: Batch[OldRecord], record: OldRecord, username: str) -> dict[str, Any]:
    stored = str(record.values.get("password") or "")
    if not stored or stored.startswith("!"):  # cannot sign in with one
        return {}
    kept = brought(stored)
    if kept is None:
        batch.leave(username, "its password is hashed in a way that is not known here: it must be set anew")
        return {}
    changed = at(record.values.get("password_change_date")) or batch.work.now
    return {"password": kept, "password_changed_at": changed}


def at(value: Any) -> datetime | None:
    """PostgreSQL writes `2024-05-01 10:00:00.5+00`."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
