"""A mapping of an OAuth source: what a service says of somebody, as fields of a user or a group."""

from __future__ import annotations

from kith.identity.mappings.family import MAPPINGS, MappingRecord
from kith.identity.rest import Resource


class OAuthSourcePropertyMapping(MappingRecord, kw_only=True):
    """It has no fields of its own."""


RESOURCE = Resource(
    path="/propertymappings/source/oauth/",
    name="OAuthSourcePropertyMapping",
    record=OAuthSourcePropertyMapping,
    key="pm_uuid",
    family=MAPPINGS,
    kind="oauthsource",
    table=None,
    fields=(),
    exact=("name", "managed"),
)
