"""Deliveries to other servers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    op.create_table(
        "federation_hosts",
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("scheme", sa.String(length=16), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("failing_days", sa.SmallInteger(), nullable=False),
        sa.Column("is_slow", sa.Boolean(), nullable=False),
        sa.Column("failed_at", db.Instant(length=27), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("succeeded_at", db.Instant(length=27), nullable=True),
        sa.Column("paused_until", db.Instant(length=27), nullable=True),
        sa.Column("unavailable_since", db.Instant(length=27), nullable=True),
        sa.PrimaryKeyConstraint("domain", name=op.f("pk_federation_hosts")),
    )
    op.create_table(
        "federation_outgoing",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("sender", sa.BigInteger(), nullable=True),
        sa.Column("activity", sa.Text(), nullable=False),
        sa.Column("with_previous_key", sa.Boolean(), nullable=False),
        sa.Column("made_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_federation_outgoing")),
    )
    op.create_table(
        "federation_deliveries",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("outgoing_id", sa.BigInteger(), nullable=False),
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("inbox", sa.Text(), nullable=False),
        sa.Column("sender", sa.BigInteger(), nullable=False),
        sa.Column("headers", db.Document(), nullable=True),
        sa.Column("attempts", sa.SmallInteger(), nullable=False),
        sa.Column("retries", sa.SmallInteger(), nullable=False),
        sa.Column("even_if_dead", sa.Boolean(), nullable=False),
        sa.Column("next_at", db.Instant(length=27), nullable=False),
        sa.Column("held_by", db.UID(length=36), nullable=True),
        sa.Column("held_until", db.Instant(length=27), nullable=True),
        sa.ForeignKeyConstraint(
            ["outgoing_id"],
            ["federation_outgoing.id"],
            name=op.f("fk_federation_deliveries_outgoing_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_federation_deliveries")),
    )
    with op.batch_alter_table("federation_deliveries", schema=None) as batch_op:
        batch_op.create_index("ix_federation_deliveries_domain", ["domain", "next_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_federation_deliveries_outgoing_id"), ["outgoing_id"], unique=False)
        batch_op.create_index(
            "ix_federation_deliveries_tried",
            ["inbox"],
            unique=False,
            sqlite_where=sa.text("attempts > 0"),
            postgresql_where=sa.text("attempts > 0"),
        )
