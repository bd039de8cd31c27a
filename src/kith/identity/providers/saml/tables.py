"""The tables of the SAML identity provider."""

from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import Column, Integer, String, Table, Text, UniqueConstraint

from kith.base.db import METADATA, UID, Instant

# Where somebody is signed in by an assertion of ours. Rows stay when the person, the session or the provider go, so
# that the service can still be told.
saml_sessions = Table(
    "identity_saml_sessions",
    METADATA,
    Column("saml_session_uuid", UID, primary_key=True),
    Column("provider_id", Integer, nullable=False, index=True),
    Column("user_id", Integer, nullable=False, index=True),
    Column("session_uuid", UID, nullable=False, index=True),
    Column("session_index", String(64), nullable=False),
    Column("name_id", Text, nullable=False),
    Column("name_id_format", String(100), nullable=False),
    Column("issuer", Text, nullable=False),
    Column("client_ip", String(45), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False, index=True),
    UniqueConstraint("session_index", "provider_id"),
)


class SAMLSession(msgspec.Struct):
    """Somebody is signed in at a service, which knows them by `name_id` and the session by `session_index`."""

    saml_session_uuid: str
    provider_id: int
    user_id: int
    session_uuid: str
    session_index: str
    name_id: str
    name_id_format: str
    issuer: str
    client_ip: str
    created_at: datetime
    expires_at: datetime
