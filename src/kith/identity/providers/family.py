"""What all providers have: a name, the flow for entering the application, and property mappings."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Column, Integer, String, bindparam, select

from kith.base.db import query
from kith.identity.flows.resources import flows
from kith.identity.mappings.family import mappings as property_mappings
from kith.identity.rest import Family, RecordDraft, link_table, record_table
from kith.identity.rest.fields import Field, Reference, References, Text
from kith.identity.rest.record import Record

CONSENT_FLOW = "default-provider-authorization-explicit-consent"

MAPPING = f"{property_mappings.name}.pm_uuid"

provider_mappings = link_table(
    "identity_provider_mappings", "identity_providers.id", MAPPING, owner_integer=True, holds=True
)

NAME = Text(name="name", default="", most=255)
MAPPINGS = References(name="property_mappings", to=MAPPING, link=provider_mappings)
FIELDS: tuple[Field, ...] = (
    NAME,
    Reference(
        name="authorization_flow",
        null=True,
        to="identity_flows.flow_uuid",
        on_delete="RESTRICT",
        where=(("designation", "authorization"),),
        help="Run when somebody opens the application; the shipped consent flow when left out.",
    ),
    Reference(
        name="authentication_flow",
        null=True,
        to="identity_flows.flow_uuid",
        on_delete="RESTRICT",
        where=(("designation", "authentication"),),
    ),
    Reference(
        name="invalidation_flow", null=True, to="identity_flows.flow_uuid", where=(("designation", "invalidation"),)
    ),
    MAPPINGS,
)


class ProviderRecord(Record, kw_only=True):
    """What every provider has."""

    pk: int
    id: int
    name: str
    authorization_flow: str | None
    authentication_flow: str | None
    invalidation_flow: str | None
    property_mappings: list[str] = msgspec.field(default_factory=list)
    assigned_application_slug: str | None = None
    assigned_application_name: str | None = None
    created: datetime
    last_updated: datetime


providers = record_table(
    "identity_providers",
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("kind", String(40), nullable=False, index=True),
    fields=FIELDS,
)


def family_of(*, mappings: str, name: Text = NAME) -> Family:
    """The family for one kind: with its kind of mappings, and its rules for the name."""
    usable = msgspec.structs.replace(MAPPINGS, where=(("kind", mappings),))
    return Family(table=providers, key="id", fields=(name, *FIELDS[1:-1], usable))


_flow_named = query(
    select(flows.c.flow_uuid).where(flows.c.slug == bindparam("slug"), flows.c.designation == "authorization"), str
)


async def choose_flow(draft: RecordDraft[Any]) -> None:
    """A new provider uses the shipped consent flow unless another was chosen."""
    if draft.is_new and draft.values.get("authorization_flow") is None:
        draft.values["authorization_flow"] = await draft.work.db.one(_flow_named, slug=CONSENT_FLOW)
