"""A SCIM mapping: what a provider tells another service of a person or a group."""

from __future__ import annotations

from kith.identity.mappings.facts import ScimMappingChanged
from kith.identity.mappings.family import MAPPINGS, MappingRecord
from kith.identity.rest import RecordDraft, Resource


class SCIMMapping(MappingRecord, kw_only=True):
    """Its expression returns a part of a SCIM resource; several are put together."""


async def saved(draft: RecordDraft[SCIMMapping]) -> None:
    if not draft.is_new and draft.sets("expression"):
        draft.work.announce(ScimMappingChanged(pm_uuid=draft.now.pm_uuid))


RESOURCE = Resource(
    path="/propertymappings/scim/",
    name="SCIMMapping",
    record=SCIMMapping,
    key="pm_uuid",
    family=MAPPINGS,
    kind="scim",
    table=None,
    fields=(),
    exact=("name",),
    saved=saved,
)
