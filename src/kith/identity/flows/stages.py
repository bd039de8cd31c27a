"""What all stages have: a name and a kind. The kinds are in the stages room."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Column, String

from kith.base.db import UID
from kith.identity.rest import Family, record_table
from kith.identity.rest.fields import Text
from kith.identity.rest.record import Record

FIELDS = (Text(name="name", required=True, unique=True, most=255),)


class StageRecord(Record, kw_only=True):
    """What every stage has."""

    pk: str
    stage_uuid: str
    name: str
    created: datetime
    last_updated: datetime


stages = record_table(
    "identity_stages",
    Column("stage_uuid", UID, primary_key=True),
    Column("kind", String(40), nullable=False, index=True),
    fields=FIELDS,
)

STAGES = Family(table=stages, key="stage_uuid", fields=FIELDS)
