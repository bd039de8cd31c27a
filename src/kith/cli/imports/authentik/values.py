"""Values of authentik's records as our fields read them."""

from __future__ import annotations

import json
from typing import Any

from kith.base.db.copy_format import NotACopy, read_array
from kith.cli.imports.authentik.records import OldRecord
from kith.identity.blueprints.record_models import RecordModel
from kith.identity.rest.fields import Boolean, Choice, Choices, Field, Integer, Number, Object, References

__all__ = ["from_export", "from_text", "is_said", "read_document"]

# Ours alone: what an export does not say of them says nothing.
_OURS = frozenset({"reuse_consent", "require_consent", "requestable", "lookup_groups_from_user"})
# In exports these are left out where they are as authentik has them.
_USUAL = {"policy_engine_mode": "any"}


def from_export(model: RecordModel, record: OldRecord) -> dict[str, Any]:
    """An export leaves out whatever is empty or false; a field that it does not name is that."""
    values = dict(record.values)
    for name, field in model.fields.items():
        if isinstance(field, Boolean) and name not in _OURS:
            values.setdefault(name, False)
        if name in _USUAL:
            values.setdefault(name, _USUAL[name])
    return {name: value for name, value in values.items() if value is not None}


def from_text(model: RecordModel, record: OldRecord) -> dict[str, Any]:
    """A database gives texts; our fields say what they are."""
    names = {field.alias: field for field in model.fields.values() if field.alias}
    values: dict[str, Any] = {}
    for name, value in record.values.items():
        field = model.fields.get(name) or names.get(name)
        if value is not None:
            values[name] = _value(field, value) if isinstance(value, str) and field is not None else value
    return values


def _value(field: Field, text: str) -> Any:
    if isinstance(field, Boolean):
        return text in ("t", "true")
    if isinstance(field, Object):
        found = read_document(text)
        return found if isinstance(found, dict) else text
    if isinstance(field, (Choices, References)) or (text.startswith("{") and field.name == "asns"):
        return _list(text)
    if isinstance(field, (Integer, Number)) or (isinstance(field, Choice) and isinstance(field.choices[0], int)):
        return _number(text)
    return text


def _number(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        return text


def _list(text: str) -> Any:
    found = read_document(text)
    if isinstance(found, list):
        return found
    try:
        return read_array(text)
    except NotACopy:
        return text


def read_document(text: Any) -> Any:
    """JSON; None for what is none."""
    if not isinstance(text, str):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def is_said(value: Any) -> bool:
    """Whether anything is lost with it."""
    return value not in (None, "", "f", "{}", "[]", False, [], {})
