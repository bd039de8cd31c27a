"""SCIM both ways."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0043"
down_revision = "0042"


def upgrade() -> None:
    op.create_table(
        "identity_providers_scim",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("token", sa.Text(), nullable=True),
        sa.Column("exclude_users_service_account", sa.Boolean(), nullable=False),
        sa.Column("filter_group", db.UID(length=36), nullable=True),
        sa.Column("deprovision", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["filter_group"],
            ["identity_groups.group_uuid"],
            name=op.f("fk_identity_providers_scim_filter_group"),
            ondelete="RESTRICT",
        ),
        sa.ForeignKeyConstraint(
            ["id"], ["identity_providers.id"], name=op.f("fk_identity_providers_scim_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identity_providers_scim")),
    )
    with op.batch_alter_table("identity_providers_scim", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_providers_scim_filter_group"), ["filter_group"], unique=False)

    op.create_table(
        "identity_providers_scim_group_mappings",
        sa.Column("owner", sa.Integer(), nullable=False),
        sa.Column("other", db.UID(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["other"],
            ["identity_property_mappings.pm_uuid"],
            name=op.f("fk_identity_providers_scim_group_mappings_other"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["owner"],
            ["identity_providers.id"],
            name=op.f("fk_identity_providers_scim_group_mappings_owner"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("owner", "other", name=op.f("pk_identity_providers_scim_group_mappings")),
    )
    with op.batch_alter_table("identity_providers_scim_group_mappings", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_providers_scim_group_mappings_other"), ["other"], unique=False)

    op.create_table(
        "identity_scim_remote_members",
        sa.Column("provider", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("group_uuid", db.UID(length=36), nullable=False),
        sa.Column("user_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(
            ["provider"],
            ["identity_providers.id"],
            name=op.f("fk_identity_scim_remote_members_provider"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("provider", "group_uuid", "user_id", name=op.f("pk_identity_scim_remote_members")),
    )
    with op.batch_alter_table("identity_scim_remote_members", schema=None) as batch_op:
        batch_op.create_index("ix_identity_scim_remote_members_user", ["provider", "user_id"], unique=False)

    op.create_table(
        "identity_scim_remotes",
        sa.Column("provider", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("local_id", sa.String(length=40), nullable=False),
        sa.Column("remote_id", sa.String(length=500), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("pushed_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["provider"], ["identity_providers.id"], name=op.f("fk_identity_scim_remotes_provider"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("provider", "kind", "local_id", name=op.f("pk_identity_scim_remotes")),
    )
    op.create_table(
        "identity_scim_targets",
        sa.Column("provider", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("held_by", db.UID(length=36), nullable=True),
        sa.Column("held_until", db.Instant(length=27), nullable=True),
        sa.Column("paused_until", db.Instant(length=27), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("config", db.Document(), nullable=False),
        sa.Column("config_at", db.Instant(length=27), nullable=True),
        sa.Column("sweep", sa.String(length=60), nullable=True),
        sa.Column("sweep_again", sa.Boolean(), nullable=False),
        sa.Column("started_at", db.Instant(length=27), nullable=True),
        sa.Column("finished_at", db.Instant(length=27), nullable=True),
        sa.ForeignKeyConstraint(
            ["provider"], ["identity_providers.id"], name=op.f("fk_identity_scim_targets_provider"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("provider", name=op.f("pk_identity_scim_targets")),
    )
    op.create_table(
        "identity_scim_waiting",
        sa.Column("provider", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("local_id", sa.String(length=40), nullable=False),
        sa.Column("mark", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("run_at", db.Instant(length=27), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["provider"], ["identity_providers.id"], name=op.f("fk_identity_scim_waiting_provider"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("provider", "kind", "local_id", name=op.f("pk_identity_scim_waiting")),
    )
    with op.batch_alter_table("identity_scim_waiting", schema=None) as batch_op:
        batch_op.create_index("ix_identity_scim_waiting_run_at", ["provider", "run_at"], unique=False)

    op.create_table(
        "identity_sources_scim",
        sa.Column("pbm_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("group_matching_mode", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["pbm_uuid"],
            ["identity_sources.pbm_uuid"],
            name=op.f("fk_identity_sources_scim_pbm_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("pbm_uuid", name=op.f("pk_identity_sources_scim")),
    )
    op.create_table(
        "identity_application_backchannel_providers",
        sa.Column("owner", db.UID(length=36), nullable=False),
        sa.Column("other", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["other"],
            ["identity_providers.id"],
            name=op.f("fk_identity_application_backchannel_providers_other"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["owner"],
            ["identity_applications.pbm_uuid"],
            name=op.f("fk_identity_application_backchannel_providers_owner"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("owner", "other", name=op.f("pk_identity_application_backchannel_providers")),
    )
    with op.batch_alter_table("identity_application_backchannel_providers", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_identity_application_backchannel_providers_other"), ["other"], unique=False
        )

    op.create_table(
        "identity_source_scim_groups",
        sa.Column("id", db.UID(length=36), nullable=False),
        sa.Column("source", db.UID(length=36), nullable=False),
        sa.Column("external_id", sa.String(length=500), nullable=True),
        sa.Column("document", db.Document(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["id"],
            ["identity_source_group_connections.connection_uuid"],
            name=op.f("fk_identity_source_scim_groups_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["source"],
            ["identity_sources.pbm_uuid"],
            name=op.f("fk_identity_source_scim_groups_source"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identity_source_scim_groups")),
    )
    with op.batch_alter_table("identity_source_scim_groups", schema=None) as batch_op:
        batch_op.create_index("ix_identity_source_scim_groups_created_at", ["source", "created_at", "id"], unique=False)
        batch_op.create_index("uq_identity_source_scim_groups_external_id", ["source", "external_id"], unique=True)

    op.create_table(
        "identity_source_scim_users",
        sa.Column("id", db.UID(length=36), nullable=False),
        sa.Column("source", db.UID(length=36), nullable=False),
        sa.Column("external_id", sa.String(length=500), nullable=True),
        sa.Column("document", db.Document(), nullable=False),
        sa.Column("is_disabled", sa.Boolean(), nullable=False),
        sa.Column("is_made_here", sa.Boolean(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["id"],
            ["identity_source_user_connections.connection_uuid"],
            name=op.f("fk_identity_source_scim_users_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["source"],
            ["identity_sources.pbm_uuid"],
            name=op.f("fk_identity_source_scim_users_source"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identity_source_scim_users")),
    )
    with op.batch_alter_table("identity_source_scim_users", schema=None) as batch_op:
        batch_op.create_index("ix_identity_source_scim_users_created_at", ["source", "created_at", "id"], unique=False)
        batch_op.create_index("uq_identity_source_scim_users_external_id", ["source", "external_id"], unique=True)
