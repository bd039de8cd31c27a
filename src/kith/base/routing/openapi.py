"""Routes described in OpenAPI 3.1: what they take from their declarations, what they answer from who knows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from kith.base.params.upload import Upload
from kith.base.routing.parameters import Parameter
from kith.base.routing.route import AnswerShape, Route

__all__ = ["describe"]

Schema = dict[str, Any]
Tell = Callable[[Route, str, str], Schema]
_REF = "#/components/schemas/{name}"
_GAP = re.compile(r"\{([a-z_]+)(?::path)?\}")
_BODIES = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")


def describe(
    routes: Iterable[Route], *, title: str, version: str, base_url: str, security: Schema, tell: Tell, schemas: Schema
) -> Schema:
    """`security` describes how callers say who they are, `schemas` what is answered.

    `tell` says of a route, a method and a path what cannot be derived: summary, answers, who may call, and parameters
    that the handler reads by itself.
    """
    found = [one for one in routes if one.shape is not AnswerShape.SOCKET]
    taken = _TakenShapes(found)
    paths: dict[str, Schema] = {}
    for one in found:
        for template in (one.template, *one.aliases):
            path = _GAP.sub(r"{\1}", template)
            for method in one.methods:
                operation = _operation(one, method, path, taken, tell(one, method, path))
                paths.setdefault(path, {})[method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version, "license": {"name": "AGPL-3.0-or-later"}},
        "servers": [{"url": base_url}],
        "paths": dict(sorted(paths.items())),
        "components": {"securitySchemes": security, "schemas": dict(sorted((taken.components | schemas).items()))},
    }


class _TakenShapes:
    """What the structs look like that routes take, each once."""

    def __init__(self, routes: list[Route]) -> None:
        kinds = {one.kind for route in routes for one in route.parameters if one.place in ("query", "body")}
        self._kinds = sorted(kinds, key=lambda kind: (str(kind), id(kind)))
        schemas, self.components = msgspec.json.schema_components(self._kinds, schema_hook=_hook, ref_template=_REF)
        self._schemas = dict(zip(map(id, self._kinds), schemas, strict=True))

    def of(self, kind: Any) -> Schema:
        return self._schemas[id(next(one for one in self._kinds if one == kind))]

    def fields(self, kind: Any) -> Schema:
        """A struct's own shape, where a reference would not do."""
        schema = self.of(kind)
        name = schema.get("$ref", "").rpartition("/")[2]
        found: Schema = self.components[name] if name else schema
        return found


def _hook(kind: type) -> Schema:
    if kind is Upload:
        return {"type": "string", "format": "binary"}
    raise NotImplementedError(kind)


def _operation(route: Route, method: str, path: str, taken: _TakenShapes, told: Schema) -> Schema:
    words = re.sub(r"[^a-z0-9]+", "_", path.lower()).strip("_")
    own = [_path_parameter(name, route.parameters) for name in _GAP.findall(route.template)]
    operation: Schema = {"operationId": f"{method.lower()}_{words}", **told}
    for parameter in route.parameters:
        if parameter.place == "query":
            own += _query_parameters(taken.fields(parameter.kind))
        elif parameter.place == "body":
            schema = {"schema": taken.of(parameter.kind)}
            operation["requestBody"] = {"content": dict.fromkeys(_BODIES, schema)}
    named = {one["name"] for one in own}
    further = [one for one in told.get("parameters", ()) if one["$ref"].rpartition("/")[2] not in named]
    return operation | {"parameters": own + further} | (route.description or {})


def _path_parameter(name: str, parameters: tuple[Parameter, ...]) -> Schema:
    is_number = any(one.name == name and one.kind is int for one in parameters)
    schema = {"type": "string", "pattern": "^[0-9]+$"} if is_number else {"type": "string"}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameters(fields: Schema) -> list[Schema]:
    required = fields.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": schema}
        for name, schema in fields.get("properties", {}).items()
    ]
