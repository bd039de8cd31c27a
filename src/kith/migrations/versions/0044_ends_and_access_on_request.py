"""Ends and access on request."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0044"
down_revision = "0043"


def upgrade() -> None:
    op.create_table(
        "identity_access_offers",
        sa.Column("offer_uuid", db.UID(length=36), nullable=False),
        sa.Column("application", db.UID(length=36), nullable=True),
        sa.Column("group", db.UID(length=36), nullable=True),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("requestable", sa.Boolean(), nullable=False),
        sa.Column("longest", sa.Text(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["application"],
            ["identity_applications.pbm_uuid"],
            name=op.f("fk_identity_access_offers_application"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["group"], ["identity_groups.group_uuid"], name=op.f("fk_identity_access_offers_group"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("offer_uuid", name=op.f("pk_identity_access_offers")),
        sa.UniqueConstraint("application", name=op.f("uq_identity_access_offers_application")),
        sa.UniqueConstraint("group", name=op.f("uq_identity_access_offers_group")),
        sqlite_autoincrement=False,
    )
    op.create_table(
        "identity_access_approver_groups",
        sa.Column("owner", db.UID(length=36), nullable=False),
        sa.Column("other", db.UID(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["other"],
            ["identity_groups.group_uuid"],
            name=op.f("fk_identity_access_approver_groups_other"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["owner"],
            ["identity_access_offers.offer_uuid"],
            name=op.f("fk_identity_access_approver_groups_owner"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("owner", "other", name=op.f("pk_identity_access_approver_groups")),
    )
    with op.batch_alter_table("identity_access_approver_groups", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_access_approver_groups_other"), ["other"], unique=False)

    op.create_table(
        "identity_access_approvers",
        sa.Column("owner", db.UID(length=36), nullable=False),
        sa.Column("other", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["other"], ["identity_users.id"], name=op.f("fk_identity_access_approvers_other"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["owner"],
            ["identity_access_offers.offer_uuid"],
            name=op.f("fk_identity_access_approvers_owner"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("owner", "other", name=op.f("pk_identity_access_approvers")),
    )
    with op.batch_alter_table("identity_access_approvers", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_access_approvers_other"), ["other"], unique=False)

    op.create_table(
        "identity_access_requests",
        sa.Column("request_uuid", db.UID(length=36), nullable=False),
        sa.Column("offer", db.UID(length=36), nullable=False),
        sa.Column("user", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("duration", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=100), nullable=False),
        sa.Column("closes", db.Instant(length=27), nullable=False),
        sa.Column("decided_by", sa.Integer(), nullable=True),
        sa.Column("decided", db.Instant(length=27), nullable=True),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("expires", db.Instant(length=27), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["decided_by"],
            ["identity_users.id"],
            name=op.f("fk_identity_access_requests_decided_by"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["offer"],
            ["identity_access_offers.offer_uuid"],
            name=op.f("fk_identity_access_requests_offer"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user"], ["identity_users.id"], name=op.f("fk_identity_access_requests_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("request_uuid", name=op.f("pk_identity_access_requests")),
        sqlite_autoincrement=False,
    )
    with op.batch_alter_table("identity_access_requests", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_access_requests_decided_by"), ["decided_by"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_access_requests_offer"), ["offer"], unique=False)
        batch_op.create_index("ix_identity_access_requests_state", ["state", "closes"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_access_requests_user"), ["user"], unique=False)

    with op.batch_alter_table("identity_group_members", schema=None) as batch_op:
        batch_op.add_column(sa.Column("expires", db.Instant(length=27), nullable=True))
        batch_op.create_index(
            "ix_identity_group_members_expires",
            ["expires"],
            unique=False,
            sqlite_where=sa.text("expires IS NOT NULL"),
            postgresql_where=sa.text("expires IS NOT NULL"),
        )

    with op.batch_alter_table("identity_policy_bindings", schema=None) as batch_op:
        batch_op.add_column(sa.Column("ended_at", db.Instant(length=27), nullable=True))
        batch_op.add_column(sa.Column("expires", db.Instant(length=27), nullable=True))
        batch_op.create_index(
            "ix_identity_policy_bindings_expires",
            ["expires"],
            unique=False,
            sqlite_where=sa.text("expires IS NOT NULL"),
            postgresql_where=sa.text("expires IS NOT NULL"),
        )

    with op.batch_alter_table("identity_users", schema=None) as batch_op:
        batch_op.add_column(sa.Column("expires", db.Instant(length=27), nullable=True))
        batch_op.create_index(
            "ix_identity_users_expires",
            ["expires"],
            unique=False,
            sqlite_where=sa.text("expires IS NOT NULL"),
            postgresql_where=sa.text("expires IS NOT NULL"),
        )
