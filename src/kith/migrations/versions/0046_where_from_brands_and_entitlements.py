"""Brands, policies and sessions that know where people are, and entitlements of applications."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0046"
down_revision = "0045"


def upgrade() -> None:
    op.create_table(
        "identity_policies_geoip",
        sa.Column("policy_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("asns", db.Document(), nullable=False),
        sa.Column("countries", db.Document(), nullable=False),
        sa.Column("check_history_distance", sa.Boolean(), nullable=False),
        sa.Column("history_max_distance_km", sa.Integer(), nullable=False),
        sa.Column("distance_tolerance_km", sa.Integer(), nullable=False),
        sa.Column("history_login_count", sa.Integer(), nullable=False),
        sa.Column("check_impossible_travel", sa.Boolean(), nullable=False),
        sa.Column("impossible_tolerance_km", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["policy_uuid"],
            ["identity_policies.policy_uuid"],
            name=op.f("fk_identity_policies_geoip_policy_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("policy_uuid", name=op.f("pk_identity_policies_geoip")),
    )
    op.create_table(
        "identity_application_entitlements",
        sa.Column("pbm_uuid", db.UID(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("app", db.UID(length=36), nullable=False),
        sa.Column("attributes", db.Document(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["app"],
            ["identity_applications.pbm_uuid"],
            name=op.f("fk_identity_application_entitlements_app"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["pbm_uuid"],
            ["identity_policy_targets.pbm_uuid"],
            name=op.f("fk_identity_application_entitlements_pbm_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("pbm_uuid", name=op.f("pk_identity_application_entitlements")),
        sa.UniqueConstraint("app", "name", name=op.f("uq_identity_application_entitlements_app_name")),
        sqlite_autoincrement=False,
    )
    with op.batch_alter_table("identity_application_entitlements", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_application_entitlements_app"), ["app"], unique=False)

    op.create_table(
        "identity_brands",
        sa.Column("brand_uuid", db.UID(length=36), nullable=False),
        sa.Column("domain", sa.String(length=253), nullable=False),
        sa.Column("default", sa.Boolean(), nullable=False),
        sa.Column("branding_title", sa.String(length=255), nullable=False),
        sa.Column("branding_logo", sa.Text(), nullable=False),
        sa.Column("branding_favicon", sa.Text(), nullable=False),
        sa.Column("branding_custom_css", sa.Text(), nullable=False),
        sa.Column("flow_authentication", db.UID(length=36), nullable=True),
        sa.Column("flow_invalidation", db.UID(length=36), nullable=True),
        sa.Column("flow_recovery", db.UID(length=36), nullable=True),
        sa.Column("flow_unenrollment", db.UID(length=36), nullable=True),
        sa.Column("flow_user_settings", db.UID(length=36), nullable=True),
        sa.Column("flow_device_code", db.UID(length=36), nullable=True),
        sa.Column("default_application", db.UID(length=36), nullable=True),
        sa.Column("web_certificate", db.UID(length=36), nullable=True),
        sa.Column("attributes", db.Document(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["default_application"],
            ["identity_applications.pbm_uuid"],
            name=op.f("fk_identity_brands_default_application"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["flow_authentication"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_brands_flow_authentication"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["flow_device_code"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_brands_flow_device_code"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["flow_invalidation"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_brands_flow_invalidation"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["flow_recovery"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_brands_flow_recovery"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["flow_unenrollment"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_brands_flow_unenrollment"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["flow_user_settings"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_brands_flow_user_settings"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["web_certificate"],
            ["identity_keypairs.kp_uuid"],
            name=op.f("fk_identity_brands_web_certificate"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("brand_uuid", name=op.f("pk_identity_brands")),
        sa.UniqueConstraint("domain", name=op.f("uq_identity_brands_domain")),
        sqlite_autoincrement=False,
    )
    with op.batch_alter_table("identity_brands", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_identity_brands_default_application"), ["default_application"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_identity_brands_flow_authentication"), ["flow_authentication"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_identity_brands_flow_device_code"), ["flow_device_code"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_brands_flow_invalidation"), ["flow_invalidation"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_brands_flow_recovery"), ["flow_recovery"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_brands_flow_unenrollment"), ["flow_unenrollment"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_brands_flow_user_settings"), ["flow_user_settings"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_brands_web_certificate"), ["web_certificate"], unique=False)

    with op.batch_alter_table("identity_events", schema=None) as batch_op:
        batch_op.create_index(
            "ix_identity_events_logins",
            ["user_id", "created_at"],
            unique=False,
            sqlite_where=sa.text("action = 'login'"),
            postgresql_where=sa.text("action = 'login'"),
        )

    with op.batch_alter_table("identity_sessions", schema=None) as batch_op:
        batch_op.add_column(sa.Column("network_binding", sa.String(length=40), nullable=True))
        batch_op.add_column(sa.Column("geoip_binding", sa.String(length=40), nullable=True))

    with op.batch_alter_table("identity_stages_user_login", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("network_binding", sa.String(length=100), nullable=False, server_default="no_binding")
        )
        batch_op.add_column(
            sa.Column("geoip_binding", sa.String(length=100), nullable=False, server_default="no_binding")
        )
