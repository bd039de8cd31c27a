"""Whoever is invited follows; sign-ups while the team is away; mails about reports and announcements."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    op.create_table(
        "identity_signup_modes",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("approval_since", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identity_signup_modes")),
    )
    no = sa.text("false")
    op.add_column("identity_invitations", sa.Column("autofollow", sa.Boolean(), server_default=no, nullable=False))
    yes = sa.text("true")
    op.add_column("social_notification_emails", sa.Column("reports", sa.Boolean(), server_default=yes, nullable=False))
    op.add_column("social_announcements", sa.Column("mailed_at", db.Instant(length=27), nullable=True))
    op.add_column("identity_signups", sa.Column("autofollow", sa.Boolean(), server_default=no, nullable=False))
