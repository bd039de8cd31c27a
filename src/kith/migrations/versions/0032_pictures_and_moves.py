"""Pictures of people elsewhere, and who has moved."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    with op.batch_alter_table("social_accounts", schema=None) as batch_op:
        batch_op.add_column(sa.Column("avatar_remote_url", sa.Text(), nullable=True))
        batch_op.add_column(sa.Column("header_remote_url", sa.Text(), nullable=True))
        batch_op.add_column(sa.Column("moved_at", db.Instant(length=27), nullable=True))
    with op.batch_alter_table("federation_actors", schema=None) as batch_op:
        batch_op.add_column(sa.Column("suspended_at", db.Instant(length=27), nullable=True))
