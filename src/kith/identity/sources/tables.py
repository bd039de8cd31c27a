from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, String, Table, Text, UniqueConstraint, text

from kith.base.db import METADATA, UID, Document, Instant

MOST_IN_IDENTIFIER = 500


def _source() -> Column[str]:
    return Column("source", UID, ForeignKey("identity_sources.pbm_uuid", ondelete="CASCADE"), nullable=False)


# Which person a source means by an identifier. A directory names its entries by `reference` in groups, and a run of
# the synchronisation marks what it has seen. `dn` is the name of the entry itself, which only that run writes.
user_connections = Table(
    "identity_source_user_connections",
    METADATA,
    Column("connection_uuid", UID, primary_key=True),
    _source(),
    Column("kind", String(40), nullable=False),
    Column("user", Integer, ForeignKey("identity_users.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("identifier", String(MOST_IN_IDENTIFIER), nullable=False),
    Column("access_token", Text),  # sealed
    Column("reference", String(MOST_IN_IDENTIFIER)),
    Column("dn", Text),
    Column("seen_in", UID),
    Column("is_made_here", Boolean, nullable=False, server_default=text("false")),  # the source has made them
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    UniqueConstraint("source", "identifier"),
    Index("ix_identity_source_user_connections_reference", "source", "reference"),
)

group_connections = Table(
    "identity_source_group_connections",
    METADATA,
    Column("connection_uuid", UID, primary_key=True),
    _source(),
    Column("kind", String(40), nullable=False),
    Column("group", UID, ForeignKey("identity_groups.group_uuid", ondelete="CASCADE"), nullable=False, index=True),
    Column("identifier", String(MOST_IN_IDENTIFIER), nullable=False),
    Column("reference", String(MOST_IN_IDENTIFIER)),
    Column("seen_in", UID),
    Column("is_made_here", Boolean, nullable=False, server_default=text("false")),  # the source has made them
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    UniqueConstraint("source", "identifier"),
    Index("ix_identity_source_group_connections_reference", "source", "reference"),
)

# Somebody has been sent to a source and is expected back, in the same browser and once. `data` is sealed.
attempts = Table(
    "identity_source_attempts",
    METADATA,
    Column("key_hash", String(64), primary_key=True),
    Column("source", UID, ForeignKey("identity_sources.pbm_uuid", ondelete="CASCADE"), nullable=False, index=True),
    Column(
        "session_uuid",
        UID,
        ForeignKey("identity_sessions.session_uuid", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("data", Text, nullable=False),
    Column("expires_at", Instant, nullable=False, index=True),
)

# Which of our sessions was begun by which session at a source, so that the source can end it.
source_sessions = Table(
    "identity_source_sessions",
    METADATA,
    Column("session_uuid", UID, ForeignKey("identity_sessions.session_uuid", ondelete="CASCADE"), primary_key=True),
    _source(),
    Column("identifier", String(MOST_IN_IDENTIFIER), nullable=False),
    Column("remote_session", String(MOST_IN_IDENTIFIER), nullable=False),
    Index("ix_identity_source_sessions_identifier", "source", "identifier"),
    Index("ix_identity_source_sessions_remote_session", "source", "remote_session"),
)

# Messages of a source that must count once, such as its logout tokens.
seen_messages = Table(
    "identity_source_seen_messages",
    METADATA,
    Column("source", UID, ForeignKey("identity_sources.pbm_uuid", ondelete="CASCADE"), primary_key=True),
    Column("message_hash", String(64), primary_key=True),
    Column("expires_at", Instant, nullable=False, index=True),
)

# What we are called at servers that know us only since somebody of theirs wanted to come in.
remote_apps = Table(
    "identity_source_remote_apps",
    METADATA,
    Column("source", UID, ForeignKey("identity_sources.pbm_uuid", ondelete="CASCADE"), primary_key=True),
    Column("host", String(300), primary_key=True),
    Column("client_id", Text, nullable=False),
    Column("client_secret", Text, nullable=False),  # sealed
    Column("redirect_uri", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
)

# Synchronisations of a directory: the one that runs, and the last ones that ended.
ldap_runs = Table(
    "identity_source_ldap_runs",
    METADATA,
    Column("run_uuid", UID, primary_key=True),
    Column("source", UID, ForeignKey("identity_sources.pbm_uuid", ondelete="CASCADE"), nullable=False, index=True),
    Column("state", String(20), nullable=False),
    Column("phase", String(20), nullable=False),
    Column("counts", Document, nullable=False),
    Column("notes", Document, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("finished_at", Instant),
)


class UserConnection(msgspec.Struct):
    connection_uuid: str
    source: str
    kind: str
    user: int
    identifier: str
    access_token: str | None
    reference: str | None
    dn: str | None
    seen_in: str | None
    is_made_here: bool
    created_at: datetime
    updated_at: datetime


class GroupConnection(msgspec.Struct):
    connection_uuid: str
    source: str
    kind: str
    group: str
    identifier: str
    reference: str | None
    seen_in: str | None
    is_made_here: bool
    created_at: datetime
    updated_at: datetime


class DirectoryRun(msgspec.Struct):
    """`state`: running, done or failed. `counts` are those of `changes.py`; `notes` are for staff."""

    run_uuid: str
    source: str
    state: str
    phase: str
    counts: dict[str, Any]
    notes: list[str]
    started_at: datetime
    updated_at: datetime
    finished_at: datetime | None
