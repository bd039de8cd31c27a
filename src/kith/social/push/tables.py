from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Integer, String, Table, Text

from kith.base.db import METADATA, Document, Instant
from kith.social.ids import AccountId

POLICIES = ("all", "followed", "follower", "none")

# One for each access token at most, and for each browser that is signed in. It goes with its token or session, in
# whichever way that ends, and with its account.
subscriptions = Table(
    "social_push_subscriptions",
    METADATA,
    # Apps keep it as a number of 32 bits.
    Column("id", Integer, primary_key=True),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    # The hash of the token: of an app's token, or of one that somebody made for themselves.
    Column("oauth_hash", String(64), ForeignKey("identity_oauth_tokens.key_hash", ondelete="CASCADE"), unique=True),
    Column("personal_hash", String(64), ForeignKey("identity_tokens.key_hash", ondelete="CASCADE"), unique=True),
    # Of the key of a browser's session, which itself is kept nowhere.
    Column("session_hash", String(64), ForeignKey("identity_sessions.key_hash", ondelete="CASCADE"), unique=True),
    Column("access_token", Text, nullable=False),  # sealed; every message carries it. A browser has none
    Column("endpoint", Text, nullable=False),
    Column("p256dh", String(100), nullable=False),
    Column("auth", Text, nullable=False),  # sealed
    Column("standard", Boolean, nullable=False),
    Column("alerts", Document, nullable=False),
    Column("policy", String(10), nullable=False),
    Column("created_at", Instant, nullable=False),
)


class PushSubscription(msgspec.Struct):
    """`access_token` and `auth` are sealed with the server's key (see `secrets`)."""

    id: int
    account_id: AccountId
    oauth_hash: str | None
    personal_hash: str | None
    session_hash: str | None
    access_token: str
    endpoint: str
    p256dh: str
    auth: str
    standard: bool
    alerts: dict[str, bool]
    policy: str
    created_at: datetime
