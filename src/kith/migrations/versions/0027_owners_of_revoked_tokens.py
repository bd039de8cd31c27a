"""For whom a revoked token spoke is remembered."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0025"


def upgrade() -> None:
    with op.batch_alter_table("identity_oauth_assertions", schema=None) as batch_op:
        batch_op.add_column(sa.Column("user_id", sa.Integer(), nullable=True))
