"""Members, and who joined on which day, are counted without looking at everybody's record."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0058"
down_revision = "0057"

MEMBERS = "is_active AND type = 'internal' AND confirmed_at IS NOT NULL AND approved_at IS NOT NULL"


def upgrade() -> None:
    op.create_index("ix_social_accounts_joined", "social_accounts", ["domain", "created_at", "is_listed"])
    where = sa.text(MEMBERS)
    op.create_index(
        "ix_identity_users_members", "identity_users", ["id", "expires"], sqlite_where=where, postgresql_where=where
    )
