"""From nested values, as clients send them, to one typed struct.

What a struct expects is looked up once per type; every field that cannot be filled is named in one `Invalid`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import inspect

from kith.base.errors import Complaint, Invalid
from kith.base.params.checks import check_length, check_number, check_text
from kith.base.params.loose import Loose
from kith.base.params.shapes import BLANK, ParameterShape, choice_shape, dict_reader, list_reader, union_shape
from kith.base.params.upload import Upload
from kith.base.params.values import (
    Dropped,
    Reader,
    Wrong,
    read_any,
    read_bool,
    read_date,
    read_datetime,
    read_float,
    read_int,
    read_text,
    read_upload,
    read_uuid,
    wrong,
)

__all__ = ["fill", "plan_of", "takes_files"]

S = TypeVar("S", bound=msgspec.Struct)

_ABSENT = object()


class Place(NamedTuple):
    name: str
    key: str
    is_required: bool
    read: Reader
    is_optional: bool
    keeps_blank: bool


Plan = list[Place]
_plans: dict[type, Plan] = {}


def fill(kind: type[S], raw: Mapping[str, Any]) -> S:
    """Make a `kind` of `raw`; names it does not know are ignored.

    Text stands for numbers, booleans and times, a lone value for a list of one, and an object with the keys
    0, 1, 2 for a list. Null, and empty text where no text belongs, leave a field at None if it may be None,
    else at its default.
    """
    try:
        return _fill(kind, raw)
    except Wrong as found:
        raise Invalid(fields=found.fields) from None


def _fill(kind: type[S], raw: Any) -> S:
    if not isinstance(raw, Mapping):
        raise wrong("is not an object", "not_an_object")
    values: dict[str, Any] = {}
    bad: dict[str, list[str]] = {}
    for name, key, is_required, read, is_optional, keeps_blank in _plans.get(kind) or plan_of(kind):
        value = raw.get(key, _ABSENT)
        if value is _ABSENT:
            if is_required:
                bad[key] = [Complaint(BLANK, "blank")]
        elif value is None or (value == "" and not keeps_blank):
            if is_optional:
                values[name] = None
            elif is_required:
                bad[key] = [Complaint(BLANK, "null" if value is None else "empty")]
        else:
            try:
                values[name] = read(value)
            except Dropped:
                if is_required:
                    bad[key] = [Complaint(BLANK, "blank")]
            except Wrong as found:
                found.add_to(bad, key)
    if bad:
        raise Wrong(bad)
    return kind(**values)


def plan_of(kind: type[msgspec.Struct]) -> Plan:
    """Look up what `kind` expects; a type that no client could fill is a TypeError."""
    if kind not in _plans:
        info = inspect.type_info(kind)
        if not isinstance(info, inspect.StructType):
            raise TypeError(f"{kind!r} is not a struct")
        plan = _plans[kind] = []  # known before its fields are: a struct may hold its own kind
        try:
            plan += [
                Place(field.name, field.encode_name, field.required, *_shape(field.type)[:3]) for field in info.fields
            ]
        except TypeError:
            del _plans[kind]
            raise
    return _plans[kind]


def takes_files(kind: type[msgspec.Struct]) -> bool:
    """Whether an `Upload` stands anywhere in `kind`."""
    seen: set[int] = set()
    waiting: list[Any] = [inspect.type_info(kind)]
    while waiting:
        info = waiting.pop()
        if isinstance(info, inspect.CustomType) and info.cls is Upload:
            return True
        if id(info) not in seen:
            seen.add(id(info))
            waiting += _inner_types(info)
    return False


def _inner_types(info: Any) -> list[Any]:
    if isinstance(info, inspect.StructType):
        return [field.type for field in info.fields]
    if isinstance(info, inspect.UnionType):
        return list(info.types)
    inner = (getattr(info, name, None) for name in ("type", "item_type", "value_type"))
    return [found for found in inner if found is not None]


def _shape(info: Any) -> ParameterShape:
    make = _SHAPES.get(type(info))
    if make is None:
        raise TypeError(f"No client can fill a field of type {info!r}")
    return make(info)


def _upload(info: inspect.CustomType) -> ParameterShape:
    if info.cls is not Upload:
        raise TypeError(f"No client can fill a field of type {info.cls!r}")
    return ParameterShape(read_upload)


def _union(info: inspect.UnionType) -> ParameterShape:
    shapes = [_shape(one) for one in info.types if not isinstance(one, inspect.NoneType)]
    return union_shape(shapes, has_none=len(shapes) < len(info.types))


def _dict(info: inspect.DictType) -> ParameterShape:
    if not isinstance(info.key_type, inspect.StrType | inspect.AnyType):
        raise TypeError("The keys of what a client sends are text")
    return ParameterShape(dict_reader(_shape(info.value_type), check_length(info)))


def _struct(info: inspect.StructType) -> ParameterShape:
    kind = info.cls
    plan_of(kind)
    if not issubclass(kind, Loose):
        return ParameterShape(lambda value: _fill(kind, value))

    def read(value: Any) -> Any:
        if not isinstance(value, Mapping) or not value:
            raise Dropped
        return _fill(kind, value)

    return ParameterShape(read, is_loose=True)


def _sequence(build: Callable[[list[Any]], Any]) -> Callable[[Any], ParameterShape]:
    return lambda info: ParameterShape(list_reader(_shape(info.item_type), build, check_length(info)))


_SHAPES: dict[type, Callable[[Any], ParameterShape]] = {
    inspect.AnyType: lambda _: ParameterShape(read_any, is_optional=True, keeps_blank=True),
    inspect.BoolType: lambda _: ParameterShape(read_bool),
    inspect.CustomType: _upload,
    inspect.DateTimeType: lambda _: ParameterShape(read_datetime),
    inspect.DateType: lambda _: ParameterShape(read_date),
    inspect.DictType: _dict,
    inspect.EnumType: lambda info: choice_shape([(member.value, member) for member in info.cls]),
    inspect.FloatType: lambda info: ParameterShape(check_number(info, read_float)),
    inspect.FrozenSetType: _sequence(frozenset),
    inspect.IntType: lambda info: ParameterShape(check_number(info, read_int)),
    inspect.ListType: _sequence(list),
    inspect.LiteralType: lambda info: choice_shape([(value, value) for value in info.values]),
    inspect.Metadata: lambda info: _shape(info.type),
    inspect.SetType: _sequence(set),
    inspect.StrType: lambda info: ParameterShape(check_text(info, read_text), keeps_blank=True),
    inspect.StructType: _struct,
    inspect.UnionType: _union,
    inspect.UUIDType: lambda _: ParameterShape(read_uuid),
    inspect.VarTupleType: _sequence(tuple),
}
