"""Posts of a thread, answers to one post and what somebody said under a tag are in the order of their ids."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0114"
down_revision = "0113"


def upgrade() -> None:
    for column in ("conversation", "parent"):
        is_there = sa.text(f"{column} IS NOT NULL")
        op.drop_index(f"ix_federation_posts_{column}", "federation_posts")
        op.create_index(
            f"ix_federation_posts_{column}",
            "federation_posts",
            [column, "status_id"],
            sqlite_where=is_there,
            postgresql_where=is_there,
        )
    op.drop_index("ix_social_status_tags_account_id", "social_status_tags")
    op.create_index("ix_social_status_tags_account_id", "social_status_tags", ["account_id", "tag_id", "status_id"])
