"""Push subscriptions of browsers, which end with their session."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0056"
down_revision = "0055"


def upgrade() -> None:
    with op.batch_alter_table("social_push_subscriptions", schema=None) as batch_op:
        batch_op.add_column(sa.Column("session_hash", sa.String(length=64), nullable=True))
        batch_op.create_unique_constraint("uq_social_push_subscriptions_session_hash", ["session_hash"])
        batch_op.create_foreign_key(
            "fk_social_push_subscriptions_session_hash",
            "identity_sessions",
            ["session_hash"],
            ["key_hash"],
            ondelete="CASCADE",
        )
