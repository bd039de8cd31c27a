"""What every property mapping is: a name and an expression."""

from __future__ import annotations

from sqlalchemy import Column, String

from kith.base.db import UID
from kith.identity.expressions.syntax import complain
from kith.identity.rest import Family, record_table
from kith.identity.rest.fields import Code, Text

FIELDS = (
    Text(name="name", required=True, most=255),
    Code(name="expression", required=True, check=complain),
    Text(name="managed", null=True, default=None, unique=True, most=255, read_only=True),
)

mappings = record_table(
    "identity_property_mappings",
    Column("pm_uuid", UID, primary_key=True),
    Column("kind", String(40), nullable=False, index=True),
    fields=FIELDS,
)

MAPPINGS = Family(table=mappings, key="pm_uuid", fields=FIELDS)
