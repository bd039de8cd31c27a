from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import Column, ForeignKey, String, Table

from kith.base.db import METADATA, UID, Instant
from kith.identity.sources.tables import MOST_IN_IDENTIFIER

# Names that are another one the next time; who has one is removed after a while.
transient_names = Table(
    "identity_saml_transient_names",
    METADATA,
    Column("source", UID, ForeignKey("identity_sources.pbm_uuid", ondelete="CASCADE"), primary_key=True),
    Column("identifier", String(MOST_IN_IDENTIFIER), primary_key=True),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False, index=True),
)


class TransientName(msgspec.Struct):
    source: str
    identifier: str
    created_at: datetime
    expires_at: datetime
