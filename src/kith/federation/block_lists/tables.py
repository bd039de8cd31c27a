from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, String, Table, Text

from kith.base.db import ID, METADATA, Document, Instant

# State: new (never acted upon), active, held (its last change waits for somebody of the team).
# `offered` is what was fetched last and is not acted upon yet, `digest` is its name.
block_lists = Table(
    "federation_block_lists",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("url", Text, nullable=False, unique=True),
    Column("state", String(10), nullable=False),
    Column("rows", Integer, nullable=False),
    Column("offered", Document),
    Column("digest", String(64)),
    Column("reason", Text),
    Column("error", Text),
    Column("created_at", Instant, nullable=False),
    Column("fetched_at", Instant),
    Column("applied_at", Instant),
)

# What a list asks for as far as it was acted upon; `block_id` is the block that was made for it, and `applied` tells
# what lists have made of it, so that one that was changed by hand is known.
block_list_entries = Table(
    "federation_block_list_entries",
    METADATA,
    Column("list_id", BigInteger, ForeignKey("federation_block_lists.id", ondelete="CASCADE"), primary_key=True),
    Column("domain", Text, primary_key=True),
    Column("severity", String(10), nullable=False),
    Column("reject_media", Boolean, nullable=False),
    Column("reject_reports", Boolean, nullable=False),
    Column("obfuscate", Boolean, nullable=False),
    Column("public_comment", Text),
    Column("block_id", BigInteger, nullable=False),
    Column("applied", String(64), nullable=False),
    Index("ix_federation_block_list_entries_domain", "domain"),
)


class BlockList(msgspec.Struct):
    id: int
    url: str
    state: str
    rows: int
    offered: list[dict[str, Any]] | None
    digest: str | None
    reason: str | None
    error: str | None
    created_at: datetime
    fetched_at: datetime | None = None
    applied_at: datetime | None = None


class BlockListEntry(msgspec.Struct):
    list_id: int
    domain: str
    severity: str
    reject_media: bool
    reject_reports: bool
    obfuscate: bool
    public_comment: str | None
    block_id: int
    applied: str
