"""Names that people had: nobody takes them for themselves. Whoever was deleted before is known by their account."""

from __future__ import annotations

import hashlib

import sqlalchemy as sa
from alembic import op

revision = "0101"
down_revision = "0100"


def upgrade() -> None:
    names = op.create_table(
        "identity_former_names",
        sa.Column("name_hash", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name_hash", name=op.f("pk_identity_former_names")),
    )
    deleted = (
        "SELECT username_key FROM social_accounts WHERE domain = '' AND user_id IS NULL AND deleted_at IS NOT NULL"
    )
    keys = op.get_bind().execute(sa.text(deleted)).scalars().all()
    rows = [{"name_hash": hashlib.sha256(key.encode()).hexdigest(), "user_id": 0} for key in keys]
    if rows:
        op.bulk_insert(names, rows)
