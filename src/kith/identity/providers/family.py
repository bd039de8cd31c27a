"""What every provider is: a name, the flow that leads into the application, and the mappings it speaks with."""

from __future__ import annotations

from sqlalchemy import Column, Integer, String

from kith.identity.rest import Family, link_table, record_table
from kith.identity.rest.fields import Reference, References, Text

provider_mappings = link_table(
    "identity_provider_mappings", "identity_providers.id", "identity_property_mappings.pm_uuid", owner_integer=True
)

FIELDS = (
    Text(name="name", default="", most=255),
    Reference(
        name="authorization_flow",
        null=True,
        to="identity_flows.flow_uuid",
        on_delete="RESTRICT",
        where=(("designation", "authorization"),),
        help="Run when somebody opens the application; the shipped consent flow when left out.",
    ),
    Reference(name="authentication_flow", null=True, to="identity_flows.flow_uuid"),
    Reference(name="invalidation_flow", null=True, to="identity_flows.flow_uuid"),
    References(name="property_mappings", to="identity_property_mappings.pm_uuid", link=provider_mappings),
)

providers = record_table(
    "identity_providers",
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("kind", String(40), nullable=False, index=True),
    fields=FIELDS,
)

PROVIDERS = Family(table=providers, key="id", fields=FIELDS)
