"""Roles reports and blocks."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0018"
down_revision = "0017"

# id, name, position, permissions as the bits stood then, whether it is shown, what it is to the identity half
SHIPPED = (
    (-99, "", -1, 65536, False, "user"),
    (1, "Moderator", 10, 1049884, True, "moderator"),
    (2, "Admin", 100, 2031612, True, "administrator"),
    (3, "Owner", 1000, 1, True, "owner"),
)


def upgrade() -> None:
    op.create_table(
        "social_canonical_email_blocks",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_canonical_email_blocks")),
        sa.UniqueConstraint("hash", name=op.f("uq_social_canonical_email_blocks_hash")),
    )
    op.create_table(
        "social_email_domain_blocks",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("allow_with_approval", sa.Boolean(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_email_domain_blocks")),
        sa.UniqueConstraint("domain", name=op.f("uq_social_email_domain_blocks_domain")),
    )
    op.create_table(
        "social_email_domain_tries",
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("client_ip", sa.String(length=45), nullable=False),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("domain", "day", "client_ip", name=op.f("pk_social_email_domain_tries")),
    )
    op.create_table(
        "social_ip_blocks",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("network", sa.String(length=50), nullable=False),
        sa.Column("severity", sa.String(length=30), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("expires_at", db.Instant(length=27), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_ip_blocks")),
        sa.UniqueConstraint("network", name=op.f("uq_social_ip_blocks_network")),
    )
    op.create_table(
        "social_roles",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("color", sa.String(length=7), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("permissions", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("highlighted", sa.Boolean(), nullable=False),
        sa.Column("base", sa.String(length=20), nullable=False),
        sa.Column("is_shipped", sa.Boolean(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_roles")),
    )
    op.create_table(
        "social_server_allows",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_server_allows")),
        sa.UniqueConstraint("domain", name=op.f("uq_social_server_allows_domain")),
    )
    op.create_table(
        "social_server_blocks",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("severity", sa.String(length=10), nullable=False),
        sa.Column("reject_media", sa.Boolean(), nullable=False),
        sa.Column("reject_reports", sa.Boolean(), nullable=False),
        sa.Column("obfuscate", sa.Boolean(), nullable=False),
        sa.Column("private_comment", sa.Text(), nullable=True),
        sa.Column("public_comment", sa.Text(), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_server_blocks")),
        sa.UniqueConstraint("domain", name=op.f("uq_social_server_blocks_domain")),
    )
    op.create_table(
        "social_warning_presets",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_warning_presets")),
    )
    op.create_table(
        "social_webhooks",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("events", db.Document(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_webhooks")),
        sa.UniqueConstraint("url", name=op.f("uq_social_webhooks_url")),
    )
    op.create_table(
        "social_deletions",
        sa.Column(
            "account_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("due_at", db.Instant(length=27), nullable=False),
        sa.Column("was_active", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_deletions_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_social_deletions")),
    )
    with op.batch_alter_table("social_deletions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_deletions_due_at"), ["due_at"], unique=False)

    op.create_table(
        "social_reports",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("target_id", sa.BigInteger(), nullable=False),
        sa.Column("category", sa.String(length=10), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("status_ids", db.Document(), nullable=False),
        sa.Column("rule_ids", db.Document(), nullable=False),
        sa.Column("collection_ids", db.Document(), nullable=False),
        sa.Column("forwarded", sa.Boolean(), nullable=False),
        sa.Column("forward_to_domains", db.Document(), nullable=False),
        sa.Column("thread_id", sa.BigInteger(), nullable=False),
        sa.Column("assigned_id", sa.BigInteger(), nullable=True),
        sa.Column("action_taken_at", db.Instant(length=27), nullable=True),
        sa.Column("action_taken_by_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_reports_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["action_taken_by_id"],
            ["social_accounts.id"],
            name=op.f("fk_social_reports_action_taken_by_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["assigned_id"], ["social_accounts.id"], name=op.f("fk_social_reports_assigned_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["target_id"], ["social_accounts.id"], name=op.f("fk_social_reports_target_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_reports")),
    )
    with op.batch_alter_table("social_reports", schema=None) as batch_op:
        batch_op.create_index("ix_social_reports_account_id", ["account_id", "id"], unique=False)
        batch_op.create_index("ix_social_reports_action_taken_by_id", ["action_taken_by_id"], unique=False)
        batch_op.create_index("ix_social_reports_assigned_id", ["assigned_id"], unique=False)
        batch_op.create_index("ix_social_reports_target_id", ["target_id", "id"], unique=False)

    op.create_table(
        "social_severances",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.String(length=20), nullable=False),
        sa.Column("target_name", sa.Text(), nullable=False),
        sa.Column("followers_count", sa.Integer(), nullable=False),
        sa.Column("following_count", sa.Integer(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_severances_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_severances")),
    )
    with op.batch_alter_table("social_severances", schema=None) as batch_op:
        batch_op.create_index("ix_social_severances_account_id", ["account_id"], unique=False)

    op.create_table(
        "social_report_notes",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("report_id", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_report_notes_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["report_id"], ["social_reports.id"], name=op.f("fk_social_report_notes_report_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_report_notes")),
    )
    with op.batch_alter_table("social_report_notes", schema=None) as batch_op:
        batch_op.create_index("ix_social_report_notes_account_id", ["account_id"], unique=False)
        batch_op.create_index("ix_social_report_notes_report_id", ["report_id", "id"], unique=False)

    op.create_table(
        "social_strikes",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("target_id", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=True),
        sa.Column("action", sa.String(length=30), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("status_ids", db.Document(), nullable=False),
        sa.Column("report_id", sa.BigInteger(), nullable=True),
        sa.Column("overruled_at", db.Instant(length=27), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_strikes_account_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["report_id"], ["social_reports.id"], name=op.f("fk_social_strikes_report_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["target_id"], ["social_accounts.id"], name=op.f("fk_social_strikes_target_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_strikes")),
    )
    with op.batch_alter_table("social_strikes", schema=None) as batch_op:
        batch_op.create_index("ix_social_strikes_account_id", ["account_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_social_strikes_report_id"), ["report_id"], unique=False)
        batch_op.create_index("ix_social_strikes_target_id", ["target_id", "id"], unique=False)

    op.create_table(
        "social_appeals",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("strike_id", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("decided_by_id", sa.BigInteger(), nullable=True),
        sa.Column("decided_at", db.Instant(length=27), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_appeals_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["decided_by_id"], ["social_accounts.id"], name=op.f("fk_social_appeals_decided_by_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["strike_id"], ["social_strikes.id"], name=op.f("fk_social_appeals_strike_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_appeals")),
        sa.UniqueConstraint("strike_id", name=op.f("uq_social_appeals_strike_id")),
    )
    with op.batch_alter_table("social_appeals", schema=None) as batch_op:
        batch_op.create_index("ix_social_appeals_account_id", ["account_id"], unique=False)
        batch_op.create_index("ix_social_appeals_decided_by_id", ["decided_by_id"], unique=False)
        batch_op.create_index("ix_social_appeals_state", ["state", "id"], unique=False)

    with op.batch_alter_table("social_accounts", schema=None) as batch_op:
        batch_op.add_column(sa.Column("role_id", sa.BigInteger(), nullable=True))
        batch_op.create_index(batch_op.f("ix_social_accounts_role_id"), ["role_id"], unique=False)

    with op.batch_alter_table("social_notifications", schema=None) as batch_op:
        batch_op.add_column(sa.Column("subject_id", sa.BigInteger(), nullable=True))

    _ship_roles()


def _ship_roles() -> None:
    names = ("id", "name", "position", "permissions", "highlighted", "base")
    now = datetime.now(UTC)
    at = now if op.get_bind().dialect.name == "postgresql" else now.isoformat(timespec="microseconds")[:-6] + "Z"
    more = {"color": "", "is_shipped": True, "created_at": at, "updated_at": at}
    table = sa.table(
        "social_roles", *(sa.column(name) for name in (*names, "color", "is_shipped", "created_at", "updated_at"))
    )
    op.bulk_insert(table, [dict(zip(names, one, strict=True)) | more for one in SHIPPED])
