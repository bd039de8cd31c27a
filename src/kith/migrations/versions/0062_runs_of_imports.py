"""Runs of imports: how far each has come, and what it left out."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0062"
down_revision = "0061"


def upgrade() -> None:
    op.create_table(
        "base_imports",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("options", db.Document(), nullable=False),
        sa.Column("started_at", db.Instant(), nullable=False),
        sa.Column("finished_at", db.Instant()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_base_imports")),
    )
    op.create_index("ix_base_imports_source", "base_imports", ["kind", "source"])
    op.create_table(
        "base_import_marks",
        sa.Column("import_id", sa.BigInteger(), nullable=False),
        sa.Column("step", sa.String(length=60), nullable=False),
        sa.Column("place", sa.BigInteger(), nullable=False),
        sa.Column("taken", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["import_id"], ["base_imports.id"], name=op.f("fk_base_import_marks_import_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("import_id", "step", name=op.f("pk_base_import_marks")),
    )
    op.create_table(
        "base_import_left_out",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("import_id", sa.BigInteger(), nullable=False),
        sa.Column("step", sa.String(length=60), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["import_id"], ["base_imports.id"], name=op.f("fk_base_import_left_out_import_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_base_import_left_out")),
    )
    op.create_index(op.f("ix_base_import_left_out_import_id"), "base_import_left_out", ["import_id"])
