"""Trying a policy or a mapping on its own page: an expression as it stands there, anything else as it is saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from kith.base.errors import Invalid
from kith.base.exchange import Exchange
from kith.web import own_api
from kith.web.admin.bound import find_person
from kith.web.settings.forms import text_field

__all__ = ["FIELDS", "TriedExpression", "can_try", "try_out"]

MOST_CONTEXT = 64 << 10
_ABOUT = {"user": "try_user", "context": "try_context"}
FIELDS = frozenset(_ABOUT.values())


class TriedExpression(msgspec.Struct, kw_only=True):
    user: str
    context: str
    passing: bool | None = None  # None: it was not tried, for the errors
    result: str = ""
    messages: list[str] = msgspec.field(default_factory=list)
    log: list[str] = msgspec.field(default_factory=list)
    errors: dict[str, list[str]] = msgspec.field(default_factory=dict)


def can_try(resource: Any, key: str) -> bool:
    """Expressions any time; other policies once they are saved."""
    if resource.area not in ("policies", "propertymappings") or resource.family is None or not resource.kind:
        return False
    return _is_expression(resource) or (resource.area == "policies" and key != "new")


def _is_expression(resource: Any) -> bool:
    return any(field.name == "expression" for field in resource.all_fields)


async def try_out(
    exchange: Exchange, resource: Any, key: str, values: Mapping[str, Any], form: dict[str, Any]
) -> TriedExpression:
    tried = TriedExpression(user=text_field(form, "try_user"), context=text_field(form, "try_context"))
    path = f"/api/v2/policies/all/{key}/test/"
    sent: dict[str, Any] = {}
    if _is_expression(resource):
        path, sent = f"/api/v2{resource.path}test/", {"expression": values.get("expression", "")}
    try:
        sent |= {"user": await _person(exchange, tried.user, path), "context": _context(tried.context)}
        answer = await own_api.call(exchange, "POST", path, query=[("format_result", "true")], json=sent)
    except Invalid as problem:
        tried.errors = {_ABOUT.get(name, name): [str(one) for one in words] for name, words in problem.fields.items()}
        return tried
    told = msgspec.json.decode(answer.body)
    tried.passing = told["passing"] if "passing" in told else told["successful"]
    tried.result, tried.messages, tried.log = (
        told.get("result", ""),
        told.get("messages", []),
        told.get("log_messages", []),
    )
    return tried


async def _person(exchange: Exchange, username: str, path: str) -> int | None:
    """Nobody, where none is named and the test can do without."""
    return await find_person(exchange, username) if username or "/all/" in path else None


def _context(text: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text[:MOST_CONTEXT] or "{}", type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise Invalid(fields={"context": [f"This is not a JSON object: {error}"]}) from error
