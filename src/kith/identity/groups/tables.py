from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, String, Table

from kith.base.db import METADATA, UID, Document, Instant, index_of_some, not_over

groups = Table(
    "identity_groups",
    METADATA,
    Column("group_uuid", UID, primary_key=True),
    Column("name", String(80), nullable=False, unique=True),
    Column("parent", UID, ForeignKey("identity_groups.group_uuid", ondelete="RESTRICT"), index=True),
    Column("is_superuser", Boolean, nullable=False),
    Column("attributes", Document, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
)

members = Table(
    "identity_group_members",
    METADATA,
    Column("group_uuid", UID, ForeignKey("identity_groups.group_uuid", ondelete="CASCADE"), primary_key=True),
    Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="CASCADE"), primary_key=True),
    Column("expires", Instant),  # from then on they are not a member
    Index("ix_identity_group_members_user_id", "user_id"),
    index_of_some("identity_group_members", "expires"),
)
# Of a statement that reads members: those whose end has not come.
IS_MEMBER = not_over(members.c.expires)


class Membership(msgspec.Struct):
    group_uuid: str
    user_id: int
    expires: datetime | None


class Group(msgspec.Struct):
    group_uuid: str
    name: str
    parent: str | None
    is_superuser: bool
    attributes: dict[str, Any]
    created_at: datetime
