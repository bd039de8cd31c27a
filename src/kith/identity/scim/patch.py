"""PATCH (RFC 7644, section 3.5.2): operations, read within limits and done to a document."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from kith.identity.scim.attributes import ResourceType, ScimAttribute
from kith.identity.scim.documents import MOST_VALUES, read_value
from kith.identity.scim.errors import ScimError, invalid_value
from kith.identity.scim.filters import Both, ChangePath, Comparison, FilterNode, read_path, terms_in, value_fits
from kith.identity.scim.schemas import PATCH_OP

MOST_OPERATIONS = 1_000
MOST_COMPARISONS = 100_000


class Operation(msgspec.Struct, frozen=True):
    """`op` is add, replace or remove; `path` names exactly one attribute."""

    op: str
    path: ChangePath
    value: Any = None


def read_operations(kind: ResourceType, sent: Mapping[str, Any]) -> list[Operation]:
    """Those of the body of a PATCH; one that names no path counts as one for each attribute in its value."""
    if not any(isinstance(one, str) and one.lower() == PATCH_OP.lower() for one in _listed(sent, "schemas")):
        raise ScimError(f"The schemas of a PATCH must hold {PATCH_OP}.", "invalidSyntax")
    listed = _listed(sent, "Operations") or _listed(sent, "operations")
    if not listed:
        raise ScimError("A PATCH needs a list of Operations.", "invalidSyntax")
    found: list[Operation] = []
    for one in listed:
        found += _read(kind, one)
        if len(found) > MOST_OPERATIONS:
            raise ScimError(f"A PATCH has no more than {MOST_OPERATIONS} operations.", "tooMany")
    return found


def _listed(sent: Mapping[str, Any], name: str) -> list[Any]:
    value = sent.get(name)
    return value if isinstance(value, list) else []


def _read(kind: ResourceType, sent: Any) -> Iterator[Operation]:
    if not isinstance(sent, Mapping):
        raise ScimError("An operation must be an object.", "invalidSyntax")
    op, path = sent.get("op"), sent.get("path")
    if not isinstance(op, str) or op.lower() not in ("add", "replace", "remove"):
        raise ScimError("The op of an operation is add, replace or remove.", "invalidSyntax")
    op, value = op.lower(), sent.get("value")
    if path:
        if not isinstance(path, str):
            raise ScimError("A path must be a text.", "invalidPath")
        if op != "remove" and "value" not in sent:
            raise invalid_value(f"The operation {op} needs a value.")
        yield from _with_path(kind, op, path, value)
        return
    if op == "remove":
        raise ScimError("The operation remove needs a path.", "noTarget")
    if not isinstance(value, Mapping):
        raise invalid_value("Without a path the value must be an object.")
    for name, inner in value.items():
        if name.lower() in ("schemas", "id", "meta"):
            continue
        schema, rest = kind.split(name)
        if rest and kind.find(schema, rest.partition(".")[0].partition("[")[0]) is None:
            continue  # what nobody knows is passed over, as in a resource
        yield from _with_path(kind, op, name, inner)


def _with_path(kind: ResourceType, op: str, text: str, value: Any) -> Iterator[Operation]:
    path = read_path(kind, text)
    if path.path.name:
        yield Operation(op, path, value)
        return
    extension = kind.extension
    if extension is None or not path.path.schema:
        raise ScimError(f"{text[:100]} is no attribute.", "invalidPath")
    if op == "remove":
        for attribute in extension.attributes:
            yield Operation(op, read_path(kind, f"{extension.id}:{attribute.name}"))
        return
    if not isinstance(value, Mapping):
        raise invalid_value("The value of an extension must be an object.")
    for name, inner in value.items():
        if kind.find(extension.id, name.partition(".")[0]) is not None:
            yield Operation(op, read_path(kind, f"{extension.id}:{name}"), inner)


class ComparisonBudget:
    """Holds the filters of one PATCH to so many comparisons."""

    def __init__(self) -> None:
        self._left = MOST_COMPARISONS

    def spend(self, values: FilterNode, count: int) -> None:
        self._left -= terms_in(values) * count
        if self._left < 0:
            raise ScimError("The filters of these operations look at too many values.", "tooMany")


def patched(kind: ResourceType, document: Mapping[str, Any], operations: list[Operation]) -> dict[str, Any]:
    """The document after all operations. It is as clients send one: `documents.clean` has the last word."""
    changed = copy.deepcopy(dict(document))
    budget = ComparisonBudget()
    for one in operations:
        _do(kind, changed, one, budget)
    return changed


def target_of(kind: ResourceType, operation: Operation) -> ScimAttribute:
    path = operation.path.path
    attribute = kind.find(path.schema, path.name)
    if attribute is None or (path.sub and attribute.part(path.sub) is None):
        raise ScimError(f"There is no attribute {path.name}{'.' if path.sub else ''}{path.sub}."[:300], "invalidPath")
    part = attribute.part(path.sub) if path.sub else None
    if "readOnly" in (attribute.mutability, part.mutability if part is not None else ""):
        raise ScimError(f"{path.name} cannot be changed."[:300], "mutability")
    return attribute


def _do(kind: ResourceType, document: dict[str, Any], operation: Operation, budget: ComparisonBudget) -> None:
    attribute, path = target_of(kind, operation), operation.path.path
    place = document.setdefault(path.schema, {}) if path.schema else document
    if operation.path.values is not None:
        budget.spend(operation.path.values, len(place.get(attribute.name) or ()))
        _change_some(attribute, place, operation, operation.path.values)
    elif operation.op == "remove":
        _remove(attribute, place, operation)
    elif path.sub:
        _set_part(attribute, place, path.sub, operation.value)
    else:
        _set(attribute, place, operation)
    if attribute.many and len(place.get(attribute.name) or ()) > MOST_VALUES:
        raise invalid_value(f"{attribute.name} has no more than {MOST_VALUES} values.")
    if path.schema and not place:
        del document[path.schema]


def _set(attribute: ScimAttribute, place: dict[str, Any], operation: Operation) -> None:
    value = read_value(attribute, operation.value)
    if value is None:
        if operation.op == "replace":
            place.pop(attribute.name, None)
        return
    if attribute.many and operation.op == "add":
        _add_values(attribute, place, value)
    elif attribute.type == "complex" and not attribute.many:
        place[attribute.name] = {**place.get(attribute.name, {}), **value}
    else:
        place[attribute.name] = value


def _add_values(attribute: ScimAttribute, place: dict[str, Any], values: list[Any]) -> None:
    """What is there already is not added again. A new primary value takes the place of the old one."""
    held: list[Any] = place.setdefault(attribute.name, [])
    if any(isinstance(one, dict) and one.get("primary") is True for one in values):
        for one in held:
            one.pop("primary", None)
    held += [one for one in values if one not in held]


def _set_part(attribute: ScimAttribute, place: dict[str, Any], sub: str, value: Any) -> None:
    part = attribute.part(sub)
    if part is None:
        return
    taken = read_value(part, value)
    if attribute.many:
        places = place.get(attribute.name) or place.setdefault(attribute.name, [{}])
    else:
        places = [place.setdefault(attribute.name, {})]
    for one in places:
        _put(one, part.name, taken)


def _put(place: dict[str, Any], name: str, value: Any) -> None:
    if value is None:
        place.pop(name, None)
    else:
        place[name] = value


def _remove(attribute: ScimAttribute, place: dict[str, Any], operation: Operation) -> None:
    sub, held = operation.path.path.sub, place.get(attribute.name)
    if sub and held:
        part = attribute.part(sub)
        for one in held if isinstance(held, list) else [held]:
            one.pop(part.name if part is not None else sub, None)
        return
    if attribute.many and isinstance(held, list) and operation.value:
        named = operation.value if isinstance(operation.value, list) else [operation.value]
        gone = [one.get("value") if isinstance(one, Mapping) else one for one in named]
        place[attribute.name] = [one for one in held if not (isinstance(one, dict) and one.get("value") in gone)]
        return
    place.pop(attribute.name, None)


def _change_some(attribute: ScimAttribute, place: dict[str, Any], operation: Operation, values: FilterNode) -> None:
    if not attribute.many or attribute.type != "complex":
        raise ScimError(f"{attribute.name} has no values to choose from.", "invalidPath")
    held: list[Any] = place.setdefault(attribute.name, [])
    found = [one for one in held if value_fits(attribute, values, one)]
    sub = operation.path.path.sub
    if operation.op == "remove" and not sub:
        place[attribute.name] = [one for one in held if one not in found]
        return
    if operation.op == "remove":
        part = attribute.part(sub)
        for one in found:
            one.pop(part.name if part is not None else sub, None)
        return
    if not found:
        found = [_new_value(attribute, operation, values)]
        held.append(found[0])
    _fill(attribute, held, found, sub, operation.value)


def _fill(attribute: ScimAttribute, held: list[Any], found: list[Any], sub: str, value: Any) -> None:
    part = attribute.part(sub) if sub else None
    given = {part.name: read_value(part, value)} if part is not None else (read_value(attribute, value) or [{}])[0]
    if given.get("primary") is True:
        for one in held:
            one.pop("primary", None)
    for one in found:
        for name, inner in given.items():
            _put(one, name, inner)


def _new_value(attribute: ScimAttribute, operation: Operation, values: FilterNode) -> dict[str, Any]:
    """Clients add `emails[type eq "work"].value` where there is none yet; only `replace` needs one to be there."""
    parts = values.parts if isinstance(values, Both) else (values,)
    if operation.op == "replace":
        raise ScimError(f"No value of {attribute.name} fits the filter of the path.", "noTarget")
    made: dict[str, Any] = {}
    for one in parts:
        part = attribute.part(one.path.name) if isinstance(one, Comparison) and one.operator == "eq" else None
        if part is None or not isinstance(one, Comparison):
            raise ScimError(f"No value of {attribute.name} fits the filter of the path.", "noTarget")
        made[part.name] = one.value
    return made
