"""A grant that was given for an app password ends with it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("identity_oauth_grants", sa.Column("token_uuid", db.UID(length=36), nullable=True))
    op.create_index("ix_identity_oauth_grants_token_uuid", "identity_oauth_grants", ["token_uuid"])
