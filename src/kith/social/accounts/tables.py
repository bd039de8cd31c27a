from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

from kith.base.db import ID, METADATA, Document, Instant, Long, index_of_some, index_of_url
from kith.social.ids import AccountId, UserId

# A face, here or elsewhere. Its `version` grows with whatever is shown of it (see `versions`).
# Written out, as in the index of those whom it is true of.
ELSEWHERE = text("domain != ''")
ORPHANED = text("domain = '' AND user_id IS NULL AND deleted_at IS NULL")
accounts = Table(
    "social_accounts",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("version", Long, nullable=False),
    Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="SET NULL"), unique=True),
    Column("username", Text, nullable=False),
    Column("username_key", Text, nullable=False),
    Column("domain", Text, nullable=False),  # empty for those who live here
    Column("uri", Text, nullable=False, unique=True),
    Column("url", Text),
    Column("actor_type", String(20), nullable=False),
    Column("display_name", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("note_html", Text, nullable=False),
    Column("role", String(20), nullable=False),  # as the person's record has it, to be shown
    Column("fields", Document, nullable=False),
    Column("avatar", Text, nullable=False),
    Column("avatar_static", Text, nullable=False),
    Column("avatar_description", Text, nullable=False),
    Column("header", Text, nullable=False),
    Column("header_static", Text, nullable=False),
    Column("header_description", Text, nullable=False),
    Column("locked", Boolean, nullable=False),
    Column("discoverable", Boolean),
    Column("indexable", Boolean, nullable=False),
    Column("hide_collections", Boolean),
    Column("noindex", Boolean, nullable=False),
    Column("show_media", Boolean, nullable=False),
    Column("show_media_replies", Boolean, nullable=False),
    Column("show_featured", Boolean, nullable=False),
    Column("attribution_domains", Document, nullable=False),
    Column("also_known_as", Document, nullable=False),
    Column("moved_to", BigInteger, ForeignKey("social_accounts.id", ondelete="SET NULL"), index=True),
    Column("is_listed", Boolean, nullable=False),  # confirmed and approved, so that others may see it
    Column("memorial", Boolean, nullable=False),
    Column("silenced_at", Instant),
    Column("sensitized_at", Instant),
    Column("suspended_at", Instant),
    Column("deleted_at", Instant),
    Column("statuses_count", Integer, nullable=False),
    Column("followers_count", Integer, nullable=False),
    Column("following_count", Integer, nullable=False),
    Column("last_status_at", Instant),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("fetched_at", Instant),
    # A freely defined role, beside what the person's record says of them (`role`).
    Column("role_id", BigInteger, index=True),
    Column("pictures_rejected", Boolean, nullable=False, server_default=false()),
    # Where pictures of people elsewhere come from; their files are fetched when somebody looks.
    Column("avatar_remote_url", Text),
    Column("header_remote_url", Text),
    Column("moved_at", Instant),  # when somebody who lives here last moved away
    UniqueConstraint("username_key", "domain"),
    Index("ix_social_accounts_domain", "domain", "id"),
    Index("ix_social_accounts_last_status_at", "last_status_at"),
    Index("ix_social_accounts_elsewhere", "id", sqlite_where=ELSEWHERE, postgresql_where=ELSEWHERE),
    Index("ix_social_accounts_orphaned", "id", sqlite_where=ORPHANED, postgresql_where=ORPHANED),
    Index("ix_social_accounts_joined", "domain", "created_at", "is_listed"),
    index_of_url("social_accounts"),
    index_of_some("social_accounts", "silenced_at"),
    index_of_some("social_accounts", "suspended_at"),
)

# Pictures of people elsewhere whose files are here: how large they are, and when somebody last looked.
fetched_pictures = Table(
    "social_fetched_pictures",
    METADATA,
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), primary_key=True),
    Column("shelf", String(10), primary_key=True),
    Column("fetched_bytes", Integer, nullable=False),
    Column("looked_at", Instant, nullable=False, index=True),
)

# What members set for themselves: how they post, and how they want to see things.
preferences = Table(
    "social_preferences",
    METADATA,
    Column(
        "account_id",
        ID,
        ForeignKey("social_accounts.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("privacy", String(10)),
    Column("sensitive", Boolean, nullable=False),
    Column("language", String(35)),
    Column("quote_policy", String(10), nullable=False),
    Column("expand_media", String(10), nullable=False),
    Column("expand_spoilers", Boolean, nullable=False),
    Column("autoplay_gifs", Boolean, nullable=False),
    Column("aggregate_reblogs", Boolean, nullable=False),
    Column("chosen_languages", Document),
)


class Account(msgspec.Struct):
    id: AccountId
    version: int
    user_id: UserId | None
    username: str
    username_key: str
    domain: str
    uri: str
    url: str | None
    actor_type: str
    display_name: str
    note: str
    note_html: str
    role: str
    fields: list[dict[str, Any]]
    avatar: str
    avatar_static: str
    avatar_description: str
    header: str
    header_static: str
    header_description: str
    locked: bool
    discoverable: bool | None
    indexable: bool
    hide_collections: bool | None
    noindex: bool
    show_media: bool
    show_media_replies: bool
    show_featured: bool
    attribution_domains: list[str]
    also_known_as: list[str]
    moved_to: AccountId | None
    is_listed: bool
    memorial: bool
    silenced_at: datetime | None
    sensitized_at: datetime | None
    suspended_at: datetime | None
    deleted_at: datetime | None
    statuses_count: int
    followers_count: int
    following_count: int
    last_status_at: datetime | None
    created_at: datetime
    updated_at: datetime
    fetched_at: datetime | None
    role_id: int | None = None
    pictures_rejected: bool = False
    avatar_remote_url: str | None = None
    header_remote_url: str | None = None
    moved_at: datetime | None = None

    @property
    def is_local(self) -> bool:
        return not self.domain

    @property
    def acct(self) -> str:
        return f"{self.username}@{self.domain}" if self.domain else self.username

    @property
    def is_gone(self) -> bool:
        return self.suspended_at is not None or self.deleted_at is not None

    @property
    def may_act(self) -> bool:
        """Whoever has moved away, died or been shut out does nothing any more."""
        return not (self.is_gone or self.memorial or self.moved_to is not None)


class AccountCounts(msgspec.Struct, frozen=True):
    """What changes most often of an account."""

    id: AccountId
    version: int
    statuses_count: int
    followers_count: int
    following_count: int
    last_status_at: datetime | None


class Preferences(msgspec.Struct):
    account_id: AccountId
    privacy: str | None = None
    sensitive: bool = False
    language: str | None = None
    quote_policy: str = "public"
    expand_media: str = "default"
    expand_spoilers: bool = False
    autoplay_gifs: bool = False
    aggregate_reblogs: bool = True
    chosen_languages: list[str] | None = None
