"""The identity API names clients that registered themselves, and a lockdown suspends them."""

from __future__ import annotations

import uuid

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0111"
down_revision = "0110"


def upgrade() -> None:
    op.add_column("identity_oauth_apps", sa.Column("registration_uuid", db.UID()))
    op.add_column("identity_oauth_apps", sa.Column("registration_at", db.Instant(length=27)))
    op.add_column("identity_oauth_apps", sa.Column("suspended_at", db.Instant(length=27)))
    op.create_index(
        "ix_identity_oauth_apps_registration_uuid", "identity_oauth_apps", ["registration_uuid"], unique=True
    )
    apps = sa.table(
        "identity_oauth_apps",
        sa.column("id", sa.BigInteger()),
        sa.column("kind", sa.Text()),
        sa.column("registration_uuid", db.UID()),
    )
    bind = op.get_bind()
    for (id,) in bind.execute(sa.select(apps.c.id).where(apps.c.kind == "dynamic")).all():
        bind.execute(sa.update(apps).where(apps.c.id == id).values(registration_uuid=str(uuid.uuid4())))
