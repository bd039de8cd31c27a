"""When people were last seen, and lists of people by it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0053"
down_revision = "0051"


def upgrade() -> None:
    with op.batch_alter_table("identity_users", schema=None) as batch_op:
        batch_op.add_column(sa.Column("last_seen_at", db.Instant(), nullable=True))
    op.execute(
        "UPDATE identity_users SET last_seen_at = coalesce("
        "(SELECT max(last_used_at) FROM identity_sessions WHERE user_id = identity_users.id), last_login_at)"
    )
    op.create_index("ix_identity_users_last_seen_at", "identity_users", ["last_seen_at", "id"])
    for name, words in (
        ("waiting", "approved_at IS NULL"),
        ("unconfirmed", "confirmed_at IS NULL"),
        ("disabled", "NOT is_active"),
    ):
        where = sa.text(words)
        op.create_index(
            f"ix_identity_users_{name}", "identity_users", ["id"], sqlite_where=where, postgresql_where=where
        )
    for name in ("silenced_at", "suspended_at"):
        where = sa.text(f"{name} IS NOT NULL")
        op.create_index(
            f"ix_social_accounts_{name}", "social_accounts", [name], sqlite_where=where, postgresql_where=where
        )
