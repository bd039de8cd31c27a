"""What the server publishes of the social API, held against what it answers."""

from __future__ import annotations

import functools
import re
from typing import Any

import httpx
import jsonschema_rs

from kith.app import ROUTES
from kith.social.reference.api import document_of

__all__ = ["deviations", "document", "schema_at"]

Schema = dict[str, Any]


@functools.lru_cache(1)
def document() -> Schema:
    return document_of(tuple(ROUTES), "http://localhost")


def _strict(schema: Any) -> Any:
    """Nothing is answered that is not published."""
    if isinstance(schema, list):
        return [_strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _strict(one) for name, one in schema.items()}
    if isinstance(made.get("properties"), dict) and "additionalProperties" not in made and made.get("type") == "object":
        made["additionalProperties"] = False
    return made


@functools.lru_cache(1)
def _entities() -> Schema:
    made: Schema = _strict(document()["components"]["schemas"])
    return made


@functools.lru_cache(1)
def _templates() -> dict[tuple[int, str], list[tuple[re.Pattern[str], str]]]:
    """By length and by the room that they belong to, the plainest first: what is named counts before what may be anything."""
    found: dict[tuple[int, str], list[tuple[re.Pattern[str], str]]] = {}
    for path in sorted(document()["paths"], key=lambda path: (path.count("{"), -len(path))):
        pattern = re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)))
        found.setdefault(_place_of(path), []).append((pattern, path))
    return found


def _place_of(path: str) -> tuple[int, str]:
    parts = path.split("/", 4)
    return path.count("/"), parts[3] if len(parts) > 3 else ""


def schema_at(method: str, template: str, status: int) -> Schema | None:
    """What is published of an answer; None for one that is no JSON or that nothing is said of."""
    operation = document()["paths"].get(template, {}).get(method.lower())
    if operation is None:
        return None
    if status >= 400:
        return {"$ref": "#/components/schemas/Error"}
    answer = operation["responses"].get(str(status))
    if answer is None:
        return {"not": {}}
    found: Schema | None = answer["content"].get("application/json", {}).get("schema")
    return found


def _within(schema: Any) -> set[str]:
    """The entities that a schema names, and those that they name."""
    found: set[str] = set()
    left = [schema]
    while left:
        one = left.pop()
        if isinstance(one, list):
            left.extend(one)
        elif isinstance(one, dict):
            left.extend(one.values())
            name = str(one.get("$ref", "")).removeprefix("#/components/schemas/")
            if name in _entities() and name not in found:
                found.add(name)
                left.append(_entities()[name])
    return found


@functools.lru_cache(1000)
def _validator(method: str, template: str, status: int) -> jsonschema_rs.Draft202012Validator | None:
    """With the entities that it needs: a process has hundreds of these, and all entities in each would be gigabytes."""
    schema = schema_at(method, template, status)
    if schema is None:
        return None
    needed = {name: _entities()[name] for name in _within(schema)}
    return jsonschema_rs.Draft202012Validator({**_strict(schema), "components": {"schemas": needed}})


def deviations(answer: httpx.Response) -> list[str]:
    """Where an answer is not what is published of it."""
    path, method = answer.request.url.path, answer.request.method
    if answer.status_code in (304, 500, 503) or not answer.headers.get("content-type", "").startswith(
        "application/json"
    ):
        return []
    template = next(
        (path_of for pattern, path_of in _templates().get(_place_of(path), ()) if pattern.fullmatch(path)), None
    )
    validator = None if template is None else _validator(method, template, answer.status_code)
    if validator is None or not answer.content:
        return []
    place = f"{method} {template} {answer.status_code}"
    return [
        f"{place} {'/'.join(map(str, one.instance_path))}: {one.message[:200]}"
        for one in validator.iter_errors(answer.json())
    ]
