"""Notification rules."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0045"
down_revision = "0044"


def upgrade() -> None:
    op.create_table(
        "identity_notification_rules",
        sa.Column("pbm_uuid", db.UID(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("severity", sa.String(length=100), nullable=False),
        sa.Column("destination_group", db.UID(length=36), nullable=True),
        sa.Column("destination_event_user", sa.Boolean(), nullable=False),
        sa.Column("destination_administrators", sa.Boolean(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["destination_group"],
            ["identity_groups.group_uuid"],
            name=op.f("fk_identity_notification_rules_destination_group"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["pbm_uuid"],
            ["identity_policy_targets.pbm_uuid"],
            name=op.f("fk_identity_notification_rules_pbm_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("pbm_uuid", name=op.f("pk_identity_notification_rules")),
        sa.UniqueConstraint("name", name=op.f("uq_identity_notification_rules_name")),
        sqlite_autoincrement=False,
    )
    with op.batch_alter_table("identity_notification_rules", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_identity_notification_rules_destination_group"), ["destination_group"], unique=False
        )

    op.create_table(
        "identity_notification_transports",
        sa.Column("uuid", db.UID(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("mode", sa.String(length=100), nullable=False),
        sa.Column("webhook_url", sa.Text(), nullable=False),
        sa.Column("webhook_secret", sa.Text(), nullable=True),
        sa.Column("webhook_mapping_body", db.UID(length=36), nullable=True),
        sa.Column("webhook_mapping_headers", db.UID(length=36), nullable=True),
        sa.Column("email_subject_prefix", sa.String(length=100), nullable=False),
        sa.Column("direct_sender", sa.Integer(), nullable=True),
        sa.Column("send_once", sa.Boolean(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["direct_sender"],
            ["identity_users.id"],
            name=op.f("fk_identity_notification_transports_direct_sender"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["webhook_mapping_body"],
            ["identity_property_mappings.pm_uuid"],
            name=op.f("fk_identity_notification_transports_webhook_mapping_body"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["webhook_mapping_headers"],
            ["identity_property_mappings.pm_uuid"],
            name=op.f("fk_identity_notification_transports_webhook_mapping_headers"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_identity_notification_transports")),
        sa.UniqueConstraint("name", name=op.f("uq_identity_notification_transports_name")),
        sqlite_autoincrement=False,
    )
    with op.batch_alter_table("identity_notification_transports", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_identity_notification_transports_direct_sender"), ["direct_sender"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_identity_notification_transports_webhook_mapping_body"),
            ["webhook_mapping_body"],
            unique=False,
        )
        batch_op.create_index(
            batch_op.f("ix_identity_notification_transports_webhook_mapping_headers"),
            ["webhook_mapping_headers"],
            unique=False,
        )

    op.create_table(
        "identity_policies_event_matcher",
        sa.Column("policy_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("action", sa.String(length=60), nullable=True),
        sa.Column("client_ip", sa.String(length=50), nullable=True),
        sa.Column("app", sa.String(length=100), nullable=True),
        sa.Column("model", sa.String(length=100), nullable=True),
        sa.Column("query", sa.String(length=200), nullable=True),
        sa.ForeignKeyConstraint(
            ["policy_uuid"],
            ["identity_policies.policy_uuid"],
            name=op.f("fk_identity_policies_event_matcher_policy_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("policy_uuid", name=op.f("pk_identity_policies_event_matcher")),
    )
    op.create_table(
        "identity_notification_rule_transports",
        sa.Column("owner", db.UID(length=36), nullable=False),
        sa.Column("other", db.UID(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["other"],
            ["identity_notification_transports.uuid"],
            name=op.f("fk_identity_notification_rule_transports_other"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["owner"],
            ["identity_notification_rules.pbm_uuid"],
            name=op.f("fk_identity_notification_rule_transports_owner"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("owner", "other", name=op.f("pk_identity_notification_rule_transports")),
    )
    with op.batch_alter_table("identity_notification_rule_transports", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_notification_rule_transports_other"), ["other"], unique=False)

    op.create_table(
        "identity_notification_windows",
        sa.Column("rule", db.UID(length=36), nullable=False),
        sa.Column("started_at", db.Instant(length=27), nullable=False),
        sa.Column("sent", sa.Integer(), nullable=False),
        sa.Column("held", sa.Integer(), nullable=False),
        sa.Column("last_event", db.UID(length=36), nullable=True),
        sa.ForeignKeyConstraint(
            ["rule"],
            ["identity_notification_rules.pbm_uuid"],
            name=op.f("fk_identity_notification_windows_rule"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("rule", name=op.f("pk_identity_notification_windows")),
    )
    op.create_table(
        "identity_notifications",
        sa.Column("uuid", db.UID(length=36), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("severity", sa.String(length=20), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("event", db.UID(length=36), nullable=True),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("seen", sa.Boolean(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["event"], ["identity_events.event_uuid"], name=op.f("fk_identity_notifications_event"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["identity_users.id"], name=op.f("fk_identity_notifications_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_identity_notifications")),
    )
    with op.batch_alter_table("identity_notifications", schema=None) as batch_op:
        batch_op.create_index("ix_identity_notifications_created_at", ["created_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_notifications_event"), ["event"], unique=False)
        batch_op.create_index("ix_identity_notifications_user", ["user_id", "created_at"], unique=False)
