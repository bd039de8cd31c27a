"""Posts and people are found by their addresses, principal names and lost records, without looking at all of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0067"
down_revision = "0066"


def upgrade() -> None:
    # The tables do not tell of this one: neither database says of what an expression is an index.
    name = "lower(attributes ->> 'upn')"
    op.execute(f"CREATE INDEX ix_identity_users_upn ON identity_users (({name})) WHERE ({name}) IS NOT NULL")
    where = sa.text("url IS NOT NULL")
    for table in ("social_statuses", "social_accounts"):
        op.create_index(
            f"ix_{table}_url", table, ["url"], postgresql_using="hash", sqlite_where=where, postgresql_where=where
        )
    orphaned = sa.text("domain = '' AND user_id IS NULL AND deleted_at IS NULL")
    op.create_index(
        "ix_social_accounts_orphaned", "social_accounts", ["id"], sqlite_where=orphaned, postgresql_where=orphaned
    )
