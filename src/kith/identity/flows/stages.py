"""What every stage is to the flows that lead through it: a name and a kind. The kinds stand in the stages room."""

from __future__ import annotations

from sqlalchemy import Column, String

from kith.base.db import UID
from kith.identity.rest import Family, record_table
from kith.identity.rest.fields import Text

FIELDS = (Text(name="name", required=True, unique=True, most=255),)

stages = record_table(
    "identity_stages",
    Column("stage_uuid", UID, primary_key=True),
    Column("kind", String(40), nullable=False, index=True),
    fields=FIELDS,
)

STAGES = Family(table=stages, key="stage_uuid", fields=FIELDS)
