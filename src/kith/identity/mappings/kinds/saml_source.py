"""A mapping of a SAML source: what an identity provider says of somebody, as fields of a user or a group."""

from __future__ import annotations

from kith.identity.mappings.family import MAPPINGS, MappingRecord
from kith.identity.rest import Resource


class SAMLSourcePropertyMapping(MappingRecord, kw_only=True):
    """It has no fields of its own."""


RESOURCE = Resource(
    path="/propertymappings/source/saml/",
    name="SAMLSourcePropertyMapping",
    record=SAMLSourcePropertyMapping,
    key="pm_uuid",
    family=MAPPINGS,
    kind="samlsource",
    table=None,
    fields=(),
    exact=("name", "managed"),
)
