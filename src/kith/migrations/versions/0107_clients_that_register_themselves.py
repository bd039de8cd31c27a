"""What clients that registered themselves have said of themselves, who may change it, and what people allowed them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0107"
down_revision = "0106"

_OWN, _OF_APP = sa.text("app_id IS NULL"), sa.text("app_id IS NOT NULL")


def upgrade() -> None:
    op.add_column("identity_oauth_apps", sa.Column("metadata", db.Document(), nullable=False, server_default="{}"))
    op.add_column("identity_oauth_apps", sa.Column("registration_hash", sa.String(length=64)))
    op.add_column("identity_oauth_apps", sa.Column("registered_by", sa.Integer()))
    op.create_index("ix_identity_oauth_apps_registered_by", "identity_oauth_apps", ["registered_by"])
    with op.batch_alter_table("identity_consents", copy_from=_before()) as consents:
        consents.add_column(sa.Column("app_id", sa.BigInteger(), nullable=True))
        consents.drop_constraint("uq_identity_consents_user_id_application", type_="unique")
        consents.create_foreign_key(
            "fk_identity_consents_app_id", "identity_oauth_apps", ["app_id"], ["id"], ondelete="CASCADE"
        )
        consents.create_index("ix_identity_consents_app_id", ["app_id"])
        consents.create_index(
            "ix_identity_consents_own",
            ["user_id", "application"],
            unique=True,
            sqlite_where=_OWN,
            postgresql_where=_OWN,
        )
        consents.create_index(
            "ix_identity_consents_of_app",
            ["user_id", "application", "app_id"],
            unique=True,
            sqlite_where=_OF_APP,
            postgresql_where=_OF_APP,
        )


def _before() -> sa.Table:
    """The table as it was. SQLite has it made anew; no row of another table refers to one of it."""
    return sa.Table(
        "identity_consents",
        sa.MetaData(),
        sa.Column("consent_uuid", db.UID(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("application", db.UID(), nullable=False),
        sa.Column("permissions", db.Document(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("expires_at", db.Instant(length=27)),
        sa.ForeignKeyConstraint(
            ["user_id"], ["identity_users.id"], name="fk_identity_consents_user_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["application"],
            ["identity_applications.pbm_uuid"],
            name="fk_identity_consents_application",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("consent_uuid", name="pk_identity_consents"),
        sa.UniqueConstraint("user_id", "application", name="uq_identity_consents_user_id_application"),
        sa.Index("ix_identity_consents_application", "application"),
        sa.Index("ix_identity_consents_expires_at", "expires_at"),
    )
