"""/sources/all/: sources of every kind."""

from __future__ import annotations

import msgspec

from kith.base.work import Work
from kith.identity.flows.resources import bound_policies
from kith.identity.rest import READ, Resource
from kith.identity.rest.fields import Computed, Text
from kith.identity.sources.family import FIELDS, SourceRecord, sources

VERBOSE_NAMES = {"ldap": "LDAP Source", "oauth": "OAuth Source", "saml": "SAML Source", "scim": "SCIM Source"}


async def decorate(work: Work, records: list[AnySource]) -> None:
    for record in records:
        record.verbose_name = VERBOSE_NAMES[record.kind]
    await bound_policies(work, records)


class AnySource(SourceRecord, kw_only=True):
    kind: str = msgspec.field(name="__type__")
    verbose_name: str = ""


RESOURCE = Resource(
    path="/sources/all/",
    name="Source",
    record=AnySource,
    key="pbm_uuid",
    table=sources,
    fields=(
        *FIELDS,
        Text(name="__type__", stored_as="kind", read_only=True),
        Computed(name="verbose_name", form={"type": "string"}),
    ),
    search=("name", "slug"),
    exact=("name", "slug", "enabled", "promoted"),
    allow=READ,
    decorate=decorate,
)
