"""Which attributes an answer shows: `attributes` and `excludedAttributes` (RFC 7644, section 3.9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from kith.identity.scim.attributes import ResourceType
from kith.identity.scim.errors import ScimError

MOST_NAMES = 100
ALWAYS = ("schemas", "id")


class ShownAttributes(msgspec.Struct, frozen=True):
    """Lower-case paths; `only` is empty where everything is shown."""

    only: frozenset[tuple[str, str, str]] = frozenset()
    but: frozenset[tuple[str, str, str]] = frozenset()

    def shows(self, name: str) -> bool:
        """Whether an attribute of the resource's own schema is shown, or a part of it."""
        lower = name.lower()
        if self.only:
            return any(not schema and one == lower for schema, one, _ in self.only)
        return ("", lower, "") not in self.but


def read_shown(kind: ResourceType, attributes: str, excluded: str) -> ShownAttributes:
    if attributes and excluded:
        raise ScimError("Either attributes or excludedAttributes can be given.", "invalidValue")
    return ShownAttributes(_names(kind, attributes), _names(kind, excluded))


def _names(kind: ResourceType, text: str) -> frozenset[tuple[str, str, str]]:
    names = [one.strip() for one in text.split(",", MOST_NAMES) if one.strip()]
    if len(names) > MOST_NAMES:
        raise ScimError(f"No more than {MOST_NAMES} attributes can be named.", "invalidValue")
    found = set()
    for one in names:
        schema, rest = kind.split(one)
        name, _, sub = rest.lower().partition(".")
        found.add((schema, name, sub))
    return frozenset(found)


def project(kind: ResourceType, document: Mapping[str, Any], shown: ShownAttributes) -> dict[str, Any]:
    if not shown.only and not shown.but:
        return dict(document)
    result: dict[str, Any] = {}
    for name, value in document.items():
        if name in ALWAYS:
            result[name] = value
        elif kind.is_extension(name):
            if (name, "", "") in shown.only or (not shown.only and (name, "", "") not in shown.but):
                inner = ShownAttributes(frozenset(), frozenset(one for one in shown.but if one[0] == name))
            elif shown.only:
                inner = ShownAttributes(frozenset(one for one in shown.only if one[0] == name))
                if not inner.only:
                    continue
            else:
                continue
            kept = _of(name, value, inner)
            if kept:
                result[name] = kept
        else:
            result |= _of("", {name: value}, shown)
    return result


def _of(schema: str, values: Mapping[str, Any], shown: ShownAttributes) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in values.items():
        lower = name.lower()
        if shown.only:
            subs = {sub for one, path, sub in shown.only if one == schema and path == lower}
            if not subs:
                continue
            result[name] = value if "" in subs else _parts(value, subs, keep=True)
        elif (schema, lower, "") not in shown.but:
            subs = {sub for one, path, sub in shown.but if one == schema and path == lower}
            result[name] = _parts(value, subs, keep=False) if subs else value
    return result


def _parts(value: Any, subs: set[str], *, keep: bool) -> Any:
    if isinstance(value, list):
        return [_parts(one, subs, keep=keep) for one in value]
    if not isinstance(value, Mapping):
        return value
    return {name: inner for name, inner in value.items() if (name.lower() in subs) is keep}
