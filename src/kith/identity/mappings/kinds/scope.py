"""A scope mapping: the claims that a scope gives."""

from __future__ import annotations

from kith.identity.mappings.family import MAPPINGS, MappingRecord
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Text

FIELDS = (
    Text(name="scope_name", required=True),
    Text(name="description", default="", help="Shown when consent is asked for; not shown when empty."),
)


class ScopeMapping(MappingRecord, kw_only=True):
    scope_name: str
    description: str


RESOURCE = Resource(
    path="/propertymappings/scope/",
    name="ScopeMapping",
    record=ScopeMapping,
    key="pm_uuid",
    family=MAPPINGS,
    kind="scope",
    table=kind_table("identity_property_mappings_scope", MAPPINGS, FIELDS),
    fields=FIELDS,
    exact=("name", "scope_name"),
)
