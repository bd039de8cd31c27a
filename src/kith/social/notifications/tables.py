from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, String, Table, Text, UniqueConstraint, text

from kith.base.db import ID, METADATA, Document, Instant
from kith.social.ids import AccountId, StatusId

# The condition of the index by groups, which a statement repeats word for word to use it.
IS_GROUPABLE = "type IN ('favourite', 'reblog', 'follow', 'admin.sign_up')"

notifications = Table(
    "social_notifications",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False),
    Column("from_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False),
    Column("type", String(30), nullable=False),
    Column("status_id", BigInteger, ForeignKey("social_statuses.id", ondelete="CASCADE"), index=True),
    Column("group_key", Text, nullable=False),
    Column("filtered", Boolean, nullable=False),
    Column("created_at", Instant, nullable=False),
    # The same thing is told once: by this key, which says what it is about.
    Column("once_key", Text, nullable=False, unique=True),
    # What it is about, where that is no status: a report, a warning, lost relationships, as its type says.
    Column("subject_id", BigInteger),
    Index("ix_social_notifications_account_id", "account_id", "id"),
    Index("ix_social_notifications_from_id", "from_id", "account_id"),
    Index(
        "ix_social_notifications_group_key", "account_id", "group_key", "id", "from_id",
        sqlite_where=text(IS_GROUPABLE), postgresql_where=text(IS_GROUPABLE),
    ),
)  # fmt: skip


def _of_account() -> Column[int]:
    return Column(
        "account_id", ID, ForeignKey("social_accounts.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )


def _of_sender() -> Column[int]:
    return Column("from_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False)


def _choice(name: str) -> Column[str]:
    return Column(name, String(6), nullable=False)


# What becomes of notifications from people one has little to do with: accept, filter or drop. No row: the defaults.
policies = Table(
    "social_notification_policies",
    METADATA,
    _of_account(),
    _choice("for_not_following"),
    _choice("for_not_followers"),
    _choice("for_new_accounts"),
    _choice("for_private_mentions"),
    _choice("for_limited_accounts"),
    _choice("for_bots"),
)

# Whose notifications pass whatever the policy says. `merging`: what was held back of them is still being let through.
permissions = Table(
    "social_notification_permissions",
    METADATA,
    _of_account(),
    Column(
        "from_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), primary_key=True, index=True,
        autoincrement=False,
    ),
    Column("merging", Boolean, nullable=False),
)  # fmt: skip

# Somebody whose mentions or quotes are held back, to be accepted or dismissed.
requests = Table(
    "social_notification_requests",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False),
    _of_sender(),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    UniqueConstraint("account_id", "from_id"),
    Index("ix_social_notification_requests_account_id", "account_id", "id"),
    Index("ix_social_notification_requests_from_id", "from_id"),
)

# Which types somebody wants to be written to about, where that differs from the defaults.
emails = Table(
    "social_notification_emails",
    METADATA,
    _of_account(),
    Column("types", Document, nullable=False),
    Column("always", Boolean, nullable=False),  # also while they are here
    Column("reports", Boolean, nullable=False, server_default=text("true")),  # as one of the team
)


class Notification(msgspec.Struct):
    id: int
    account_id: AccountId
    from_id: AccountId
    type: str
    status_id: StatusId | None
    group_key: str
    filtered: bool
    created_at: datetime
    once_key: str
    subject_id: int | None = None


class NotificationPolicy(msgspec.Struct, frozen=True):
    """Each is accept, filter or drop."""

    for_not_following: str = "accept"
    for_not_followers: str = "accept"
    for_new_accounts: str = "accept"
    for_private_mentions: str = "filter"
    for_limited_accounts: str = "filter"
    for_bots: str = "accept"


class NotificationRequest(msgspec.Struct):
    """`count`: how many of their mentions and quotes are held back, up to a hundred; the newest is about the status."""

    id: int
    account_id: AccountId
    from_id: AccountId
    created_at: datetime
    updated_at: datetime
    count: int
    last_status_id: StatusId | None
