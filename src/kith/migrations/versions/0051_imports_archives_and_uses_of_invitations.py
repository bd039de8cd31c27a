"""Imports, archives, and uses of invitations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0051"
down_revision = "0047"


def upgrade() -> None:
    op.create_table(
        "social_imports",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("overwrite", sa.Boolean(), nullable=False),
        sa.Column("filename", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("finished_at", db.Instant(length=27), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_imports_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_imports")),
    )
    with op.batch_alter_table("social_imports", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_imports_account_id"), ["account_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_social_imports_created_at"), ["created_at"], unique=False)

    op.create_table(
        "social_import_rows",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("import_id", sa.BigInteger(), nullable=False),
        sa.Column("data", db.Document(), nullable=False),
        sa.Column("has_failed", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["import_id"], ["social_imports.id"], name=op.f("fk_social_import_rows_import_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_import_rows")),
    )
    with op.batch_alter_table("social_import_rows", schema=None) as batch_op:
        batch_op.create_index("ix_social_import_rows_import_id", ["import_id", "id"], unique=False)
        batch_op.create_index(
            "ix_social_import_rows_waiting",
            ["import_id", "id"],
            unique=False,
            sqlite_where=sa.text("NOT has_failed"),
            postgresql_where=sa.text("NOT has_failed"),
        )
    with op.batch_alter_table("identity_invitations", schema=None) as batch_op:
        batch_op.add_column(sa.Column("uses", sa.Integer(), server_default=sa.text("0"), nullable=False))
        batch_op.add_column(sa.Column("max_uses", sa.Integer(), nullable=True))
    op.create_table(
        "social_archives",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("expires_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_archives_account_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_archives")),
    )
    with op.batch_alter_table("social_archives", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_archives_account_id"), ["account_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_social_archives_expires_at"), ["expires_at"], unique=False)
