"""End-to-end encrypted messages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "social_devices",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("key_hash", sa.String(length=64), nullable=False),
        sa.Column("device_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("fingerprint_key", sa.Text(), nullable=False),
        sa.Column("identity_key", sa.Text(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_devices_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_devices")),
        sa.UniqueConstraint("account_id", "device_id", name=op.f("uq_social_devices_account_id_device_id")),
        sa.UniqueConstraint("key_hash", name=op.f("uq_social_devices_key_hash")),
    )
    with op.batch_alter_table("social_devices", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_devices_user_id"), ["user_id"], unique=False)

    op.create_table(
        "social_encrypted_messages",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("device_row", sa.BigInteger(), nullable=False),
        sa.Column("from_account_id", sa.BigInteger(), nullable=False),
        sa.Column("from_device_id", sa.Text(), nullable=False),
        sa.Column("type", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("message_franking", sa.Text(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["device_row"],
            ["social_devices.id"],
            name=op.f("fk_social_encrypted_messages_device_row"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_encrypted_messages")),
    )
    with op.batch_alter_table("social_encrypted_messages", schema=None) as batch_op:
        batch_op.create_index("ix_social_encrypted_messages_device", ["device_row", "id"], unique=False)

    op.create_table(
        "social_one_time_keys",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("device_row", sa.BigInteger(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["device_row"], ["social_devices.id"], name=op.f("fk_social_one_time_keys_device_row"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_one_time_keys")),
        sa.UniqueConstraint("device_row", "key_id", name=op.f("uq_social_one_time_keys_device_row_key_id")),
    )
