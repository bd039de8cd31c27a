"""Flows run."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "identity_factors",
        sa.Column("device_uuid", db.UID(length=36), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("name", sa.String(length=150), nullable=False),
        sa.Column("confirmed", sa.Boolean(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("failed_at", db.Instant(length=27), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("last_used_at", db.Instant(length=27), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["identity_users.id"], name=op.f("fk_identity_factors_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("device_uuid", name=op.f("pk_identity_factors")),
    )
    with op.batch_alter_table("identity_factors", schema=None) as batch_op:
        batch_op.create_index("ix_identity_factors_user_id", ["user_id"], unique=False)

    op.create_table(
        "identity_sessions",
        sa.Column("session_uuid", db.UID(length=36), nullable=False),
        sa.Column("key_hash", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("auth_method", sa.String(length=40), nullable=False),
        sa.Column("keeps", sa.Boolean(), nullable=False),
        sa.Column("last_ip", sa.String(length=45), nullable=False),
        sa.Column("last_user_agent", sa.String(length=300), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("last_used_at", db.Instant(length=27), nullable=False),
        sa.Column("expires_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["identity_users.id"], name=op.f("fk_identity_sessions_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_uuid", name=op.f("pk_identity_sessions")),
        sa.UniqueConstraint("key_hash", name=op.f("uq_identity_sessions_key_hash")),
    )
    with op.batch_alter_table("identity_sessions", schema=None) as batch_op:
        batch_op.create_index("ix_identity_sessions_expires_at", ["expires_at"], unique=False)
        batch_op.create_index("ix_identity_sessions_user_id", ["user_id"], unique=False)

    op.create_table(
        "identity_factor_codes",
        sa.Column("device_uuid", db.UID(length=36), nullable=False),
        sa.Column("code_hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["device_uuid"],
            ["identity_factors.device_uuid"],
            name=op.f("fk_identity_factor_codes_device_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("device_uuid", "code_hash", name=op.f("pk_identity_factor_codes")),
    )
    op.create_table(
        "identity_factors_totp",
        sa.Column("device_uuid", db.UID(length=36), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("digits", sa.Integer(), nullable=False),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["device_uuid"],
            ["identity_factors.device_uuid"],
            name=op.f("fk_identity_factors_totp_device_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("device_uuid", name=op.f("pk_identity_factors_totp")),
    )
    op.create_table(
        "identity_factors_webauthn",
        sa.Column("device_uuid", db.UID(length=36), nullable=False),
        sa.Column("credential_id", sa.String(length=1400), nullable=False),
        sa.Column("public_key", sa.Text(), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), nullable=False),
        sa.Column("transports", db.Document(), nullable=False),
        sa.Column("aaguid", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["device_uuid"],
            ["identity_factors.device_uuid"],
            name=op.f("fk_identity_factors_webauthn_device_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("device_uuid", name=op.f("pk_identity_factors_webauthn")),
        sa.UniqueConstraint("credential_id", name=op.f("uq_identity_factors_webauthn_credential_id")),
    )
    op.create_table(
        "identity_flow_runs",
        sa.Column("run_uuid", db.UID(length=36), nullable=False),
        sa.Column("session_uuid", db.UID(length=36), nullable=False),
        sa.Column("flow_uuid", db.UID(length=36), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["flow_uuid"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_flow_runs_flow_uuid"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["session_uuid"],
            ["identity_sessions.session_uuid"],
            name=op.f("fk_identity_flow_runs_session_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("run_uuid", name=op.f("pk_identity_flow_runs")),
        sa.UniqueConstraint("session_uuid", "flow_uuid", name=op.f("uq_identity_flow_runs_session_uuid_flow_uuid")),
    )
    with op.batch_alter_table("identity_flow_runs", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_flow_runs_flow_uuid"), ["flow_uuid"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_flow_runs_updated_at"), ["updated_at"], unique=False)

    op.create_table(
        "identity_flow_tokens",
        sa.Column("key_hash", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("flow_uuid", db.UID(length=36), nullable=True),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("expires_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["flow_uuid"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_flow_tokens_flow_uuid"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["identity_users.id"], name=op.f("fk_identity_flow_tokens_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("key_hash", name=op.f("pk_identity_flow_tokens")),
    )
    with op.batch_alter_table("identity_flow_tokens", schema=None) as batch_op:
        batch_op.create_index("ix_identity_flow_tokens_expires_at", ["expires_at"], unique=False)
        batch_op.create_index("ix_identity_flow_tokens_flow_uuid", ["flow_uuid"], unique=False)
        batch_op.create_index("ix_identity_flow_tokens_user_id", ["user_id"], unique=False)

    op.create_table(
        "identity_consents",
        sa.Column("consent_uuid", db.UID(length=36), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("application", db.UID(length=36), nullable=False),
        sa.Column("permissions", db.Document(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("expires_at", db.Instant(length=27), nullable=True),
        sa.ForeignKeyConstraint(
            ["application"],
            ["identity_applications.pbm_uuid"],
            name=op.f("fk_identity_consents_application"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["identity_users.id"], name=op.f("fk_identity_consents_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("consent_uuid", name=op.f("pk_identity_consents")),
        sa.UniqueConstraint("user_id", "application", name=op.f("uq_identity_consents_user_id_application")),
    )
    with op.batch_alter_table("identity_consents", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_consents_application"), ["application"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_consents_expires_at"), ["expires_at"], unique=False)

    with op.batch_alter_table("identity_policies_password", schema=None) as batch_op:
        batch_op.add_column(sa.Column("check_zxcvbn", sa.Boolean(), nullable=False, server_default=sa.false()))
        batch_op.add_column(
            sa.Column("zxcvbn_score_threshold", sa.Integer(), nullable=False, server_default=sa.text("2"))
        )
