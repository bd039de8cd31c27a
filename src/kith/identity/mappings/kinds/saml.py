"""A SAML mapping: an attribute of the assertion. None leaves it out, a list gives it several values."""

from __future__ import annotations

from kith.identity.mappings.family import MAPPINGS, MappingRecord
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Text

FIELDS = (
    Text(name="saml_name", required=True, help="The name of the attribute."),
    Text(name="friendly_name", null=True, default=None),
)


class SAMLPropertyMapping(MappingRecord, kw_only=True):
    saml_name: str
    friendly_name: str | None


RESOURCE = Resource(
    path="/propertymappings/saml/",
    name="SAMLPropertyMapping",
    record=SAMLPropertyMapping,
    key="pm_uuid",
    family=MAPPINGS,
    kind="saml",
    table=kind_table("identity_property_mappings_saml", MAPPINGS, FIELDS),
    fields=FIELDS,
    exact=("name", "saml_name", "friendly_name"),
)
