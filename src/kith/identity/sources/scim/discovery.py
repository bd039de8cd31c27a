"""What a service can find out about us (RFC 7643, sections 5 to 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kith.identity.scim.attributes import ResourceType
from kith.identity.scim.schemas import ENTERPRISE, GROUP, GROUPS, LIST_RESPONSE, USER, USERS
from kith.identity.sources.scim.listing import MOST_LISTED

CONFIG = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"
RESOURCE_TYPE = "urn:ietf:params:scim:schemas:core:2.0:ResourceType"
_SCHEMAS = {one.id.lower(): one for one in (USER, GROUP, ENTERPRISE)}
_TYPES = {one.name.lower(): one for one in (USERS, GROUPS)}


def config(root: str) -> dict[str, Any]:
    return {
        "schemas": [CONFIG],
        "patch": {"supported": True},
        "bulk": {"supported": False, "maxOperations": 0, "maxPayloadSize": 0},
        "filter": {"supported": True, "maxResults": MOST_LISTED},
        "changePassword": {"supported": False},
        "sort": {"supported": True},
        "etag": {"supported": True},
        "authenticationSchemes": [
            {
                "type": "oauthbearertoken",
                "name": "Token of the source",
                "description": "The token that was shown when the source was made, as a bearer token.",
                "specUri": "https://www.rfc-editor.org/info/rfc6750",
                "primary": True,
            }
        ],
        "meta": {"resourceType": "ServiceProviderConfig", "location": f"{root}/ServiceProviderConfig"},
    }


def _type(kind: ResourceType, root: str) -> dict[str, Any]:
    told: dict[str, Any] = {
        "schemas": [RESOURCE_TYPE],
        "id": kind.name,
        "name": kind.name,
        "endpoint": kind.endpoint,
        "description": kind.help,
        "schema": kind.schema.id,
        "meta": {"resourceType": "ResourceType", "location": f"{root}/ResourceTypes/{kind.name}"},
    }
    if kind.extension is not None:
        told["schemaExtensions"] = [{"schema": kind.extension.id, "required": False}]
    return told


def resource_types(root: str) -> dict[str, Any]:
    return _listed([_type(one, root) for one in _TYPES.values()])


def resource_type(root: str, name: str) -> dict[str, Any] | None:
    kind = _TYPES.get(name.lower())
    return _type(kind, root) if kind is not None else None


def schemas(root: str) -> dict[str, Any]:
    return _listed([_schema(root, id) for id in _SCHEMAS])


def schema(root: str, id: str) -> dict[str, Any] | None:
    return _schema(root, id.lower()) if id.lower() in _SCHEMAS else None


def _schema(root: str, id: str) -> dict[str, Any]:
    found = _SCHEMAS[id]
    return {**found.told(), "meta": {"resourceType": "Schema", "location": f"{root}/Schemas/{found.id}"}}


def _listed(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "schemas": [LIST_RESPONSE],
        "totalResults": len(found),
        "startIndex": 1,
        "itemsPerPage": len(found),
        "Resources": list(found),
    }
