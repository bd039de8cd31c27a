"""What sources say of people."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0040"
down_revision = "0039"


def upgrade() -> None:
    op.create_table(
        "identity_source_attempts",
        sa.Column("key_hash", sa.String(length=64), nullable=False),
        sa.Column("source", db.UID(length=36), nullable=False),
        sa.Column("session_uuid", db.UID(length=36), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("expires_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_uuid"],
            ["identity_sessions.session_uuid"],
            name=op.f("fk_identity_source_attempts_session_uuid"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["source"],
            ["identity_sources.pbm_uuid"],
            name=op.f("fk_identity_source_attempts_source"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("key_hash", name=op.f("pk_identity_source_attempts")),
    )
    with op.batch_alter_table("identity_source_attempts", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_source_attempts_expires_at"), ["expires_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_source_attempts_session_uuid"), ["session_uuid"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_source_attempts_source"), ["source"], unique=False)

    op.create_table(
        "identity_source_group_connections",
        sa.Column("connection_uuid", db.UID(length=36), nullable=False),
        sa.Column("source", db.UID(length=36), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("group", db.UID(length=36), nullable=False),
        sa.Column("identifier", sa.String(length=500), nullable=False),
        sa.Column("reference", sa.String(length=500), nullable=True),
        sa.Column("seen_in", db.UID(length=36), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["group"],
            ["identity_groups.group_uuid"],
            name=op.f("fk_identity_source_group_connections_group"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["source"],
            ["identity_sources.pbm_uuid"],
            name=op.f("fk_identity_source_group_connections_source"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("connection_uuid", name=op.f("pk_identity_source_group_connections")),
        sa.UniqueConstraint(
            "source", "identifier", name=op.f("uq_identity_source_group_connections_source_identifier")
        ),
    )
    with op.batch_alter_table("identity_source_group_connections", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_source_group_connections_group"), ["group"], unique=False)
        batch_op.create_index("ix_identity_source_group_connections_reference", ["source", "reference"], unique=False)

    op.create_table(
        "identity_source_ldap_runs",
        sa.Column("run_uuid", db.UID(length=36), nullable=False),
        sa.Column("source", db.UID(length=36), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("phase", sa.String(length=20), nullable=False),
        sa.Column("counts", db.Document(), nullable=False),
        sa.Column("notes", db.Document(), nullable=False),
        sa.Column("started_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.Column("finished_at", db.Instant(length=27), nullable=True),
        sa.ForeignKeyConstraint(
            ["source"],
            ["identity_sources.pbm_uuid"],
            name=op.f("fk_identity_source_ldap_runs_source"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("run_uuid", name=op.f("pk_identity_source_ldap_runs")),
    )
    with op.batch_alter_table("identity_source_ldap_runs", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_source_ldap_runs_source"), ["source"], unique=False)

    op.create_table(
        "identity_source_remote_apps",
        sa.Column("source", db.UID(length=36), nullable=False),
        sa.Column("host", sa.String(length=300), nullable=False),
        sa.Column("client_id", sa.Text(), nullable=False),
        sa.Column("client_secret", sa.Text(), nullable=False),
        sa.Column("redirect_uri", sa.Text(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["source"],
            ["identity_sources.pbm_uuid"],
            name=op.f("fk_identity_source_remote_apps_source"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("source", "host", name=op.f("pk_identity_source_remote_apps")),
    )
    op.create_table(
        "identity_source_seen_messages",
        sa.Column("source", db.UID(length=36), nullable=False),
        sa.Column("message_hash", sa.String(length=64), nullable=False),
        sa.Column("expires_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["source"],
            ["identity_sources.pbm_uuid"],
            name=op.f("fk_identity_source_seen_messages_source"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("source", "message_hash", name=op.f("pk_identity_source_seen_messages")),
    )
    with op.batch_alter_table("identity_source_seen_messages", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_source_seen_messages_expires_at"), ["expires_at"], unique=False)

    op.create_table(
        "identity_source_sessions",
        sa.Column("session_uuid", db.UID(length=36), nullable=False),
        sa.Column("source", db.UID(length=36), nullable=False),
        sa.Column("identifier", sa.String(length=500), nullable=False),
        sa.Column("remote_session", sa.String(length=500), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_uuid"],
            ["identity_sessions.session_uuid"],
            name=op.f("fk_identity_source_sessions_session_uuid"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["source"],
            ["identity_sources.pbm_uuid"],
            name=op.f("fk_identity_source_sessions_source"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("session_uuid", name=op.f("pk_identity_source_sessions")),
    )
    with op.batch_alter_table("identity_source_sessions", schema=None) as batch_op:
        batch_op.create_index("ix_identity_source_sessions_identifier", ["source", "identifier"], unique=False)
        batch_op.create_index("ix_identity_source_sessions_remote_session", ["source", "remote_session"], unique=False)

    op.create_table(
        "identity_source_user_connections",
        sa.Column("connection_uuid", db.UID(length=36), nullable=False),
        sa.Column("source", db.UID(length=36), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("user", sa.Integer(), nullable=False),
        sa.Column("identifier", sa.String(length=500), nullable=False),
        sa.Column("access_token", sa.Text(), nullable=True),
        sa.Column("reference", sa.String(length=500), nullable=True),
        sa.Column("seen_in", db.UID(length=36), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["source"],
            ["identity_sources.pbm_uuid"],
            name=op.f("fk_identity_source_user_connections_source"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user"], ["identity_users.id"], name=op.f("fk_identity_source_user_connections_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("connection_uuid", name=op.f("pk_identity_source_user_connections")),
        sa.UniqueConstraint("source", "identifier", name=op.f("uq_identity_source_user_connections_source_identifier")),
    )
    with op.batch_alter_table("identity_source_user_connections", schema=None) as batch_op:
        batch_op.create_index("ix_identity_source_user_connections_reference", ["source", "reference"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_source_user_connections_user"), ["user"], unique=False)

    with op.batch_alter_table("identity_sources_oauth", schema=None) as batch_op:
        batch_op.add_column(sa.Column("oidc_issuer", sa.Text(), nullable=False, server_default=""))
