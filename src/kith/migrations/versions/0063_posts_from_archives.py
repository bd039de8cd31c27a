"""Posts that came from an archive: where each was before, so that none comes twice."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0063"
down_revision = "0062"


def upgrade() -> None:
    op.create_table(
        "social_imported_statuses",
        sa.Column("status_id", db.ID, autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("original_uri", sa.Text(), nullable=False),
        sa.Column("imported_at", db.Instant(), nullable=False),
        sa.ForeignKeyConstraint(
            ["status_id"],
            ["social_statuses.id"],
            name=op.f("fk_social_imported_statuses_status_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("status_id", name=op.f("pk_social_imported_statuses")),
        sa.UniqueConstraint(
            "account_id", "original_uri", name=op.f("uq_social_imported_statuses_account_id_original_uri")
        ),
    )
