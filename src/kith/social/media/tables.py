from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Column, ForeignKey, Index, String, Table, Text

from kith.base.db import ID, METADATA, Document, Instant, index_of_some
from kith.social.ids import AccountId, StatusId

media = Table(
    "social_media",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False),
    Column("status_id", BigInteger, ForeignKey("social_statuses.id", ondelete="SET NULL"), index=True),
    Column("scheduled_id", BigInteger, index=True),
    Column("kind", String(10), nullable=False),
    Column("state", String(10), nullable=False),
    Column("file", Text, nullable=False),
    Column("preview", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("mime", String(100), nullable=False),
    Column("description", Text),
    Column("meta", Document, nullable=False),
    Column("blurhash", String(100)),
    Column("remote_url", Text),
    Column("preview_remote_url", Text),
    Column("error", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("fetched_bytes", BigInteger, nullable=False, server_default="0"),
    Column("looked_at", Instant),
    Column("withheld_kind", String(10), nullable=False, server_default=""),
    Index("ix_social_media_account_id", "account_id", "id"),
    Index("ix_social_media_created_at", "created_at"),
    index_of_some("social_media", "looked_at", "fetched_bytes"),
)


class Media(msgspec.Struct):
    """`state`: waiting (to be processed), ready or failed. `source` is the upload until it is processed.

    What was fetched from elsewhere has `looked_at`, to some hours, and `fetched_bytes`, as long as its files are here.
    `withheld_kind` is the kind it had before the team wanted no files of its server.
    """

    id: int
    account_id: AccountId
    status_id: StatusId | None
    scheduled_id: int | None
    kind: str
    state: str
    file: str
    preview: str
    source: str
    mime: str
    description: str | None
    meta: dict[str, Any]
    blurhash: str | None
    remote_url: str | None
    preview_remote_url: str | None
    error: str
    created_at: datetime
    fetched_bytes: int = 0
    looked_at: datetime | None = None
    withheld_kind: str = ""
