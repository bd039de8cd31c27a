"""LDAP and RADIUS providers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0042"
down_revision = "0041"


def upgrade() -> None:
    op.create_table(
        "identity_providers_ldap",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("base_dn", sa.String(length=255), nullable=False),
        sa.Column("certificate", db.UID(length=36), nullable=True),
        sa.Column("tls_server_name", sa.String(length=253), nullable=False),
        sa.Column("uid_start_number", sa.Integer(), nullable=False),
        sa.Column("gid_start_number", sa.Integer(), nullable=False),
        sa.Column("mfa_support", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["certificate"],
            ["identity_keypairs.kp_uuid"],
            name=op.f("fk_identity_providers_ldap_certificate"),
            ondelete="RESTRICT",
        ),
        sa.ForeignKeyConstraint(
            ["id"], ["identity_providers.id"], name=op.f("fk_identity_providers_ldap_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identity_providers_ldap")),
        sa.UniqueConstraint("base_dn", name=op.f("uq_identity_providers_ldap_base_dn")),
    )
    with op.batch_alter_table("identity_providers_ldap", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_providers_ldap_certificate"), ["certificate"], unique=False)

    op.create_table(
        "identity_providers_radius",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("shared_secret", sa.Text(), nullable=True),
        sa.Column("client_networks", sa.Text(), nullable=False),
        sa.Column("certificate", db.UID(length=36), nullable=True),
        sa.Column("mfa_support", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["certificate"],
            ["identity_keypairs.kp_uuid"],
            name=op.f("fk_identity_providers_radius_certificate"),
            ondelete="RESTRICT",
        ),
        sa.ForeignKeyConstraint(
            ["id"], ["identity_providers.id"], name=op.f("fk_identity_providers_radius_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identity_providers_radius")),
    )
    with op.batch_alter_table("identity_providers_radius", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_providers_radius_certificate"), ["certificate"], unique=False)
