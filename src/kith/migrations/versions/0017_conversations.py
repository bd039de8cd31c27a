"""Conversations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_table(
        "social_conversations",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("thread_id", sa.BigInteger(), nullable=False),
        sa.Column("participants", sa.Text(), nullable=False),
        sa.Column("last_status_id", sa.BigInteger(), nullable=False),
        sa.Column("unread", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_conversations_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_conversations")),
        sa.UniqueConstraint(
            "account_id",
            "thread_id",
            "participants",
            name=op.f("uq_social_conversations_account_id_thread_id_participants"),
        ),
    )
    with op.batch_alter_table("social_conversations", schema=None) as batch_op:
        batch_op.create_index("ix_social_conversations_newest", ["account_id", "last_status_id"], unique=False)

    op.create_table(
        "social_conversation_statuses",
        sa.Column("conversation_id", sa.BigInteger(), nullable=False),
        sa.Column("status_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["social_conversations.id"],
            name=op.f("fk_social_conversation_statuses_conversation_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["status_id"],
            ["social_statuses.id"],
            name=op.f("fk_social_conversation_statuses_status_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("conversation_id", "status_id", name=op.f("pk_social_conversation_statuses")),
    )
    with op.batch_alter_table("social_conversation_statuses", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_conversation_statuses_status_id"), ["status_id"], unique=False)
