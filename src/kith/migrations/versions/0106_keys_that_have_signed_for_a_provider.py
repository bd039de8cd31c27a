"""Keys that have signed for a provider stay published for as long as what they signed lives."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0106"
down_revision = "0105"


def upgrade() -> None:
    op.create_table(
        "identity_oauth_used_keys",
        sa.Column("provider_id", sa.Integer(), nullable=False),
        sa.Column("kid", sa.String(length=64), nullable=False),
        sa.Column("alg", sa.String(length=10), nullable=False),
        sa.Column("public_jwk", db.Document(), nullable=False),
        sa.Column("known_until", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["provider_id"],
            ["identity_providers.id"],
            name=op.f("fk_identity_oauth_used_keys_provider_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("provider_id", "kid", name=op.f("pk_identity_oauth_used_keys")),
    )
    op.create_index("ix_identity_oauth_used_keys_known_until", "identity_oauth_used_keys", ["known_until"])
