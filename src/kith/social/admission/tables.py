from __future__ import annotations

from datetime import UTC, datetime

import msgspec
from sqlalchemy import Boolean, Column, Integer, String, Table, Text

from kith.base.db import ID, METADATA, Instant

# When accounts were suspended whose server is not on the list where only listed servers are let in. It is no moment of
# theirs, so that they can be told from all others and come back when their server is listed or the list is given up.
NOT_LISTED = datetime(2000, 1, 1, tzinfo=UTC)

server_blocks = Table(
    "social_server_blocks",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("domain", Text, nullable=False, unique=True),
    Column("severity", String(10), nullable=False),
    Column("reject_media", Boolean, nullable=False),
    Column("reject_reports", Boolean, nullable=False),
    Column("obfuscate", Boolean, nullable=False),
    Column("private_comment", Text),
    Column("public_comment", Text),
    Column("created_at", Instant, nullable=False),
)

server_allows = Table(
    "social_server_allows",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("domain", Text, nullable=False, unique=True),
    Column("created_at", Instant, nullable=False),
)

# To which way of federating (`open`, `allow-list`) the accounts that are known here were made to fit: one row.
federation_mode = Table(
    "social_federation_mode",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("mode", String(10), nullable=False),
)

email_domain_blocks = Table(
    "social_email_domain_blocks",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("domain", Text, nullable=False, unique=True),
    Column("allow_with_approval", Boolean, nullable=False),
    Column("created_at", Instant, nullable=False),
)

# Who tried to sign up with an address of a blocked domain, by day.
email_domain_tries = Table(
    "social_email_domain_tries",
    METADATA,
    Column("domain", Text, primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("client_ip", String(45), primary_key=True),
    Column("uses", Integer, nullable=False),
)

ip_blocks = Table(
    "social_ip_blocks",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("network", String(50), nullable=False, unique=True),
    Column("severity", String(30), nullable=False),
    Column("comment", Text, nullable=False),
    Column("expires_at", Instant),
    Column("created_at", Instant, nullable=False),
)

canonical_email_blocks = Table(
    "social_canonical_email_blocks",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("hash", String(64), nullable=False, unique=True),
    Column("created_at", Instant, nullable=False),
)


class ServerBlock(msgspec.Struct):
    id: int
    domain: str
    severity: str
    reject_media: bool
    reject_reports: bool
    obfuscate: bool
    private_comment: str | None
    public_comment: str | None
    created_at: datetime


class ServerAllow(msgspec.Struct):
    id: int
    domain: str
    created_at: datetime


class EmailDomainBlock(msgspec.Struct):
    id: int
    domain: str
    allow_with_approval: bool
    created_at: datetime


class IPBlock(msgspec.Struct):
    id: int
    network: str
    severity: str
    comment: str
    expires_at: datetime | None
    created_at: datetime


class CanonicalEmailBlock(msgspec.Struct):
    id: int
    hash: str
    created_at: datetime
