from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, text

from kith.base.db import METADATA, UID, Document, Instant

_OWN, _OF_APP = text("app_id IS NULL"), text("app_id IS NOT NULL")

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
    # A client that registered itself with the application's provider, and is asked about for itself.
    Column("app_id", BigInteger, ForeignKey("identity_oauth_apps.id", ondelete="CASCADE"), index=True),
    Index("ix_identity_consents_own", "user_id", "application", unique=True, sqlite_where=_OWN, postgresql_where=_OWN),
    Index(
        "ix_identity_consents_of_app",
        "user_id",
        "application",
        "app_id",
        unique=True,
        sqlite_where=_OF_APP,
        postgresql_where=_OF_APP,
    ),
)


class Consent(msgspec.Struct):
    """What a person has allowed an application to know; without an end when `expires_at` is None.

    `app_id`: what they have allowed a client that registered itself there, which is not the application's own.
    """

    consent_uuid: str
    user_id: int
    application: str
    permissions: list[str]
    created_at: datetime
    expires_at: datetime | None
    app_id: int | None = None
