"""Who invited somebody is remembered, and for whom a revoked token spoke."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0021"


def upgrade() -> None:
    with op.batch_alter_table("identity_oauth_assertions", schema=None) as batch_op:
        batch_op.add_column(sa.Column("user_id", sa.Integer(), nullable=True))

    with op.batch_alter_table("identity_signups", schema=None) as batch_op:
        batch_op.add_column(sa.Column("invited_by", sa.Integer(), nullable=True))
        batch_op.create_index(batch_op.f("ix_identity_signups_invited_by"), ["invited_by"], unique=False)
        batch_op.create_foreign_key(
            batch_op.f("fk_identity_signups_invited_by"), "identity_users", ["invited_by"], ["id"], ondelete="SET NULL"
        )
