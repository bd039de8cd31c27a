from __future__ import annotations

from sqlalchemy import Column, Table, Text

from kith.base.db import METADATA, Instant

# Ids of activities that were undone and of objects that were deleted, with the actor that said so.
ended = Table(
    "federation_ended",
    METADATA,
    Column("uri", Text, primary_key=True),
    Column("actor", Text, primary_key=True),
    Column("until", Instant, nullable=False, index=True),
)
