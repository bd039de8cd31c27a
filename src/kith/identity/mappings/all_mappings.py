"""/propertymappings/all/: every mapping, whatever its kind."""

from __future__ import annotations

import msgspec
from sqlalchemy import Boolean, bindparam

from kith.identity.mappings.family import FIELDS, MappingRecord, mappings
from kith.identity.rest import READ, ListFilter, Resource
from kith.identity.rest.fields import Text


def read_word(text: str) -> bool | None:
    return {"true": True, "1": True, "false": False, "0": False}.get(text.lower())


class AnyMapping(MappingRecord, kw_only=True):
    kind: str = msgspec.field(name="__type__")


RESOURCE = Resource(
    path="/propertymappings/all/",
    name="PropertyMapping",
    record=AnyMapping,
    key="pm_uuid",
    table=mappings,
    fields=(*FIELDS, Text(name="__type__", stored_as="kind", read_only=True)),
    exact=("name", "managed"),
    filters=(
        ListFilter(
            name="managed__isnull",
            clause=mappings.c.managed.is_(None) == bindparam("is_own", type_=Boolean()),
            read=read_word,
            bind="is_own",
        ),
    ),
    allow=READ,
)
