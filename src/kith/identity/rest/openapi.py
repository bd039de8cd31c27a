"""The identity API described in OpenAPI 3.1, from the same data that serves it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kith import __version__
from kith.identity.rest.fields import Computed, Field, References
from kith.identity.rest.resource import Action, Resource

_ERRORS: dict[str, tuple[str, str]] = {
    "400": ("ValidationError", "What was sent cannot be accepted."),
    "401": ("GenericError", "No or wrong credentials."),
    "403": ("GenericError", "The caller may not do this."),
    "404": ("GenericError", "There is no such record."),
    "405": ("GenericError", "This method is not allowed here."),
    "406": ("GenericError", "Only JSON can be given."),
    "409": ("GenericError", "Something refers to this record, or somebody else was faster."),
    "413": ("GenericError", "The body is too large."),
    "415": ("GenericError", "Only JSON is understood."),
    "429": ("GenericError", "Too many requests."),
    "500": ("GenericError", "Our mistake; the answer carries a request id."),
    "503": ("GenericError", "Not ready; try again."),
}
_CSV = {"text/csv": {"schema": {"type": "string"}}}
_ALWAYS = ("400", "401", "403", "405", "406", "429", "500", "503")
_OPERATIONS = (
    ("list", "get", False),
    ("create", "post", False),
    ("read", "get", True),
    ("update", "put", True),
    ("partial_update", "patch", True),
    ("delete", "delete", True),
)
_SUMMARIES = {
    "list": "List {}",
    "create": "Create: {}",
    "read": "Read: {}",
    "update": "Replace: {}",
    "partial_update": "Change part of: {}",
    "delete": "Delete: {}",
}

SHAPES: dict[str, dict[str, Any]] = {
    "Message": {
        "type": "object",
        "required": ["message", "level", "tags", "extra_tags", "level_tag"],
        "properties": {
            "message": {"type": "string"},
            "level": {"type": "integer", "enum": [10, 20, 25, 30, 40]},
            "tags": {"type": "string"},
            "extra_tags": {"type": "string"},
            "level_tag": {"type": "string"},
        },
    },
    "PasswordSet": {
        "type": "object",
        "required": ["password"],
        "properties": {
            "password": {"type": "string", "minLength": 1, "maxLength": 256},
            "current_password": {
                "type": "string",
                "writeOnly": True,
                "description": "One's own, for a new password of one's own, unless the sign-in is fresh.",
            },
        },
    },
    "RecoveryLink": {
        "type": "object",
        "required": ["link"],
        "properties": {"link": {"type": "string", "format": "uri"}},
    },
    "Impersonation": {
        "type": "object",
        "required": ["reason"],
        "properties": {"reason": {"type": "string", "minLength": 1, "maxLength": 500}},
    },
    "CurrentPassword": {
        "type": "object",
        "properties": {
            "current_password": {
                "type": "string",
                "writeOnly": True,
                "description": "One's own, unless the sign-in is fresh.",
            },
        },
    },
    "RegistrationToken": {
        "type": "object",
        "required": ["registration_access_token", "registration_client_uri"],
        "properties": {
            "registration_access_token": {"type": "string", "description": "Never shown again."},
            "registration_client_uri": {"type": "string", "description": "Empty for a provider of no application."},
        },
    },
    "Lockdown": {
        "type": "object",
        "required": ["reason"],
        "properties": {
            "reason": {"type": "string", "minLength": 1, "maxLength": 500, "description": "For the audit trail."},
            "remove_factors": {"type": "boolean", "default": False},
            "notify": {"type": "boolean", "default": True, "description": "Whether the person gets a mail."},
            "current_password": {"type": "string", "writeOnly": True, "description": "To lock oneself."},
        },
    },
    "LockdownCounts": {
        "type": "object",
        "description": "How much of each has ended.",
        "properties": {
            name: {"type": "integer"}
            for name in (
                "sessions",
                "tokens",
                "grants",
                "saml_sessions",
                "consents",
                "connections",
                "factors",
                "invitations",
                "clients",
            )
        },
    },
    "NotificationTransportTest": {
        "type": "object",
        "required": ["messages"],
        "properties": {"messages": {"type": "array", "items": {"type": "string"}}},
    },
    "FlowRehearsalRequest": {
        "type": "object",
        "properties": {
            "user": {"type": ["integer", "null"], "description": "Whom to pretend to be; nobody when left out."},
            "context": {"type": "object", "description": "What the walk knows beforehand."},
        },
    },
    "ExpressionTest": {
        "type": "object",
        "required": ["expression"],
        "properties": {
            "expression": {"type": "string"},
            "user": {"type": ["integer", "null"], "description": "Whom it is about; nobody when left out."},
            "context": {"type": "object", "description": "What the expression knows besides."},
        },
    },
    "PropertyMappingTestResult": {
        "type": "object",
        "required": ["result", "successful"],
        "properties": {"result": {"type": "string"}, "successful": {"type": "boolean"}},
    },
    "SourceTest": {
        "type": "object",
        "required": ["successful", "steps"],
        "properties": {
            "successful": {"type": "boolean"},
            "steps": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["name", "successful", "message"],
                    "properties": {
                        "name": {"type": "string"},
                        "successful": {"type": "boolean"},
                        "message": {"type": "string"},
                    },
                },
            },
        },
    },
    "GroupMemberPage": {
        "type": "object",
        "required": ["count", "results"],
        "properties": {
            "count": {"type": "integer"},
            "next": {"type": ["string", "null"], "format": "uri"},
            "previous": {"type": ["string", "null"], "format": "uri"},
            "results": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["user", "username", "expires"],
                    "properties": {
                        "user": {"type": "integer"},
                        "username": {"type": "string"},
                        "expires": {"type": ["string", "null"], "format": "date-time"},
                    },
                },
            },
        },
    },
    "GroupMemberAdded": {
        "type": "object",
        "required": ["pk"],
        "properties": {
            "pk": {"type": "integer", "description": "The person."},
            "expires": {
                "type": ["string", "null"],
                "format": "date-time",
                "description": "When the membership ends; never when left out.",
            },
        },
    },
    "GroupMemberRemoved": {
        "type": "object",
        "required": ["pk"],
        "properties": {"pk": {"type": "integer", "description": "The person."}},
    },
    "OfferedAccess": {
        "type": "object",
        "required": ["offer", "name", "kind", "description", "longest", "is_open"],
        "properties": {
            "offer": {"type": "string", "format": "uuid"},
            "name": {"type": "string"},
            "kind": {"type": "string", "enum": ["application", "group"]},
            "description": {"type": "string"},
            "longest": {"type": "string"},
            "is_open": {"type": "boolean", "description": "The caller has asked for it already."},
        },
    },
    "AccessApproval": {
        "type": "object",
        "properties": {
            "answer": {"type": "string", "maxLength": 1000},
            "duration": {"type": "string", "description": "A shorter time than was asked for."},
        },
    },
    "AccessRefusal": {
        "type": "object",
        "properties": {"answer": {"type": "string", "maxLength": 1000}},
    },
    "GenericError": {
        "type": "object",
        "required": ["detail"],
        "properties": {"detail": {"type": "string"}},
        "additionalProperties": True,
    },
    "ValidationError": {
        "type": "object",
        "description": "Complaints by field; `non_field_errors` for several, `detail` when nothing could be read.",
        "additionalProperties": True,
    },
}


def describe(resources: Sequence[Resource[Any]], actions: Sequence[Action], base_url: str) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    schemas = dict(SHAPES)
    for resource in resources:
        schemas[resource.name] = _record(resource)
        if resource.allow & {"create", "update", "partial_update"}:
            schemas[f"Patched{resource.name}"] = _record(resource, patch=True)
        if resource.export:
            paths[f"{resource.path}export/"] = {"get": _export(resource)}
        for operation, method, on_item in _OPERATIONS:
            if operation in resource.allow:
                path = resource.path + (f"{{{resource.key}}}/" if on_item else "")
                paths.setdefault(path, {})[method] = _operation(resource, operation, on_item=on_item)
    for action in actions:
        paths.setdefault(action.path, {})[action.method.lower()] = _action(action, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Kith identity API",
            "version": "v2",
            "description": f"Identity and access management. Served by Kith {__version__}.",
            "license": {"name": "AGPL-3.0-or-later", "identifier": "AGPL-3.0-or-later"},
        },
        "servers": [{"url": f"{base_url}/api/v2"}],
        "security": [{"Basic": []}, {"Token": []}],
        "tags": [{"name": name} for name in sorted({path.split("/")[1] for path in paths})],
        "paths": dict(sorted(paths.items())),
        "components": {
            "securitySchemes": {
                "Basic": {
                    "type": "http",
                    "scheme": "basic",
                    "description": "User name, and password or app password.",
                },
                "Token": {"type": "http", "scheme": "bearer", "description": "A token with the scope of this API."},
            },
            "schemas": dict(sorted(schemas.items())),
        },
    }


def _record(resource: Resource[Any], *, patch: bool = False) -> dict[str, Any]:
    identifier: dict[str, Any] = {"type": "integer"} if resource.is_integer else {"type": "string", "format": "uuid"}
    properties: dict[str, Any] = {"pk": identifier | {"readOnly": True}, resource.key: identifier | {"readOnly": True}}
    properties |= {field.name: field.schema() for field in resource.all_fields}
    shape: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": True}
    required = [field.name for field in resource.all_fields if field.required and not field.read_only]
    if required and not patch:
        shape["required"] = required
    if resource.describe:
        shape["description"] = resource.describe
    return shape


def _operation(resource: Resource[Any], operation: str, *, on_item: bool) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": f"{resource.operation}_{operation}",
        "tags": [resource.area],
        "summary": _SUMMARIES[operation].format(resource.name),
        "parameters": _item_parameter(resource) if on_item else [],
        "responses": _responses(resource, operation, on_item=on_item),
    }
    if operation == "list":
        described["parameters"] = _list_parameters(resource)
    if operation in ("create", "update", "partial_update"):
        name = f"Patched{resource.name}" if operation == "partial_update" else resource.name
        described["requestBody"] = {"required": True, "content": _json(_ref(name))}
    return described


def _responses(resource: Resource[Any], operation: str, *, on_item: bool) -> dict[str, Any]:
    writes = operation in ("create", "update", "partial_update")
    codes = [*_ALWAYS, *(["404"] if on_item else []), *(["409"] if writes or operation == "delete" else [])]
    codes += ["413", "415"] if writes else []
    responses = {code: _error(code) for code in sorted(set(codes))}
    match operation:
        case "list":
            responses["200"] = {"description": "A page of records.", "content": _json(_page(resource))}
        case "create":
            responses["201"] = {
                "description": "The new record.",
                "headers": {"Location": {"schema": {"type": "string", "format": "uri"}}},
                "content": _json(_ref(resource.name)),
            }
        case "delete":
            responses["204"] = {"description": "Gone."}
        case _:
            responses["200"] = {"description": "The record.", "content": _json(_ref(resource.name))}
    return dict(sorted(responses.items()))


def _export(resource: Resource[Any]) -> dict[str, Any]:
    responses = {code: _error(code) for code in _ALWAYS}
    responses["200"] = {"description": "One line for each record.", "content": _CSV}
    return {
        "operationId": f"{resource.operation}_export",
        "tags": [resource.area],
        "summary": f"Export {resource.name} as CSV, with the filters of the list.",
        "parameters": [one for one in _list_parameters(resource) if one["name"] not in ("limit", "offset", "ordering")],
        "responses": dict(sorted(responses.items())),
    }


def _action(action: Action, schemas: dict[str, Any]) -> dict[str, Any]:
    for name in (action.body, action.answer):
        if name is not None:
            schemas.setdefault(name, {"type": "object", "additionalProperties": True})
    codes = {*_ALWAYS, "404", "409", *(["413", "415"] if action.body else [])}
    responses = {code: _error(code) for code in codes}
    good: dict[str, Any] = {"description": action.summary or "Done."}
    if action.answer is not None:
        shape = _ref(action.answer)
        good["content"] = _json({"type": "array", "items": shape} if action.many else shape)
    if action.is_csv:
        good["content"] = _CSV
    responses[str(action.status)] = good
    described: dict[str, Any] = {
        "operationId": action.name,
        "tags": [action.path.split("/")[1]],
        "summary": action.summary,
        "parameters": [],
        "responses": dict(sorted(responses.items())),
    }
    if "{id}" in action.path:
        described["parameters"] = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
    if action.is_open:
        described["security"] = []
    if action.body is not None:
        described["requestBody"] = {"required": True, "content": _json(_ref(action.body))}
    return described


def _page(resource: Resource[Any]) -> dict[str, Any]:
    link: dict[str, Any] = {"type": ["string", "null"], "format": "uri"}
    return {
        "type": "object",
        "required": ["count", "results"],
        "properties": {
            "count": {"type": "integer"},
            "next": link,
            "previous": link,
            "results": {"type": "array", "items": _ref(resource.name)},
        },
    }


def _list_parameters(resource: Resource[Any]) -> list[dict[str, Any]]:
    told: list[tuple[str, dict[str, Any], str]] = [
        ("ordering", {"type": "string"}, "Fields to order by, - in front for descending, separated by commas."),
        ("search", {"type": "string"}, "Words that must all be found."),
        ("limit", {"type": "integer"}, "Number of records per page."),
        ("offset", {"type": "integer"}, "Where the page starts."),
    ]
    fields: dict[str, Field] = {field.name: field for field in resource.all_fields}
    told += [(name, _filter_shape(fields[name]), f"Only records with this {name}.") for name in resource.exact]
    kinds: dict[str, dict[str, Any]] = {"order": {"type": "number"}}
    told += [
        (
            one.name,
            {"type": "array", "items": {"type": "string"}} if one.many else kinds.get(one.name, {"type": "string"}),
            f"Narrow by {one.name}.",
        )
        for one in resource.filters
    ]
    return [{"name": n, "in": "query", "required": False, "schema": s, "description": d} for n, s, d in told]


def _filter_shape(field: Field) -> dict[str, Any]:
    if isinstance(field, (References, Computed)):
        return {"type": "string"}
    kind = field.shape().get("type", "string")
    return {"type": kind if kind in ("integer", "boolean", "number") else "string"}


def _item_parameter(resource: Resource[Any]) -> list[dict[str, Any]]:
    shape = {"type": "integer"} if resource.is_integer else {"type": "string", "format": "uuid"}
    return [{"name": resource.key, "in": "path", "required": True, "schema": shape}]


def _error(code: str) -> dict[str, Any]:
    name, words = _ERRORS[code]
    return {"description": words, "content": _json(_ref(name))}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(shape: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": shape}}
