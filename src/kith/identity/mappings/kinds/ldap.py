"""An LDAP mapping: which field of a user is filled from a directory entry."""

from __future__ import annotations

from kith.identity.mappings.family import MAPPINGS, MappingRecord
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Text

FIELDS = (Text(name="object_field", required=True, help="Where a text goes; an object names its own places."),)


class LDAPPropertyMapping(MappingRecord, kw_only=True):
    object_field: str


ldap_mappings = kind_table("identity_property_mappings_ldap", MAPPINGS, FIELDS)

RESOURCE = Resource(
    path="/propertymappings/ldap/",
    name="LDAPPropertyMapping",
    record=LDAPPropertyMapping,
    key="pm_uuid",
    family=MAPPINGS,
    kind="ldap",
    table=ldap_mappings,
    fields=FIELDS,
    exact=("name", "object_field"),
)
