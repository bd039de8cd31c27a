"""Who is signed in at a gateway. Keys are stored as hashes, the ID token is sealed."""

from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import Column, ForeignKey, Integer, String, Table, Text

from kith.base.db import METADATA, UID, Instant

# A row goes with its person, its provider or its grant. `session_uuid` is the session at this server that it was
# opened in: without that it counts for nothing.
gateway_sessions = Table(
    "identity_gateway_sessions",
    METADATA,
    Column("key_hash", String(64), primary_key=True),
    Column("provider_id", Integer, ForeignKey("identity_providers.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="CASCADE"), nullable=False, index=True),
    Column(
        "grant_uuid",
        UID,
        ForeignKey("identity_oauth_grants.grant_uuid", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("session_uuid", UID, nullable=False, index=True),
    Column("scopes", Text, nullable=False),
    Column("id_token", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False, index=True),
)


class GatewaySession(msgspec.Struct):
    key_hash: str
    provider_id: int
    user_id: int
    grant_uuid: str
    session_uuid: str
    scopes: str
    id_token: str
    created_at: datetime
    expires_at: datetime
