"""SAML sign-on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0041"
down_revision = "0040"


def upgrade() -> None:
    op.create_table(
        "identity_saml_sessions",
        sa.Column("saml_session_uuid", db.UID(length=36), nullable=False),
        sa.Column("provider_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("session_uuid", db.UID(length=36), nullable=False),
        sa.Column("session_index", sa.String(length=64), nullable=False),
        sa.Column("name_id", sa.Text(), nullable=False),
        sa.Column("name_id_format", sa.String(length=100), nullable=False),
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("client_ip", sa.String(length=45), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("expires_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("saml_session_uuid", name=op.f("pk_identity_saml_sessions")),
        sa.UniqueConstraint(
            "session_index", "provider_id", name=op.f("uq_identity_saml_sessions_session_index_provider_id")
        ),
    )
    with op.batch_alter_table("identity_saml_sessions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_saml_sessions_expires_at"), ["expires_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_saml_sessions_provider_id"), ["provider_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_saml_sessions_session_uuid"), ["session_uuid"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_saml_sessions_user_id"), ["user_id"], unique=False)

    op.create_table(
        "identity_saml_requests",
        sa.Column("request_hash", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("provider_id", sa.Integer(), nullable=True),
        sa.Column("content", db.Document(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("proof_hash", sa.String(length=64), nullable=True),
        sa.Column("expires_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["provider_id"],
            ["identity_providers.id"],
            name=op.f("fk_identity_saml_requests_provider_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["identity_users.id"], name=op.f("fk_identity_saml_requests_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("request_hash", name=op.f("pk_identity_saml_requests")),
    )
    with op.batch_alter_table("identity_saml_requests", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_saml_requests_expires_at"), ["expires_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_saml_requests_provider_id"), ["provider_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_saml_requests_user_id"), ["user_id"], unique=False)

    with op.batch_alter_table("identity_providers_saml", schema=None) as batch_op:
        batch_op.add_column(sa.Column("name_id_per_service", sa.Boolean(), nullable=False, server_default=sa.false()))

    op.create_table(
        "identity_saml_transient_names",
        sa.Column("source", db.UID(length=36), nullable=False),
        sa.Column("identifier", sa.String(length=500), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("expires_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["source"],
            ["identity_sources.pbm_uuid"],
            name=op.f("fk_identity_saml_transient_names_source"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("source", "identifier", name=op.f("pk_identity_saml_transient_names")),
    )
    with op.batch_alter_table("identity_saml_transient_names", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_saml_transient_names_expires_at"), ["expires_at"], unique=False)

    with op.batch_alter_table("identity_sources_saml", schema=None) as batch_op:
        batch_op.add_column(sa.Column("idp_issuer", sa.Text(), nullable=False, server_default=""))
