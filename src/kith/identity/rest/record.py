"""Records as structs, and the check that a struct and its collection's fields describe the same record."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import msgspec

from kith.identity.rest.fields import Field, Input, Secret

TIME = "datetime"


class Record(msgspec.Struct, kw_only=True):
    """One record of a collection, as it is stored and as the API shows it.

    An attribute that has another name in the API says so (`msgspec.field(name=...)`). What is worked out when the
    record is shown has a default; `UNSET` is for what only some answers show.
    """

    pk: Any


R = TypeVar("R", bound=Record)


def attribute_names(record: type[Record]) -> dict[str, str]:
    """Attributes by the API's names."""
    return dict(zip(record.__struct_encode_fields__, record.__struct_fields__, strict=True))


def as_dict(record: Record) -> dict[str, Any]:
    """The record by the API's names, without what is not set."""
    found = {name: getattr(record, attribute) for name, attribute in attribute_names(type(record)).items()}
    return {name: value for name, value in found.items() if value is not msgspec.UNSET}


def is_shown(field: Field) -> bool:
    """Whether a record has it; what is write-only is not part of the record, except for secrets that may be seen."""
    if isinstance(field, Input):
        return False
    return not field.write_only or (isinstance(field, Secret) and field.shown)


def check_record(record: type[Record], fields: Iterable[Field], own: dict[str, str], place: str) -> None:
    """Raise `TypeError` unless the struct has exactly the fields that are shown, each of the field's type.

    `own` is what the collection adds to the fields by itself (its key, its times), with their types.
    """
    wanted = own | {field.name: field.annotation for field in fields if is_shown(field)}
    declared = dict(_annotations(record))
    given = {name: declared[attribute] for name, attribute in attribute_names(record).items()}
    wrong = [f"it lacks {name}" for name in wanted if name not in given]
    wrong += [f"{name} is no field" for name in given if name not in wanted]
    wrong += [
        f"{name} is {given[name]}, the field holds {wanted[name]}"
        for name in given
        if name in wanted and wanted[name] and given[name].removesuffix(" | msgspec.UnsetType") != wanted[name]
    ]
    if wrong:
        raise TypeError(f"{record.__name__} does not fit the fields of {place}: {'; '.join(wrong)}")


def _annotations(record: type[Record]) -> Iterator[tuple[str, str]]:
    """As they are written in the source, which costs nothing to look at; a subclass overrides what is above it."""
    for one in reversed(record.__mro__):
        yield from inspect.get_annotations(one).items()
