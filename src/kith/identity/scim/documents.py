"""What a client sent as a resource: names in their usual spelling, values of the right type, nothing unknown."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from kith.identity.scim.attributes import ResourceType, ScimAttribute
from kith.identity.scim.errors import ScimError, invalid_value

MOST_VALUES = 100  # of one attribute; members of groups are counted elsewhere
MOST_CHARACTERS = 8_192
MOST_BYTES = 64 << 10
_WORDS = {"true": True, "false": False}


def clean(kind: ResourceType, sent: Mapping[str, Any], *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """The attributes that are known and may be set; `without` names some that are looked after elsewhere.

    What is null or empty counts as not given (RFC 7643, section 2.5).
    """
    found: dict[str, Any] = {}
    for key, value in sent.items():
        schema, rest = kind.split(key)
        if kind.is_extension(schema) and not rest and isinstance(value, Mapping):
            _put_extension(kind, schema, value, found)
            continue
        attribute = kind.find(schema, rest)
        if attribute is None or attribute.mutability == "readOnly" or attribute.name in without:
            continue
        taken = read_value(attribute, value)
        if taken is not None:
            place = found.setdefault(schema, {}) if schema else found
            place[attribute.name] = taken
    _check(kind, found)
    return found


def _put_extension(kind: ResourceType, schema: str, sent: Mapping[str, Any], found: dict[str, Any]) -> None:
    for name, value in sent.items():
        attribute = kind.find(schema, name)
        if attribute is not None and attribute.mutability != "readOnly":
            taken = read_value(attribute, value)
            if taken is not None:
                found.setdefault(schema, {})[attribute.name] = taken


def _check(kind: ResourceType, found: dict[str, Any]) -> None:
    for attribute in kind.schema.attributes:
        if attribute.required and not found.get(attribute.name):
            raise invalid_value(f"{attribute.name} is required.")
    if len(msgspec.json.encode(found)) > MOST_BYTES:
        raise ScimError(f"A resource has no more than {MOST_BYTES} bytes.", "invalidValue", status=413)


def read_value(attribute: ScimAttribute, value: Any) -> Any:
    """The value as it is kept; None if there is none."""
    if not attribute.many:
        return _read_one(attribute, value)
    values = value if isinstance(value, list) else [value]
    if len(values) > MOST_VALUES:
        raise invalid_value(f"{attribute.name} has no more than {MOST_VALUES} values.")
    taken = [one for one in (_read_one(attribute, one) for one in values) if one is not None]
    if sum(1 for one in taken if isinstance(one, dict) and one.get("primary") is True) > 1:
        raise invalid_value(f"Only one of {attribute.name} can be the primary one.")
    return taken or None


def _read_one(attribute: ScimAttribute, value: Any) -> Any:
    if value is None:
        return None
    if attribute.type != "complex":
        return _read_simple(attribute, value)
    if not isinstance(value, Mapping):
        if attribute.part("value") is None:
            raise invalid_value(f"{attribute.name} must be an object.")
        value = {"value": value}
    found: dict[str, Any] = {}
    for name, inner in value.items():
        part = attribute.part(name)
        if part is not None and part.mutability != "readOnly":
            taken = read_value(part, inner)
            if taken is not None:
                found[part.name] = taken
    return found or None


def _read_simple(attribute: ScimAttribute, value: Any) -> Any:
    match attribute.type:
        case "boolean":
            value = _WORDS.get(value.lower(), value) if isinstance(value, str) else value
            if not isinstance(value, bool):
                raise invalid_value(f"{attribute.name} must be true or false.")
            return value
        case "integer" | "decimal":
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise invalid_value(f"{attribute.name} must be a number.")
            return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise invalid_value(f"{attribute.name} must be a text.")
    if "\0" in value or len(value) > MOST_CHARACTERS:
        raise invalid_value(f"{attribute.name} has no null characters and no more than {MOST_CHARACTERS} characters.")
    if attribute.type == "binary":
        _check_base64(attribute, value)
    if attribute.type == "dateTime":
        _check_moment(attribute, value)
    return value or None


def _check_base64(attribute: ScimAttribute, value: str) -> None:
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise invalid_value(f"{attribute.name} must be base64.") from error


def _check_moment(attribute: ScimAttribute, value: str) -> None:
    try:
        datetime.fromisoformat(value)
    except ValueError as error:
        raise invalid_value(f"{attribute.name} must be a moment such as 2026-01-31T12:00:00Z.") from error
