"""The social core."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "social_cards",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("url_hash", sa.String(length=64), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("data", db.Document(), nullable=False),
        sa.Column("fetched_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_cards")),
        sa.UniqueConstraint("url_hash", name=op.f("uq_social_cards_url_hash")),
    )
    op.create_table(
        "social_days",
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("name", sa.String(length=20), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("day", "name", name=op.f("pk_social_days")),
    )
    op.create_table(
        "social_emojis",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("shortcode", sa.Text(), nullable=False),
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("static_file", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=True),
        sa.Column("visible_in_picker", sa.Boolean(), nullable=False),
        sa.Column("disabled", sa.Boolean(), nullable=False),
        sa.Column("uri", sa.Text(), nullable=True),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_emojis")),
        sa.UniqueConstraint("shortcode", "domain", name=op.f("uq_social_emojis_shortcode_domain")),
    )
    op.create_table(
        "social_feeds",
        sa.Column("owner", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("status_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("original_id", sa.BigInteger(), nullable=False),
        sa.Column("author_id", sa.BigInteger(), nullable=False),
        sa.Column("by_tag", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "status_id", name=op.f("pk_social_feeds")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("social_feeds", schema=None) as batch_op:
        batch_op.create_index("ix_social_feeds_author_id", ["owner", "author_id"], unique=False)
        batch_op.create_index("ix_social_feeds_original_id", ["owner", "original_id"], unique=False)
        batch_op.create_index("ix_social_feeds_status_id", ["status_id"], unique=False)

    op.create_table(
        "social_pages",
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("effective_date", sa.String(length=10), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("changelog", sa.Text(), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("kind", "effective_date", name=op.f("pk_social_pages")),
    )
    op.create_table(
        "social_presence",
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("user_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("day", "user_id", name=op.f("pk_social_presence")),
    )
    op.create_table(
        "social_rules",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("hint", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("deleted_at", db.Instant(length=27), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_rules")),
    )
    op.create_table(
        "social_tags",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("display", sa.Text(), nullable=False),
        sa.Column("usable", sa.Boolean(), nullable=False),
        sa.Column("listable", sa.Boolean(), nullable=False),
        sa.Column("trendable", sa.Boolean(), nullable=True),
        sa.Column("last_status_at", db.Instant(length=27), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_tags")),
        sa.UniqueConstraint("name", name=op.f("uq_social_tags_name")),
    )
    op.create_table(
        "social_accounts",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("username", sa.Text(), nullable=False),
        sa.Column("username_key", sa.Text(), nullable=False),
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("uri", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("actor_type", sa.String(length=20), nullable=False),
        sa.Column("display_name", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("note_html", sa.Text(), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.Column("fields", db.Document(), nullable=False),
        sa.Column("avatar", sa.Text(), nullable=False),
        sa.Column("avatar_static", sa.Text(), nullable=False),
        sa.Column("avatar_description", sa.Text(), nullable=False),
        sa.Column("header", sa.Text(), nullable=False),
        sa.Column("header_static", sa.Text(), nullable=False),
        sa.Column("header_description", sa.Text(), nullable=False),
        sa.Column("locked", sa.Boolean(), nullable=False),
        sa.Column("discoverable", sa.Boolean(), nullable=True),
        sa.Column("indexable", sa.Boolean(), nullable=False),
        sa.Column("hide_collections", sa.Boolean(), nullable=True),
        sa.Column("noindex", sa.Boolean(), nullable=False),
        sa.Column("show_media", sa.Boolean(), nullable=False),
        sa.Column("show_media_replies", sa.Boolean(), nullable=False),
        sa.Column("show_featured", sa.Boolean(), nullable=False),
        sa.Column("attribution_domains", db.Document(), nullable=False),
        sa.Column("also_known_as", db.Document(), nullable=False),
        sa.Column("moved_to", sa.BigInteger(), nullable=True),
        sa.Column("is_listed", sa.Boolean(), nullable=False),
        sa.Column("memorial", sa.Boolean(), nullable=False),
        sa.Column("silenced_at", db.Instant(length=27), nullable=True),
        sa.Column("sensitized_at", db.Instant(length=27), nullable=True),
        sa.Column("suspended_at", db.Instant(length=27), nullable=True),
        sa.Column("deleted_at", db.Instant(length=27), nullable=True),
        sa.Column("statuses_count", sa.Integer(), nullable=False),
        sa.Column("followers_count", sa.Integer(), nullable=False),
        sa.Column("following_count", sa.Integer(), nullable=False),
        sa.Column("last_status_at", db.Instant(length=27), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.Column("fetched_at", db.Instant(length=27), nullable=True),
        sa.ForeignKeyConstraint(
            ["moved_to"], ["social_accounts.id"], name=op.f("fk_social_accounts_moved_to"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["identity_users.id"], name=op.f("fk_social_accounts_user_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_accounts")),
        sa.UniqueConstraint("uri", name=op.f("uq_social_accounts_uri")),
        sa.UniqueConstraint("user_id", name=op.f("uq_social_accounts_user_id")),
        sa.UniqueConstraint("username_key", "domain", name=op.f("uq_social_accounts_username_key_domain")),
    )
    with op.batch_alter_table("social_accounts", schema=None) as batch_op:
        batch_op.create_index("ix_social_accounts_domain", ["domain", "id"], unique=False)
        batch_op.create_index("ix_social_accounts_last_status_at", ["last_status_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_social_accounts_moved_to"), ["moved_to"], unique=False)

    op.create_table(
        "social_tag_days",
        sa.Column("tag_id", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tag_id"], ["social_tags.id"], name=op.f("fk_social_tag_days_tag_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tag_id", "day", "account_id", name=op.f("pk_social_tag_days")),
    )
    with op.batch_alter_table("social_tag_days", schema=None) as batch_op:
        batch_op.create_index("ix_social_tag_days_day", ["day"], unique=False)

    op.create_table(
        "social_account_notes",
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("target_id", sa.BigInteger(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_account_notes_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["target_id"], ["social_accounts.id"], name=op.f("fk_social_account_notes_target_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", "target_id", name=op.f("pk_social_account_notes")),
    )
    with op.batch_alter_table("social_account_notes", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_account_notes_target_id"), ["target_id"], unique=False)

    op.create_table(
        "social_account_words",
        sa.Column("account_id", db.ID, autoincrement=False, nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_account_words_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_social_account_words")),
    )
    op.create_table(
        "social_blocks",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("target_id", sa.BigInteger(), nullable=False),
        sa.Column("uri", sa.Text(), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_blocks_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["target_id"], ["social_accounts.id"], name=op.f("fk_social_blocks_target_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_blocks")),
        sa.UniqueConstraint("account_id", "target_id", name=op.f("uq_social_blocks_account_id_target_id")),
    )
    with op.batch_alter_table("social_blocks", schema=None) as batch_op:
        batch_op.create_index("ix_social_blocks_account_id", ["account_id", "id"], unique=False)
        batch_op.create_index("ix_social_blocks_target_id", ["target_id", "id"], unique=False)

    op.create_table(
        "social_conversation_mutes",
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("conversation_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["social_accounts.id"],
            name=op.f("fk_social_conversation_mutes_account_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", "conversation_id", name=op.f("pk_social_conversation_mutes")),
    )
    op.create_table(
        "social_domain_blocks",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_domain_blocks_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_domain_blocks")),
        sa.UniqueConstraint("account_id", "domain", name=op.f("uq_social_domain_blocks_account_id_domain")),
    )
    with op.batch_alter_table("social_domain_blocks", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_domain_blocks_domain"), ["domain"], unique=False)

    op.create_table(
        "social_endorsements",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("target_id", sa.BigInteger(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_endorsements_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["target_id"], ["social_accounts.id"], name=op.f("fk_social_endorsements_target_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_endorsements")),
        sa.UniqueConstraint("account_id", "target_id", name=op.f("uq_social_endorsements_account_id_target_id")),
    )
    with op.batch_alter_table("social_endorsements", schema=None) as batch_op:
        batch_op.create_index("ix_social_endorsements_account_id", ["account_id", "id"], unique=False)
        batch_op.create_index("ix_social_endorsements_target_id", ["target_id", "id"], unique=False)

    op.create_table(
        "social_featured_tags",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("tag_id", sa.BigInteger(), nullable=False),
        sa.Column("display", sa.Text(), nullable=False),
        sa.Column("statuses_count", sa.Integer(), nullable=False),
        sa.Column("last_status_at", db.Instant(length=27), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_featured_tags_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["tag_id"], ["social_tags.id"], name=op.f("fk_social_featured_tags_tag_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_featured_tags")),
        sa.UniqueConstraint("account_id", "tag_id", name=op.f("uq_social_featured_tags_account_id_tag_id")),
    )
    with op.batch_alter_table("social_featured_tags", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_featured_tags_tag_id"), ["tag_id"], unique=False)

    op.create_table(
        "social_feed_states",
        sa.Column("account_id", db.ID, autoincrement=False, nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("active_at", db.Instant(length=27), nullable=False),
        sa.Column("changed_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_feed_states_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_social_feed_states")),
    )
    with op.batch_alter_table("social_feed_states", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_feed_states_active_at"), ["active_at"], unique=False)

    op.create_table(
        "social_follow_requests",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("target_id", sa.BigInteger(), nullable=False),
        sa.Column("reblogs", sa.Boolean(), nullable=False),
        sa.Column("notify", sa.Boolean(), nullable=False),
        sa.Column("languages", db.Document(), nullable=True),
        sa.Column("uri", sa.Text(), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["social_accounts.id"],
            name=op.f("fk_social_follow_requests_account_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["target_id"], ["social_accounts.id"], name=op.f("fk_social_follow_requests_target_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_follow_requests")),
        sa.UniqueConstraint("account_id", "target_id", name=op.f("uq_social_follow_requests_account_id_target_id")),
    )
    with op.batch_alter_table("social_follow_requests", schema=None) as batch_op:
        batch_op.create_index("ix_social_follow_requests_account_id", ["account_id", "id"], unique=False)
        batch_op.create_index("ix_social_follow_requests_target_id", ["target_id", "id"], unique=False)

    op.create_table(
        "social_follows",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("target_id", sa.BigInteger(), nullable=False),
        sa.Column("reblogs", sa.Boolean(), nullable=False),
        sa.Column("notify", sa.Boolean(), nullable=False),
        sa.Column("languages", db.Document(), nullable=True),
        sa.Column("uri", sa.Text(), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_follows_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["target_id"], ["social_accounts.id"], name=op.f("fk_social_follows_target_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_follows")),
        sa.UniqueConstraint("account_id", "target_id", name=op.f("uq_social_follows_account_id_target_id")),
    )
    with op.batch_alter_table("social_follows", schema=None) as batch_op:
        batch_op.create_index("ix_social_follows_account_id", ["account_id", "id"], unique=False)
        batch_op.create_index("ix_social_follows_target_id", ["target_id", "id"], unique=False)

    op.create_table(
        "social_idempotency",
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("status_id", sa.BigInteger(), nullable=True),
        sa.Column("scheduled_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_idempotency_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", "key", name=op.f("pk_social_idempotency")),
    )
    with op.batch_alter_table("social_idempotency", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_idempotency_created_at"), ["created_at"], unique=False)

    op.create_table(
        "social_lists",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("replies_policy", sa.String(length=10), nullable=False),
        sa.Column("exclusive", sa.Boolean(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_lists_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_lists")),
    )
    with op.batch_alter_table("social_lists", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_lists_account_id"), ["account_id"], unique=False)

    op.create_table(
        "social_markers",
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("timeline", sa.String(length=20), nullable=False),
        sa.Column("last_read_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_markers_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", "timeline", name=op.f("pk_social_markers")),
    )
    op.create_table(
        "social_mutes",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("target_id", sa.BigInteger(), nullable=False),
        sa.Column("hide_notifications", sa.Boolean(), nullable=False),
        sa.Column("expires_at", db.Instant(length=27), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_mutes_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["target_id"], ["social_accounts.id"], name=op.f("fk_social_mutes_target_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_mutes")),
        sa.UniqueConstraint("account_id", "target_id", name=op.f("uq_social_mutes_account_id_target_id")),
    )
    with op.batch_alter_table("social_mutes", schema=None) as batch_op:
        batch_op.create_index("ix_social_mutes_account_id", ["account_id", "id"], unique=False)
        batch_op.create_index(batch_op.f("ix_social_mutes_expires_at"), ["expires_at"], unique=False)
        batch_op.create_index("ix_social_mutes_target_id", ["target_id", "id"], unique=False)

    op.create_table(
        "social_preferences",
        sa.Column("account_id", db.ID, autoincrement=False, nullable=False),
        sa.Column("privacy", sa.String(length=10), nullable=True),
        sa.Column("sensitive", sa.Boolean(), nullable=False),
        sa.Column("language", sa.String(length=35), nullable=True),
        sa.Column("quote_policy", sa.String(length=10), nullable=False),
        sa.Column("expand_media", sa.String(length=10), nullable=False),
        sa.Column("expand_spoilers", sa.Boolean(), nullable=False),
        sa.Column("autoplay_gifs", sa.Boolean(), nullable=False),
        sa.Column("aggregate_reblogs", sa.Boolean(), nullable=False),
        sa.Column("chosen_languages", db.Document(), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_preferences_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_social_preferences")),
    )
    op.create_table(
        "social_scheduled_statuses",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("scheduled_at", db.Instant(length=27), nullable=False),
        sa.Column("params", db.Document(), nullable=False),
        sa.Column("media_ids", db.Document(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["social_accounts.id"],
            name=op.f("fk_social_scheduled_statuses_account_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_scheduled_statuses")),
    )
    with op.batch_alter_table("social_scheduled_statuses", schema=None) as batch_op:
        batch_op.create_index("ix_social_scheduled_statuses_account_id", ["account_id", "id"], unique=False)
        batch_op.create_index(batch_op.f("ix_social_scheduled_statuses_scheduled_at"), ["scheduled_at"], unique=False)

    op.create_table(
        "social_statuses",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("local", sa.Boolean(), nullable=False),
        sa.Column("uri", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("visibility", sa.SmallInteger(), nullable=False),
        sa.Column("in_reply_to_id", sa.BigInteger(), nullable=True),
        sa.Column("in_reply_to_account_id", sa.BigInteger(), nullable=True),
        sa.Column("reblog_of_id", sa.BigInteger(), nullable=True),
        sa.Column("conversation_id", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("spoiler_text", sa.Text(), nullable=False),
        sa.Column("sensitive", sa.Boolean(), nullable=False),
        sa.Column("language", sa.String(length=35), nullable=True),
        sa.Column("media_ids", db.Document(), nullable=False),
        sa.Column("tag_names", db.Document(), nullable=False),
        sa.Column("poll_id", sa.BigInteger(), nullable=True),
        sa.Column("card_id", sa.BigInteger(), nullable=True),
        sa.Column("quoted_id", sa.BigInteger(), nullable=True),
        sa.Column("quote_state", sa.String(length=10), nullable=True),
        sa.Column("quote_policy", sa.String(length=10), nullable=False),
        sa.Column("application", db.Document(), nullable=True),
        sa.Column("replies_count", sa.Integer(), nullable=False),
        sa.Column("reblogs_count", sa.Integer(), nullable=False),
        sa.Column("favourites_count", sa.Integer(), nullable=False),
        sa.Column("quotes_count", sa.Integer(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("edited_at", db.Instant(length=27), nullable=True),
        sa.Column("deleted_at", db.Instant(length=27), nullable=True),
        sa.Column("fetched_at", db.Instant(length=27), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_statuses_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["card_id"], ["social_cards.id"], name=op.f("fk_social_statuses_card_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["reblog_of_id"], ["social_statuses.id"], name=op.f("fk_social_statuses_reblog_of_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_statuses")),
        sa.UniqueConstraint("uri", name=op.f("uq_social_statuses_uri")),
    )
    with op.batch_alter_table("social_statuses", schema=None) as batch_op:
        batch_op.create_index("ix_social_statuses_account_id", ["account_id", "id"], unique=False)
        batch_op.create_index(batch_op.f("ix_social_statuses_card_id"), ["card_id"], unique=False)
        batch_op.create_index("ix_social_statuses_conversation_id", ["conversation_id"], unique=False)
        batch_op.create_index("ix_social_statuses_in_reply_to_id", ["in_reply_to_id"], unique=False)
        batch_op.create_index(
            "ix_social_statuses_local",
            ["id"],
            unique=False,
            sqlite_where=sa.text("visibility = 0 AND reblog_of_id IS NULL AND deleted_at IS NULL AND local"),
            postgresql_where=sa.text("visibility = 0 AND reblog_of_id IS NULL AND deleted_at IS NULL AND local"),
        )
        batch_op.create_index(
            "ix_social_statuses_public",
            ["id"],
            unique=False,
            sqlite_where=sa.text("visibility = 0 AND reblog_of_id IS NULL AND deleted_at IS NULL"),
            postgresql_where=sa.text("visibility = 0 AND reblog_of_id IS NULL AND deleted_at IS NULL"),
        )
        batch_op.create_index("ix_social_statuses_quoted_id", ["quoted_id"], unique=False)
        batch_op.create_index("ix_social_statuses_reblog_of_id", ["reblog_of_id", "id"], unique=False)
        batch_op.create_index(
            "uq_social_statuses_boosts",
            ["account_id", "reblog_of_id"],
            unique=True,
            sqlite_where=sa.text("reblog_of_id IS NOT NULL AND deleted_at IS NULL"),
            postgresql_where=sa.text("reblog_of_id IS NOT NULL AND deleted_at IS NULL"),
        )

    op.create_table(
        "social_tag_follows",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("tag_id", sa.BigInteger(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_tag_follows_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["tag_id"], ["social_tags.id"], name=op.f("fk_social_tag_follows_tag_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_tag_follows")),
        sa.UniqueConstraint("account_id", "tag_id", name=op.f("uq_social_tag_follows_account_id_tag_id")),
    )
    with op.batch_alter_table("social_tag_follows", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_tag_follows_tag_id"), ["tag_id"], unique=False)

    op.create_table(
        "social_bookmarks",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("status_id", sa.BigInteger(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_bookmarks_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["status_id"], ["social_statuses.id"], name=op.f("fk_social_bookmarks_status_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_bookmarks")),
        sa.UniqueConstraint("account_id", "status_id", name=op.f("uq_social_bookmarks_account_id_status_id")),
    )
    with op.batch_alter_table("social_bookmarks", schema=None) as batch_op:
        batch_op.create_index("ix_social_bookmarks_account_id", ["account_id", "id"], unique=False)
        batch_op.create_index("ix_social_bookmarks_status_id", ["status_id", "id"], unique=False)

    op.create_table(
        "social_favourites",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("status_id", sa.BigInteger(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_favourites_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["status_id"], ["social_statuses.id"], name=op.f("fk_social_favourites_status_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_favourites")),
        sa.UniqueConstraint("account_id", "status_id", name=op.f("uq_social_favourites_account_id_status_id")),
    )
    with op.batch_alter_table("social_favourites", schema=None) as batch_op:
        batch_op.create_index("ix_social_favourites_account_id", ["account_id", "id"], unique=False)
        batch_op.create_index("ix_social_favourites_status_id", ["status_id", "id"], unique=False)

    op.create_table(
        "social_list_members",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("list_id", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_list_members_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["list_id"], ["social_lists.id"], name=op.f("fk_social_list_members_list_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_list_members")),
        sa.UniqueConstraint("list_id", "account_id", name=op.f("uq_social_list_members_list_id_account_id")),
    )
    with op.batch_alter_table("social_list_members", schema=None) as batch_op:
        batch_op.create_index("ix_social_list_members_account_id", ["account_id", "list_id"], unique=False)

    op.create_table(
        "social_media",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("status_id", sa.BigInteger(), nullable=True),
        sa.Column("scheduled_id", sa.BigInteger(), nullable=True),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("preview", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("mime", sa.String(length=100), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("meta", db.Document(), nullable=False),
        sa.Column("blurhash", sa.String(length=100), nullable=True),
        sa.Column("remote_url", sa.Text(), nullable=True),
        sa.Column("preview_remote_url", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_media_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["status_id"], ["social_statuses.id"], name=op.f("fk_social_media_status_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_media")),
    )
    with op.batch_alter_table("social_media", schema=None) as batch_op:
        batch_op.create_index("ix_social_media_account_id", ["account_id", "id"], unique=False)
        batch_op.create_index("ix_social_media_created_at", ["created_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_social_media_scheduled_id"), ["scheduled_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_social_media_status_id"), ["status_id"], unique=False)

    op.create_table(
        "social_mentions",
        sa.Column("status_id", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("silent", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_mentions_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["status_id"], ["social_statuses.id"], name=op.f("fk_social_mentions_status_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("status_id", "account_id", name=op.f("pk_social_mentions")),
    )
    with op.batch_alter_table("social_mentions", schema=None) as batch_op:
        batch_op.create_index("ix_social_mentions_account_id", ["account_id", "status_id"], unique=False)

    op.create_table(
        "social_notifications",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("from_id", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.String(length=30), nullable=False),
        sa.Column("status_id", sa.BigInteger(), nullable=True),
        sa.Column("group_key", sa.Text(), nullable=False),
        sa.Column("filtered", sa.Boolean(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("once_key", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_notifications_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["from_id"], ["social_accounts.id"], name=op.f("fk_social_notifications_from_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["status_id"], ["social_statuses.id"], name=op.f("fk_social_notifications_status_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_notifications")),
        sa.UniqueConstraint("once_key", name=op.f("uq_social_notifications_once_key")),
    )
    with op.batch_alter_table("social_notifications", schema=None) as batch_op:
        batch_op.create_index("ix_social_notifications_account_id", ["account_id", "id"], unique=False)
        batch_op.create_index("ix_social_notifications_from_id", ["from_id", "account_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_social_notifications_status_id"), ["status_id"], unique=False)

    op.create_table(
        "social_pins",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("status_id", sa.BigInteger(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_pins_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["status_id"], ["social_statuses.id"], name=op.f("fk_social_pins_status_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_pins")),
        sa.UniqueConstraint("account_id", "status_id", name=op.f("uq_social_pins_account_id_status_id")),
    )
    with op.batch_alter_table("social_pins", schema=None) as batch_op:
        batch_op.create_index("ix_social_pins_account_id", ["account_id", "id"], unique=False)
        batch_op.create_index("ix_social_pins_status_id", ["status_id", "id"], unique=False)

    op.create_table(
        "social_polls",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("status_id", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("options", db.Document(), nullable=False),
        sa.Column("tallies", db.Document(), nullable=False),
        sa.Column("voters_count", sa.Integer(), nullable=True),
        sa.Column("multiple", sa.Boolean(), nullable=False),
        sa.Column("hide_totals", sa.Boolean(), nullable=False),
        sa.Column("expires_at", db.Instant(length=27), nullable=True),
        sa.Column("ended_at", db.Instant(length=27), nullable=True),
        sa.Column("fetched_at", db.Instant(length=27), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_polls_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["status_id"], ["social_statuses.id"], name=op.f("fk_social_polls_status_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_polls")),
    )
    with op.batch_alter_table("social_polls", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_polls_account_id"), ["account_id"], unique=False)
        batch_op.create_index("ix_social_polls_expires_at", ["expires_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_social_polls_status_id"), ["status_id"], unique=False)

    op.create_table(
        "social_status_edits",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("status_id", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("spoiler_text", sa.Text(), nullable=False),
        sa.Column("sensitive", sa.Boolean(), nullable=False),
        sa.Column("media", db.Document(), nullable=False),
        sa.Column("poll_options", db.Document(), nullable=True),
        sa.Column("quoted_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["status_id"], ["social_statuses.id"], name=op.f("fk_social_status_edits_status_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_status_edits")),
    )
    with op.batch_alter_table("social_status_edits", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_status_edits_status_id"), ["status_id"], unique=False)

    op.create_table(
        "social_status_tags",
        sa.Column("tag_id", sa.BigInteger(), nullable=False),
        sa.Column("status_id", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["status_id"], ["social_statuses.id"], name=op.f("fk_social_status_tags_status_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["tag_id"], ["social_tags.id"], name=op.f("fk_social_status_tags_tag_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tag_id", "status_id", name=op.f("pk_social_status_tags")),
    )
    with op.batch_alter_table("social_status_tags", schema=None) as batch_op:
        batch_op.create_index("ix_social_status_tags_account_id", ["account_id", "tag_id"], unique=False)
        batch_op.create_index("ix_social_status_tags_status_id", ["status_id"], unique=False)

    op.create_table(
        "social_status_words",
        sa.Column("status_id", db.ID, autoincrement=False, nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["status_id"], ["social_statuses.id"], name=op.f("fk_social_status_words_status_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("status_id", name=op.f("pk_social_status_words")),
    )
    op.create_table(
        "social_poll_votes",
        sa.Column("id", db.ID, autoincrement=False, nullable=False),
        sa.Column("poll_id", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("choice", sa.SmallInteger(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_poll_votes_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["poll_id"], ["social_polls.id"], name=op.f("fk_social_poll_votes_poll_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_poll_votes")),
        sa.UniqueConstraint(
            "poll_id", "account_id", "choice", name=op.f("uq_social_poll_votes_poll_id_account_id_choice")
        ),
    )
    with op.batch_alter_table("social_poll_votes", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_poll_votes_account_id"), ["account_id"], unique=False)
    if op.get_bind().dialect.name == "sqlite":
        words_on_sqlite("social_status_words", "status_id")
        words_on_sqlite("social_account_words", "account_id")
    else:
        words_on_postgres("social_status_words")
        words_on_postgres("social_account_words")


def words_on_sqlite(table: str, key: str) -> None:
    """A full-text index over the words, which are made ready before they are stored; kept by triggers."""
    index = f"{table}_index"
    forget = f"INSERT INTO {index}({index}, rowid, words) VALUES ('delete', old.{key}, old.words);"
    learn = f"INSERT INTO {index}(rowid, words) VALUES (new.{key}, new.words);"
    op.execute(
        f"CREATE VIRTUAL TABLE {index} USING fts5(words, content='{table}', content_rowid='{key}', "
        'tokenize = "unicode61 remove_diacritics 2")'
    )
    op.execute(f"CREATE TRIGGER {index}_insert AFTER INSERT ON {table} BEGIN {learn} END")
    op.execute(f"CREATE TRIGGER {index}_update AFTER UPDATE ON {table} BEGIN {forget} {learn} END")
    op.execute(f"CREATE TRIGGER {index}_delete AFTER DELETE ON {table} BEGIN {forget} END")


def words_on_postgres(table: str) -> None:
    op.execute(f"CREATE INDEX {table}_index ON {table} USING gin (to_tsvector('simple', words))")
