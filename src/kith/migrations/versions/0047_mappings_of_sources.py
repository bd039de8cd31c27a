"""Mappings of sources."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0047"
down_revision = "0046"


def upgrade() -> None:
    op.create_table(
        "identity_source_group_mappings",
        sa.Column("owner", db.UID(length=36), nullable=False),
        sa.Column("other", db.UID(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["other"],
            ["identity_property_mappings.pm_uuid"],
            name=op.f("fk_identity_source_group_mappings_other"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["owner"],
            ["identity_sources.pbm_uuid"],
            name=op.f("fk_identity_source_group_mappings_owner"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("owner", "other", name=op.f("pk_identity_source_group_mappings")),
    )
    with op.batch_alter_table("identity_source_group_mappings", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_source_group_mappings_other"), ["other"], unique=False)

    op.create_table(
        "identity_source_user_mappings",
        sa.Column("owner", db.UID(length=36), nullable=False),
        sa.Column("other", db.UID(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["other"],
            ["identity_property_mappings.pm_uuid"],
            name=op.f("fk_identity_source_user_mappings_other"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["owner"],
            ["identity_sources.pbm_uuid"],
            name=op.f("fk_identity_source_user_mappings_owner"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("owner", "other", name=op.f("pk_identity_source_user_mappings")),
    )
    with op.batch_alter_table("identity_source_user_mappings", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_source_user_mappings_other"), ["other"], unique=False)
