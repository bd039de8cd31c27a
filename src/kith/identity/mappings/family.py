"""What every property mapping is: a name and an expression."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Column, String

from kith.base.db import UID
from kith.identity.expressions.syntax import complain
from kith.identity.rest import Family, record_table
from kith.identity.rest.fields import Expression, Text
from kith.identity.rest.record import Record

FIELDS = (
    Text(name="name", required=True, most=255),
    Expression(name="expression", required=True, check=complain),
    Text(name="managed", null=True, default=None, unique=True, most=255, read_only=True),
)


class MappingRecord(Record, kw_only=True):
    """What every property mapping has."""

    pk: str
    pm_uuid: str
    name: str
    expression: str
    managed: str | None
    created: datetime
    last_updated: datetime


mappings = record_table(
    "identity_property_mappings",
    Column("pm_uuid", UID, primary_key=True),
    Column("kind", String(40), nullable=False, index=True),
    fields=FIELDS,
)

MAPPINGS = Family(table=mappings, key="pm_uuid", fields=FIELDS)
