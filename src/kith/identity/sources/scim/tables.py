"""What services have written of people and groups, beside their connections."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Boolean, Column, ForeignKey, Index, String, Table

from kith.base.db import METADATA, UID, Document, Instant
from kith.identity.sources.tables import MOST_IN_IDENTIFIER


def _table(name: str, connections: str, *columns: Column[Any]) -> Table:
    """A resource's id is that of its connection."""
    return Table(
        name,
        METADATA,
        Column("id", UID, ForeignKey(f"{connections}.connection_uuid", ondelete="CASCADE"), primary_key=True),
        Column("source", UID, ForeignKey("identity_sources.pbm_uuid", ondelete="CASCADE"), nullable=False),
        Column("external_id", String(MOST_IN_IDENTIFIER)),
        Column("document", Document, nullable=False),
        *columns,
        Column("created_at", Instant, nullable=False),
        Column("updated_at", Instant, nullable=False),
        Index(f"uq_{name}_external_id", "source", "external_id", unique=True),
        Index(f"ix_{name}_created_at", "source", "created_at", "id"),
    )


# `is_made_here`: the service has made this account, so it can also delete it.
scim_users = _table(
    "identity_source_scim_users",
    "identity_source_user_connections",
    Column("is_made_here", Boolean, nullable=False),
)
scim_groups = _table("identity_source_scim_groups", "identity_source_group_connections")


class ReceivedUser(msgspec.Struct):
    """A person as the service knows them: what it wrote, and how they are here now."""

    id: str
    external_id: str | None
    document: dict[str, Any]
    is_made_here: bool
    created_at: datetime
    updated_at: datetime
    user: int
    username: str
    is_active: bool
    changed_at: datetime


class ReceivedGroup(msgspec.Struct):
    id: str
    external_id: str | None
    document: dict[str, Any]
    is_made_here: bool
    created_at: datetime
    updated_at: datetime
    group: str
    name: str
    changed_at: datetime
