from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table

from kith.base.db import METADATA, Instant


def _account(name: str) -> Column[int]:
    return Column(name, BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), primary_key=True)


# How much somebody had to do with an account that they did not follow.
interactions = Table(
    "social_interactions",
    METADATA,
    _account("account_id"),
    _account("target_id"),
    Column("score", Integer, nullable=False),
    Column("updated_at", Instant, nullable=False, index=True),
    Index("ix_social_interactions_target_id", "target_id"),
)

# Accounts that somebody does not want to be suggested any more.
removed_suggestions = Table(
    "social_removed_suggestions",
    METADATA,
    _account("account_id"),
    _account("target_id"),
    Column("created_at", Instant, nullable=False),
    Index("ix_social_removed_suggestions_target_id", "target_id"),
)

# Accounts that the team suggests to everybody.
staff_picks = Table(
    "social_staff_picks",
    METADATA,
    _account("account_id"),
    Column("created_at", Instant, nullable=False),
)
