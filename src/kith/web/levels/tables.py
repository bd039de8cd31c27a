from __future__ import annotations

from sqlalchemy import Column, String, Table

from kith.base.db import METADATA, Long

# How full the server was: the most of each thing on each day.
levels = Table(
    "web_levels",
    METADATA,
    Column("day", String(10), primary_key=True),
    Column("name", String(20), primary_key=True),
    Column("most", Long, nullable=False),
)
