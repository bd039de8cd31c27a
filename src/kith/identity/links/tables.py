from __future__ import annotations

import msgspec
from sqlalchemy import Column, ForeignKey, Index, Integer, String, Table, Text

from kith.base.db import METADATA, UID, Instant

# A link that works once: into a flow at the place where it was left (`plan`, sealed), or straight in (no flow).
links = Table(
    "identity_flow_tokens",
    METADATA,
    Column("key_hash", String(64), primary_key=True),
    Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="CASCADE"), nullable=False),
    Column("flow_uuid", UID, ForeignKey("identity_flows.flow_uuid", ondelete="CASCADE")),
    Column("plan", Text, nullable=False),
    Column("security_stamp", String(64), nullable=False),  # what guarded the account when the link was made
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index("ix_identity_flow_tokens_user_id", "user_id"),
    Index("ix_identity_flow_tokens_flow_uuid", "flow_uuid"),
    Index("ix_identity_flow_tokens_expires_at", "expires_at"),
)


class OneTimeLink(msgspec.Struct):
    user_id: int
    plan: str
    security_stamp: str
