from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, Index, String, Table, Text

from kith.base.db import METADATA, Instant, Long

__all__ = ["BACKUP", "REHEARSAL", "BackupRun", "backup_runs"]

BACKUP, REHEARSAL = "backup", "rehearsal"

backup_runs = Table(
    "base_backup_runs",
    METADATA,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", String(20), nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("ended_at", Instant, nullable=False),
    Column("succeeded", Boolean, nullable=False),
    Column("target", Text, nullable=False),
    Column("backup", String(60), nullable=False),  # the id of its manifest; empty where there is none
    Column("is_encrypted", Boolean, nullable=False),
    Column("size", Long, nullable=False),
    Column("new_bytes", Long, nullable=False),
    Column("words", Text, nullable=False),  # what went wrong, or what was found
    Index("ix_base_backup_runs_kind", "kind", "started_at"),
)


class BackupRun(msgspec.Struct):
    """A backup or a rehearsal that has ended."""

    id: int
    kind: str
    started_at: datetime
    ended_at: datetime
    succeeded: bool
    target: str
    backup: str
    is_encrypted: bool
    size: int
    new_bytes: int
    words: str
