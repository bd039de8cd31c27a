"""Answers to a post and posts of a thread are in the order of their ids; those of one account are found among them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0115"
down_revision = "0114"


def upgrade() -> None:
    is_answer = sa.text("in_reply_to_id IS NOT NULL")
    op.drop_index("ix_social_statuses_in_reply_to_id", "social_statuses")
    for name, columns in (
        ("ix_social_statuses_in_reply_to_id", ["in_reply_to_id", "id"]),
        ("ix_social_statuses_answers_by_account", ["in_reply_to_id", "account_id", "id"]),
    ):
        op.create_index(name, "social_statuses", columns, sqlite_where=is_answer, postgresql_where=is_answer)
    op.drop_index("ix_social_statuses_conversation_id", "social_statuses")
    op.create_index("ix_social_statuses_conversation_id", "social_statuses", ["conversation_id", "id"])
