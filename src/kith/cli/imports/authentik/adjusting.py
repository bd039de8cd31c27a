"""What is said in another way there and here, and what is here already."""

from __future__ import annotations

from typing import Any

from kith.cli.imports.authentik.expressions import complaint_about, translated
from kith.cli.imports.authentik.records import AuthentikServer, OldRecord
from kith.cli.imports.authentik.values import read_document
from kith.cli.imports.running import Batch
from kith.identity.blueprints import authentik
from kith.identity.blueprints.applying import SYSTEM
from kith.identity.blueprints.models import StoredValues
from kith.identity.blueprints.record_models import RecordModel
from kith.identity.blueprints.run import BlueprintRun

__all__ = ["NotTaken", "adjusted", "passed_over", "stands_here"]

_SHIPPED = "default-"
_MANAGED = "goauthentik.io/"
_OUTPOST = ("ak-outpost-", "AnonymousUser")
# By what a shipped record is known here.
_KNOWN_BY = {
    "flows.flow": "slug",
    "stages.prompt": "name",
    "core.group": "name",
    "crypto.certificatekeypair": "name",
}
# A proxy provider is an OAuth client too there, of which nobody sets anything.
_OF_CLIENTS = frozenset({
    "client_type", "client_secret", "sub_mode", "issuer_mode", "include_claims_in_id_token", "access_code_validity",
    "signing_key", "encryption_key", "_redirect_uris", "redirect_uris", "_backchannel_logout_uris", "logout_uri",
    "logout_method", "refresh_token_threshold",
})  # fmt: skip
_SUB = {
    "user_id": "people are known by their numbers there, and have others here: its `sub` changes",
    "hashed_user_id": "its `sub` changes: give --install-id (from the table authentik_install_id) to keep it",
    "user_uuid": "its `sub` changes: an export does not hold people's uuid, the database does",
}


class NotTaken(Exception):  # noqa: N818 - it says what has become of it
    """The record is left out, for this reason."""


def passed_over(record: OldRecord, server: AuthentikServer) -> bool:
    """What belongs to authentik itself, and is nothing that anybody would miss."""
    values = record.values
    if record.model == "authentik_core.user":
        name = str(values.get("username") or "")
        return name.startswith(_OUTPOST) or values.get("type") == "internal_service_account"
    if record.model == "authentik_brands.brand":
        return values.get("domain") == "authentik-default"
    is_built_in = str(values.get("managed") or "").startswith(f"{_MANAGED}sources/inbuilt")
    return server.is_database and record.model == "authentik_core.source" and is_built_in


def adjusted(
    batch: Batch[OldRecord], server: AuthentikServer, record: OldRecord, values: dict[str, Any]
) -> dict[str, Any]:
    if "expression" in values:
        values["expression"] = translated(str(values["expression"]))
    match record.model:
        case "authentik_providers_oauth2.oauth2provider":
            values = _oauth2(batch, server, record, values)
        case "authentik_providers_proxy.proxyprovider":
            values = {name: one for name, one in values.items() if name not in _OF_CLIENTS}
        case "authentik_core.group":
            values = _group(batch, record, values)
        case "authentik_core.application":
            icon = str(values.pop("meta_icon", "") or "")
            if icon.startswith("https://"):
                values["meta_icon_url"] = icon
            elif icon:
                batch.leave(record.label, "its icon is a file of the old server")
        case "authentik_flows.flow":
            if values.pop("background", None):
                batch.leave(record.label, "its background is a file of the old server")
        case "authentik_rbac.role":
            batch.leave(record.label, "its permissions are not carried over: choose them here")
    return authentik.attributes(record.model, values)


def _oauth2(
    batch: Batch[OldRecord], server: AuthentikServer, record: OldRecord, values: dict[str, Any]
) -> dict[str, Any]:
    kept = values.pop("_redirect_uris", None)
    if kept is not None:
        listed = read_document(kept)
        values["redirect_uris"] = listed if isinstance(listed, list) else kept
    if not values.get("redirect_uris"):
        batch.leave(record.label, "it has no redirect URI: any was taken there, here one must be named")
    if not values.get("signing_key"):
        if values.get("client_type") == "public":
            batch.leave(
                record.label, "its tokens were signed with its secret; they are signed with the server's key now"
            )
        else:
            values["jwt_alg"] = "HS256"
    mode = str(values.get("sub_mode") or "hashed_user_id")
    if (
        mode == "user_id"
        or (mode == "hashed_user_id" and not server.install_id)
        or (mode == "user_uuid" and not server.is_database)
    ):
        batch.leave(record.label, _SUB[mode])
    return values


def _group(batch: Batch[OldRecord], record: OldRecord, values: dict[str, Any]) -> dict[str, Any]:
    """Newer releases know several parents."""
    parents = [one for one in values.pop("parents", None) or [] if one]
    if parents and not values.get("parent"):
        values["parent"] = parents[0]
        if len(parents) > 1:
            batch.leave(record.label, "a group has one parent here: it is below the first of several")
    return values


async def stands_here(
    batch: Batch[OldRecord], model: RecordModel, record: OldRecord, values: dict[str, Any]
) -> StoredValues | None:
    """What Kith ships under the same name, which stays as it is; else what is to be made is checked."""
    run = BlueprintRun(batch.work, SYSTEM)
    managed = str(values.get("managed") or "")
    if managed.startswith(_MANAGED):
        values.pop("managed")
        if model.resource.area == "propertymappings":
            found = await model.find(run, authentik.identifiers({"managed": managed}))
            if found is not None:
                return found
    name = str(values.get("slug") or values.get("name") or "")
    word = _KNOWN_BY.get(model.name, "name" if model.resource.area in ("stages", "policies") else "")
    is_shipped = name.startswith(_SHIPPED) and word and model.name not in ("core.group", "crypto.certificatekeypair")
    found = await model.find(run, {word: name}) if is_shipped or model.name == "core.group" else None
    if found is not None and model.name == "core.group":
        if bool(found.values["is_superuser"]) != bool(values.get("is_superuser")) or found.values["roles"]:
            raise NotTaken("there is a group of this name here that may do other things")
        return found
    if found is not None:
        batch.leave(record.label, "what Kith has under this name stays as it is, whatever was changed there")
        return found
    if "expression" in values:
        wrong = complaint_about(str(values["expression"]))
        if wrong is not None:
            raise NotTaken(f"its expression: {wrong}")
    return None
