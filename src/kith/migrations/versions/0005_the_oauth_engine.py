"""The OAuth engine."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "identity_email_blocks",
        sa.Column("block_uuid", db.UID(length=36), nullable=False),
        sa.Column("kind", sa.String(length=100), nullable=False),
        sa.Column("value", sa.String(length=254), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("block_uuid", name=op.f("pk_identity_email_blocks")),
        sa.UniqueConstraint("value", name=op.f("uq_identity_email_blocks_value")),
        sqlite_autoincrement=False,
    )
    op.create_table(
        "identity_oauth_assertions",
        sa.Column("jti_hash", sa.String(length=64), nullable=False),
        sa.Column("expires_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("jti_hash", name=op.f("pk_identity_oauth_assertions")),
    )
    with op.batch_alter_table("identity_oauth_assertions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_oauth_assertions_expires_at"), ["expires_at"], unique=False)

    op.create_table(
        "identity_oauth_keys",
        sa.Column("kid", sa.String(length=64), nullable=False),
        sa.Column("alg", sa.String(length=10), nullable=False),
        sa.Column("private_key", sa.Text(), nullable=False),
        sa.Column("public_jwk", db.Document(), nullable=False),
        sa.Column("signs_from", db.Instant(length=27), nullable=False),
        sa.Column("signs_until", db.Instant(length=27), nullable=False),
        sa.Column("gone_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("kid", name=op.f("pk_identity_oauth_keys")),
    )
    with op.batch_alter_table("identity_oauth_keys", schema=None) as batch_op:
        batch_op.create_index("ix_identity_oauth_keys_alg", ["alg", "signs_from"], unique=False)

    op.create_table(
        "identity_oauth_requests",
        sa.Column("request_hash", sa.String(length=64), nullable=False),
        sa.Column("client_id", sa.String(length=255), nullable=False),
        sa.Column("parameters", db.Document(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("proof_hash", sa.String(length=64), nullable=True),
        sa.Column("expires_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["identity_users.id"], name=op.f("fk_identity_oauth_requests_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("request_hash", name=op.f("pk_identity_oauth_requests")),
    )
    with op.batch_alter_table("identity_oauth_requests", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_oauth_requests_expires_at"), ["expires_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_oauth_requests_user_id"), ["user_id"], unique=False)

    op.create_table(
        "identity_oauth_apps",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("client_id", sa.String(length=255), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=True),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("provider_id", sa.Integer(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("website", sa.Text(), nullable=True),
        sa.Column("redirect_uris", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("grant_types", sa.Text(), nullable=False),
        sa.Column("auth_method", sa.String(length=30), nullable=False),
        sa.Column("jwks", db.Document(), nullable=False),
        sa.Column("trusted", sa.Boolean(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["provider_id"],
            ["identity_providers.id"],
            name=op.f("fk_identity_oauth_apps_provider_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identity_oauth_apps")),
        sa.UniqueConstraint("client_id", name=op.f("uq_identity_oauth_apps_client_id")),
    )
    with op.batch_alter_table("identity_oauth_apps", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_oauth_apps_created_at"), ["created_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_oauth_apps_provider_id"), ["provider_id"], unique=False)

    op.create_table(
        "identity_oauth_grants",
        sa.Column("grant_uuid", db.UID(length=36), nullable=False),
        sa.Column("client_id", sa.String(length=255), nullable=False),
        sa.Column("provider_id", sa.Integer(), nullable=True),
        sa.Column("app_id", sa.BigInteger(), nullable=True),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("session_uuid", db.UID(length=36), nullable=True),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("claims", db.Document(), nullable=False),
        sa.Column("auth_method", sa.String(length=40), nullable=False),
        sa.Column("auth_time", db.Instant(length=27), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["app_id"], ["identity_oauth_apps.id"], name=op.f("fk_identity_oauth_grants_app_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["provider_id"],
            ["identity_providers.id"],
            name=op.f("fk_identity_oauth_grants_provider_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["identity_users.id"], name=op.f("fk_identity_oauth_grants_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("grant_uuid", name=op.f("pk_identity_oauth_grants")),
    )
    with op.batch_alter_table("identity_oauth_grants", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_oauth_grants_app_id"), ["app_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_oauth_grants_created_at"), ["created_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_oauth_grants_provider_id"), ["provider_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_oauth_grants_session_uuid"), ["session_uuid"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_oauth_grants_user_id"), ["user_id"], unique=False)

    op.create_table(
        "identity_oauth_codes",
        sa.Column("code_hash", sa.String(length=64), nullable=False),
        sa.Column("grant_uuid", db.UID(length=36), nullable=False),
        sa.Column("redirect_uri", sa.Text(), nullable=False),
        sa.Column("nonce", sa.Text(), nullable=False),
        sa.Column("challenge", sa.String(length=128), nullable=False),
        sa.Column("challenge_method", sa.String(length=10), nullable=False),
        sa.Column("used_at", db.Instant(length=27), nullable=True),
        sa.Column("expires_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["grant_uuid"],
            ["identity_oauth_grants.grant_uuid"],
            name=op.f("fk_identity_oauth_codes_grant_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("code_hash", name=op.f("pk_identity_oauth_codes")),
    )
    with op.batch_alter_table("identity_oauth_codes", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_oauth_codes_expires_at"), ["expires_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_oauth_codes_grant_uuid"), ["grant_uuid"], unique=False)

    op.create_table(
        "identity_oauth_devices",
        sa.Column("device_hash", sa.String(length=64), nullable=False),
        sa.Column("user_code_hash", sa.String(length=64), nullable=False),
        sa.Column("client_id", sa.String(length=255), nullable=False),
        sa.Column("provider_id", sa.Integer(), nullable=True),
        sa.Column("app_id", sa.BigInteger(), nullable=True),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("grant_uuid", db.UID(length=36), nullable=True),
        sa.Column("client_ip", sa.String(length=45), nullable=False),
        sa.Column("interval", sa.Integer(), nullable=False),
        sa.Column("polled_at", db.Instant(length=27), nullable=True),
        sa.Column("expires_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["app_id"], ["identity_oauth_apps.id"], name=op.f("fk_identity_oauth_devices_app_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["grant_uuid"],
            ["identity_oauth_grants.grant_uuid"],
            name=op.f("fk_identity_oauth_devices_grant_uuid"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["provider_id"],
            ["identity_providers.id"],
            name=op.f("fk_identity_oauth_devices_provider_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("device_hash", name=op.f("pk_identity_oauth_devices")),
        sa.UniqueConstraint("user_code_hash", name=op.f("uq_identity_oauth_devices_user_code_hash")),
    )
    with op.batch_alter_table("identity_oauth_devices", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_oauth_devices_app_id"), ["app_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_oauth_devices_expires_at"), ["expires_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_oauth_devices_grant_uuid"), ["grant_uuid"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_oauth_devices_provider_id"), ["provider_id"], unique=False)

    op.create_table(
        "identity_oauth_tokens",
        sa.Column("key_hash", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("grant_uuid", db.UID(length=36), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("expires_at", db.Instant(length=27), nullable=True),
        sa.Column("used_at", db.Instant(length=27), nullable=True),
        sa.Column("last_used_at", db.Instant(length=27), nullable=True),
        sa.ForeignKeyConstraint(
            ["grant_uuid"],
            ["identity_oauth_grants.grant_uuid"],
            name=op.f("fk_identity_oauth_tokens_grant_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("key_hash", name=op.f("pk_identity_oauth_tokens")),
    )
    with op.batch_alter_table("identity_oauth_tokens", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_oauth_tokens_expires_at"), ["expires_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_oauth_tokens_grant_uuid"), ["grant_uuid"], unique=False)

    for table in ("identity_providers_oauth", "identity_providers_openid"):
        for column in (
            sa.Column("redirect_uri_matching", sa.String(length=100), nullable=False, server_default="strict"),
            sa.Column("post_logout_redirect_uris", sa.Text(), nullable=False, server_default=""),
            sa.Column("jwks", db.Document(), nullable=False, server_default=sa.text("'{}'")),
        ):
            op.add_column(table, column)
