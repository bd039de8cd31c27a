"""Routes described in OpenAPI 3.1, from their declarations alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, get_type_hints

import msgspec

from kith.base.exchange import Answer
from kith.base.params.upload import Upload
from kith.base.routing.parameters import Parameter
from kith.base.routing.route import AnswerShape, Route

__all__ = ["describe"]

Schema = dict[str, Any]
_REF = "#/components/schemas/{name}"
_GAP = re.compile(r"\{([a-z_]+)(?::path)?\}")


def describe(routes: Iterable[Route], *, title: str, version: str, base_url: str, security: Schema) -> Schema:
    """`security` describes how callers say who they are; each route's guards say which scopes they need."""
    found = [one for one in routes if one.shape is not AnswerShape.SOCKET]
    schemas = _Schemas(found)
    paths: dict[str, Schema] = {}
    for one in found:
        for template in (one.template, *one.aliases):
            path = _GAP.sub(r"{\1}", template)
            for method in one.methods:
                paths.setdefault(path, {})[method.lower()] = _operation(one, method, path, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version, "license": {"name": "AGPL-3.0-or-later"}},
        "servers": [{"url": base_url}],
        "paths": dict(sorted(paths.items())),
        "components": {"securitySchemes": security, "schemas": dict(sorted(schemas.components.items()))},
    }


class _Schemas:
    """What the structs of all routes look like, each once."""

    def __init__(self, routes: list[Route]) -> None:
        kinds = {one.kind for route in routes for one in route.parameters if one.place in ("query", "body")}
        kinds |= {kind for route in routes if (kind := _returned(route)) is not None}
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


def _returned(route: Route) -> Any:
    """What the handler says it gives; one that gives bytes made already says nothing."""
    kind = get_type_hints(route.handler).get("return")
    if kind is None or kind is type(None) or kind is Answer:
        return None
    return kind


def _operation(route: Route, method: str, path: str, schemas: _Schemas) -> Schema:
    words = re.sub(r"[^a-z0-9]+", "_", path.lower()).strip("_")
    operation: Schema = {
        "operationId": f"{method.lower()}_{words}",
        "parameters": [_path_parameter(name, route.parameters) for name in _GAP.findall(route.template)],
        "responses": {str(route.status): _response(route, schemas), "default": {"description": "Why not."}},
    }
    if route.summary:
        operation["summary"] = route.summary
    scopes = [scope for guard in route.guards for scope in getattr(guard, "scopes", ())]
    if scopes:
        operation["security"] = [{"OAuth": scopes}]
    for parameter in route.parameters:
        if parameter.place == "query":
            operation["parameters"] += _query_parameters(schemas.fields(parameter.kind))
        elif parameter.place == "body":
            schema = {"schema": schemas.of(parameter.kind)}
            kinds = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")
            operation["requestBody"] = {"content": dict.fromkeys(kinds, schema)}
    return operation | (route.description or {})


def _response(route: Route, schemas: _Schemas) -> Schema:
    kind = _returned(route)
    schema = schemas.of(kind) if kind is not None else {}
    return {"description": "Done.", "content": {"application/json": {"schema": schema}}}


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
