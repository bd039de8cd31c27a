"""What every policy is: a name and a kind. What a kind adds stands on its own page in kinds/."""

from __future__ import annotations

from sqlalchemy import Column, String

from kith.base.db import UID
from kith.identity.rest.fields import Boolean, Text
from kith.identity.rest.resource import Family, record_table

FIELDS = (
    Text(name="name", required=True, unique=True, most=255),
    Boolean(name="execution_logging", default=False, help="Write an event for each run, not only for errors."),
)

policies = record_table(
    "identity_policies",
    Column("policy_uuid", UID, primary_key=True),
    Column("kind", String(40), nullable=False, index=True),
    fields=FIELDS,
)

POLICIES = Family(table=policies, key="policy_uuid", fields=FIELDS)
