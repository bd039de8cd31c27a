from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import Column, ForeignKey, Integer, Table, UniqueConstraint

from kith.base.db import METADATA, UID, Document, Instant

consents = Table(
    "identity_consents",
    METADATA,
    Column("consent_uuid", UID, primary_key=True),
    Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="CASCADE"), nullable=False),
    Column(
        "application", UID, ForeignKey("identity_applications.pbm_uuid", ondelete="CASCADE"), nullable=False, index=True
    ),
    Column("permissions", Document, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, index=True),
    UniqueConstraint("user_id", "application"),
)


class Consent(msgspec.Struct):
    """What a person has allowed an application to know; without an end when `expires_at` is None."""

    consent_uuid: str
    user_id: int
    application: str
    permissions: list[str]
    created_at: datetime
    expires_at: datetime | None
