"""The identity API."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0002"
down_revision = "0001"


TEXT = "{0}username || {1} || {0}name || {1} || {0}email || {1} || {0}uuid"


def upgrade() -> None:
    create_tables()
    if op.get_bind().dialect.name == "sqlite":
        search_on_sqlite()
    else:
        search_on_postgres()


def search_on_sqlite() -> None:
    """A table of trigrams beside the people, kept by triggers."""
    new = TEXT.format("new.", "char(10)")
    op.execute("CREATE VIRTUAL TABLE identity_users_search USING fts5(text, tokenize = 'trigram')")
    op.execute(
        f"INSERT INTO identity_users_search(rowid, text) SELECT id, {TEXT.format('', 'char(10)')} FROM identity_users"
    )
    op.execute(
        "CREATE TRIGGER identity_users_search_insert AFTER INSERT ON identity_users BEGIN "
        f"INSERT INTO identity_users_search(rowid, text) VALUES (new.id, {new}); END"
    )
    op.execute(
        "CREATE TRIGGER identity_users_search_update AFTER UPDATE OF username, name, email ON identity_users BEGIN "
        f"UPDATE identity_users_search SET text = {new} WHERE rowid = new.id; END"
    )
    op.execute(
        "CREATE TRIGGER identity_users_search_delete AFTER DELETE ON identity_users BEGIN "
        "DELETE FROM identity_users_search WHERE rowid = old.id; END"
    )


def search_on_postgres() -> None:
    """An index of trigrams, where the server has the extension; without it a search reads the whole table."""
    connection = op.get_bind()
    available = sa.text("SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm'")
    if connection.execute(available).scalar() is None:
        return
    try:
        with connection.begin_nested():
            connection.execute(sa.text("CREATE EXTENSION IF NOT EXISTS pg_trgm"))
    except sa.exc.DBAPIError:
        return  # not allowed to
    text = TEXT.format("", "chr(10)") + "::text"
    op.execute(f"CREATE INDEX ix_identity_users_trigrams ON identity_users USING gin ((lower({text})) gin_trgm_ops)")


def create_tables() -> None:
    op.create_table(
        "identity_keypairs",
        sa.Column("kp_uuid", db.UID(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("certificate_data", sa.Text(), nullable=False),
        sa.Column("key_data", sa.Text(), nullable=True),
        sa.Column("managed", sa.String(length=255), nullable=True),
        sa.Column("fingerprint_sha256", sa.String(length=95), nullable=True),
        sa.Column("fingerprint_sha1", sa.String(length=59), nullable=True),
        sa.Column("cert_expiry", db.Instant(length=27), nullable=True),
        sa.Column("cert_subject", sa.Text(), nullable=True),
        sa.Column("private_key_available", sa.Boolean(), nullable=False),
        sa.Column("key_type", sa.String(length=100), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("kp_uuid", name=op.f("pk_identity_keypairs")),
        sa.UniqueConstraint("managed", name=op.f("uq_identity_keypairs_managed")),
        sa.UniqueConstraint("name", name=op.f("uq_identity_keypairs_name")),
    )
    op.create_table(
        "identity_policies",
        sa.Column("policy_uuid", db.UID(length=36), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("execution_logging", sa.Boolean(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("policy_uuid", name=op.f("pk_identity_policies")),
        sa.UniqueConstraint("name", name=op.f("uq_identity_policies_name")),
    )
    with op.batch_alter_table("identity_policies", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_policies_kind"), ["kind"], unique=False)

    op.create_table(
        "identity_policy_targets",
        sa.Column("pbm_uuid", db.UID(length=36), nullable=False),
        sa.Column("model", sa.String(length=60), nullable=False),
        sa.PrimaryKeyConstraint("pbm_uuid", name=op.f("pk_identity_policy_targets")),
    )
    op.create_table(
        "identity_prompts",
        sa.Column("prompt_uuid", db.UID(length=36), nullable=False),
        sa.Column("field_key", sa.String(length=50), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("type", sa.String(length=100), nullable=False),
        sa.Column("required", sa.Boolean(), nullable=False),
        sa.Column("placeholder", sa.Text(), nullable=False),
        sa.Column("order", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=True),
        sa.Column("initial_value", sa.Text(), nullable=False),
        sa.Column("sub_text", sa.Text(), nullable=False),
        sa.Column("placeholder_expression", sa.Boolean(), nullable=False),
        sa.Column("initial_value_expression", sa.Boolean(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("prompt_uuid", name=op.f("pk_identity_prompts")),
        sa.UniqueConstraint("name", name=op.f("uq_identity_prompts_name")),
    )
    op.create_table(
        "identity_property_mappings",
        sa.Column("pm_uuid", db.UID(length=36), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("expression", sa.Text(), nullable=False),
        sa.Column("managed", sa.String(length=255), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("pm_uuid", name=op.f("pk_identity_property_mappings")),
        sa.UniqueConstraint("managed", name=op.f("uq_identity_property_mappings_managed")),
    )
    with op.batch_alter_table("identity_property_mappings", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_property_mappings_kind"), ["kind"], unique=False)

    op.create_table(
        "identity_reputation",
        sa.Column("reputation_uuid", db.UID(length=36), nullable=False),
        sa.Column("identifier", sa.String(length=255), nullable=False),
        sa.Column("ip", sa.String(length=45), nullable=False),
        sa.Column("score", sa.Integer(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("reputation_uuid", name=op.f("pk_identity_reputation")),
        sa.UniqueConstraint("identifier", "ip", name=op.f("uq_identity_reputation_identifier_ip")),
    )
    with op.batch_alter_table("identity_reputation", schema=None) as batch_op:
        batch_op.create_index("ix_identity_reputation_ip", ["ip"], unique=False)

    op.create_table(
        "identity_roles",
        sa.Column("role_uuid", db.UID(length=36), nullable=False),
        sa.Column("name", sa.String(length=150), nullable=False),
        sa.Column("permissions", db.Document(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("role_uuid", name=op.f("pk_identity_roles")),
        sa.UniqueConstraint("name", name=op.f("uq_identity_roles_name")),
    )
    op.create_table(
        "identity_stages",
        sa.Column("stage_uuid", db.UID(length=36), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("stage_uuid", name=op.f("pk_identity_stages")),
        sa.UniqueConstraint("name", name=op.f("uq_identity_stages_name")),
    )
    with op.batch_alter_table("identity_stages", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_stages_kind"), ["kind"], unique=False)

    op.create_table(
        "identity_flows",
        sa.Column("flow_uuid", db.UID(length=36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("slug", sa.String(length=50), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("designation", sa.String(length=100), nullable=False),
        sa.Column("background", sa.Text(), nullable=False),
        sa.Column("authentication", sa.String(length=100), nullable=False),
        sa.Column("denied_action", sa.String(length=100), nullable=False),
        sa.Column("policy_engine_mode", sa.String(length=100), nullable=False),
        sa.Column("compatibility_mode", sa.Boolean(), nullable=False),
        sa.Column("layout", sa.String(length=100), nullable=False),
        sa.Column("pbm_uuid", db.UID(length=36), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["pbm_uuid"],
            ["identity_policy_targets.pbm_uuid"],
            name=op.f("fk_identity_flows_pbm_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("flow_uuid", name=op.f("pk_identity_flows")),
        sa.UniqueConstraint("pbm_uuid", name=op.f("uq_identity_flows_pbm_uuid")),
        sa.UniqueConstraint("slug", name=op.f("uq_identity_flows_slug")),
    )
    op.create_table(
        "identity_group_roles",
        sa.Column("owner", db.UID(length=36), nullable=False),
        sa.Column("other", db.UID(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["other"], ["identity_roles.role_uuid"], name=op.f("fk_identity_group_roles_other"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["owner"], ["identity_groups.group_uuid"], name=op.f("fk_identity_group_roles_owner"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("owner", "other", name=op.f("pk_identity_group_roles")),
    )
    with op.batch_alter_table("identity_group_roles", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_group_roles_other"), ["other"], unique=False)

    op.create_table(
        "identity_messages",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("level", sa.SmallInteger(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("extra_tags", sa.String(length=200), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["identity_users.id"], name=op.f("fk_identity_messages_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identity_messages")),
    )
    with op.batch_alter_table("identity_messages", schema=None) as batch_op:
        batch_op.create_index("ix_identity_messages_user_id", ["user_id", "id"], unique=False)

    op.create_table(
        "identity_policies_breachcheck",
        sa.Column("policy_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("allowed_count", sa.Integer(), nullable=False),
        sa.Column("password_field", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["policy_uuid"],
            ["identity_policies.policy_uuid"],
            name=op.f("fk_identity_policies_breachcheck_policy_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("policy_uuid", name=op.f("pk_identity_policies_breachcheck")),
    )
    op.create_table(
        "identity_policies_dummy",
        sa.Column("policy_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("result", sa.Boolean(), nullable=False),
        sa.Column("wait_min", sa.Integer(), nullable=False),
        sa.Column("wait_max", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["policy_uuid"],
            ["identity_policies.policy_uuid"],
            name=op.f("fk_identity_policies_dummy_policy_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("policy_uuid", name=op.f("pk_identity_policies_dummy")),
    )
    op.create_table(
        "identity_policies_expression",
        sa.Column("policy_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("expression", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["policy_uuid"],
            ["identity_policies.policy_uuid"],
            name=op.f("fk_identity_policies_expression_policy_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("policy_uuid", name=op.f("pk_identity_policies_expression")),
    )
    op.create_table(
        "identity_policies_group_membership",
        sa.Column("policy_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("group", db.UID(length=36), nullable=True),
        sa.ForeignKeyConstraint(
            ["group"],
            ["identity_groups.group_uuid"],
            name=op.f("fk_identity_policies_group_membership_group"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["policy_uuid"],
            ["identity_policies.policy_uuid"],
            name=op.f("fk_identity_policies_group_membership_policy_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("policy_uuid", name=op.f("pk_identity_policies_group_membership")),
    )
    with op.batch_alter_table("identity_policies_group_membership", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_policies_group_membership_group"), ["group"], unique=False)

    op.create_table(
        "identity_policies_password",
        sa.Column("policy_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("amount_uppercase", sa.Integer(), nullable=False),
        sa.Column("amount_lowercase", sa.Integer(), nullable=False),
        sa.Column("amount_symbols", sa.Integer(), nullable=False),
        sa.Column("amount_digits", sa.Integer(), nullable=False),
        sa.Column("length_min", sa.Integer(), nullable=False),
        sa.Column("symbol_charset", sa.Text(), nullable=False),
        sa.Column("error_message", sa.Text(), nullable=False),
        sa.Column("password_field", sa.Text(), nullable=False),
        sa.Column("check_static_rules", sa.Boolean(), nullable=False),
        sa.Column("check_have_i_been_pwned", sa.Boolean(), nullable=False),
        sa.Column("hibp_allowed_count", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["policy_uuid"],
            ["identity_policies.policy_uuid"],
            name=op.f("fk_identity_policies_password_policy_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("policy_uuid", name=op.f("pk_identity_policies_password")),
    )
    op.create_table(
        "identity_policies_passwordexpiry",
        sa.Column("policy_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("days", sa.Integer(), nullable=False),
        sa.Column("deny_only", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["policy_uuid"],
            ["identity_policies.policy_uuid"],
            name=op.f("fk_identity_policies_passwordexpiry_policy_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("policy_uuid", name=op.f("pk_identity_policies_passwordexpiry")),
    )
    op.create_table(
        "identity_policies_reputation",
        sa.Column("policy_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("check_ip", sa.Boolean(), nullable=False),
        sa.Column("check_username", sa.Boolean(), nullable=False),
        sa.Column("threshold", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["policy_uuid"],
            ["identity_policies.policy_uuid"],
            name=op.f("fk_identity_policies_reputation_policy_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("policy_uuid", name=op.f("pk_identity_policies_reputation")),
    )
    op.create_table(
        "identity_policy_bindings",
        sa.Column("policy_binding_uuid", db.UID(length=36), nullable=False),
        sa.Column("policy", db.UID(length=36), nullable=True),
        sa.Column("group", db.UID(length=36), nullable=True),
        sa.Column("user", sa.Integer(), nullable=True),
        sa.Column("target", db.UID(length=36), nullable=False),
        sa.Column("negate", sa.Boolean(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("order", sa.Integer(), nullable=False),
        sa.Column("timeout", sa.Integer(), nullable=False),
        sa.Column("failure_result", sa.Boolean(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["group"],
            ["identity_groups.group_uuid"],
            name=op.f("fk_identity_policy_bindings_group"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["policy"],
            ["identity_policies.policy_uuid"],
            name=op.f("fk_identity_policy_bindings_policy"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["target"],
            ["identity_policy_targets.pbm_uuid"],
            name=op.f("fk_identity_policy_bindings_target"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user"], ["identity_users.id"], name=op.f("fk_identity_policy_bindings_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("policy_binding_uuid", name=op.f("pk_identity_policy_bindings")),
        sa.UniqueConstraint("policy", "target", "order", name=op.f("uq_identity_policy_bindings_policy_target_order")),
    )
    with op.batch_alter_table("identity_policy_bindings", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_policy_bindings_group"), ["group"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_policy_bindings_policy"), ["policy"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_policy_bindings_target"), ["target"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_policy_bindings_user"), ["user"], unique=False)

    op.create_table(
        "identity_property_mappings_ldap",
        sa.Column("pm_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("object_field", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["pm_uuid"],
            ["identity_property_mappings.pm_uuid"],
            name=op.f("fk_identity_property_mappings_ldap_pm_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("pm_uuid", name=op.f("pk_identity_property_mappings_ldap")),
    )
    op.create_table(
        "identity_property_mappings_saml",
        sa.Column("pm_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("saml_name", sa.Text(), nullable=False),
        sa.Column("friendly_name", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["pm_uuid"],
            ["identity_property_mappings.pm_uuid"],
            name=op.f("fk_identity_property_mappings_saml_pm_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("pm_uuid", name=op.f("pk_identity_property_mappings_saml")),
    )
    op.create_table(
        "identity_property_mappings_scope",
        sa.Column("pm_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("scope_name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["pm_uuid"],
            ["identity_property_mappings.pm_uuid"],
            name=op.f("fk_identity_property_mappings_scope_pm_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("pm_uuid", name=op.f("pk_identity_property_mappings_scope")),
    )
    op.create_table(
        "identity_stages_captcha",
        sa.Column("stage_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("public_key", sa.Text(), nullable=False),
        sa.Column("private_key", sa.Text(), nullable=True),
        sa.Column("js_url", sa.Text(), nullable=False),
        sa.Column("api_url", sa.Text(), nullable=False),
        sa.Column("request_content_type", sa.String(length=100), nullable=False),
        sa.Column("interactive", sa.Boolean(), nullable=False),
        sa.Column("score_min_threshold", sa.Float(), nullable=False),
        sa.Column("score_max_threshold", sa.Float(), nullable=False),
        sa.Column("error_on_invalid_score", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["stage_uuid"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_captcha_stage_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("stage_uuid", name=op.f("pk_identity_stages_captcha")),
    )
    op.create_table(
        "identity_stages_consent",
        sa.Column("stage_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("mode", sa.String(length=100), nullable=False),
        sa.Column("consent_expire_in", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["stage_uuid"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_consent_stage_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("stage_uuid", name=op.f("pk_identity_stages_consent")),
    )
    op.create_table(
        "identity_stages_deny",
        sa.Column("stage_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("deny_message", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["stage_uuid"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_deny_stage_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("stage_uuid", name=op.f("pk_identity_stages_deny")),
    )
    op.create_table(
        "identity_stages_dummy",
        sa.Column("stage_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("throw_error", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["stage_uuid"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_dummy_stage_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("stage_uuid", name=op.f("pk_identity_stages_dummy")),
    )
    op.create_table(
        "identity_stages_email",
        sa.Column("stage_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("port", sa.Integer(), nullable=False),
        sa.Column("username", sa.String(length=255), nullable=False),
        sa.Column("password", sa.Text(), nullable=True),
        sa.Column("use_tls", sa.Boolean(), nullable=False),
        sa.Column("use_ssl", sa.Boolean(), nullable=False),
        sa.Column("timeout", sa.Integer(), nullable=False),
        sa.Column("from_address", sa.String(length=254), nullable=False),
        sa.Column("token_expiry", sa.Integer(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("template", sa.String(length=100), nullable=False),
        sa.Column("use_global_settings", sa.Boolean(), nullable=False),
        sa.Column("activate_user_on_success", sa.Boolean(), nullable=False),
        sa.Column("recovery_max_attempts", sa.Integer(), nullable=False),
        sa.Column("recovery_cache_timeout", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["stage_uuid"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_email_stage_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("stage_uuid", name=op.f("pk_identity_stages_email")),
    )
    op.create_table(
        "identity_stages_invitation",
        sa.Column("stage_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("continue_flow_without_invitation", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["stage_uuid"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_invitation_stage_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("stage_uuid", name=op.f("pk_identity_stages_invitation")),
    )
    op.create_table(
        "identity_stages_otp",
        sa.Column("stage_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("enforced", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["stage_uuid"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_otp_stage_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("stage_uuid", name=op.f("pk_identity_stages_otp")),
    )
    op.create_table(
        "identity_stages_otp_validate",
        sa.Column("stage_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("not_configured_action", sa.String(length=100), nullable=False),
        sa.Column("device_classes", db.Document(), nullable=False),
        sa.Column("last_auth_threshold", sa.Text(), nullable=False),
        sa.Column("webauthn_user_verification", sa.String(length=100), nullable=False),
        sa.Column("webauthn_hints", db.Document(), nullable=False),
        sa.Column("totp_otp_throttling_factor", sa.Float(), nullable=False),
        sa.Column("static_otp_throttling_factor", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["stage_uuid"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_otp_validate_stage_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("stage_uuid", name=op.f("pk_identity_stages_otp_validate")),
    )
    op.create_table(
        "identity_stages_otp_validate_configuration",
        sa.Column("owner", db.UID(length=36), nullable=False),
        sa.Column("other", db.UID(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["other"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_otp_validate_configuration_other"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["owner"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_otp_validate_configuration_owner"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("owner", "other", name=op.f("pk_identity_stages_otp_validate_configuration")),
    )
    with op.batch_alter_table("identity_stages_otp_validate_configuration", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_identity_stages_otp_validate_configuration_other"), ["other"], unique=False
        )

    op.create_table(
        "identity_stages_prompt",
        sa.Column("stage_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("pbm_uuid", db.UID(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["pbm_uuid"],
            ["identity_policy_targets.pbm_uuid"],
            name=op.f("fk_identity_stages_prompt_pbm_uuid"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["stage_uuid"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_prompt_stage_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("stage_uuid", name=op.f("pk_identity_stages_prompt")),
        sa.UniqueConstraint("pbm_uuid", name=op.f("uq_identity_stages_prompt_pbm_uuid")),
    )
    op.create_table(
        "identity_stages_user_login",
        sa.Column("stage_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("session_duration", sa.Integer(), nullable=False),
        sa.Column("remember_me_offset", sa.Text(), nullable=False),
        sa.Column("terminate_other_sessions", sa.Boolean(), nullable=False),
        sa.Column("remember_device", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["stage_uuid"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_user_login_stage_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("stage_uuid", name=op.f("pk_identity_stages_user_login")),
    )
    op.create_table(
        "identity_stages_user_write",
        sa.Column("stage_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("user_creation_mode", sa.String(length=100), nullable=False),
        sa.Column("create_users_as_inactive", sa.Boolean(), nullable=False),
        sa.Column("create_users_group", db.UID(length=36), nullable=True),
        sa.Column("user_type", sa.String(length=100), nullable=False),
        sa.Column("user_path_template", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["create_users_group"],
            ["identity_groups.group_uuid"],
            name=op.f("fk_identity_stages_user_write_create_users_group"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["stage_uuid"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_user_write_stage_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("stage_uuid", name=op.f("pk_identity_stages_user_write")),
    )
    with op.batch_alter_table("identity_stages_user_write", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_identity_stages_user_write_create_users_group"), ["create_users_group"], unique=False
        )

    op.create_table(
        "identity_user_roles",
        sa.Column("owner", sa.Integer(), nullable=False),
        sa.Column("other", db.UID(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["other"], ["identity_roles.role_uuid"], name=op.f("fk_identity_user_roles_other"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["owner"], ["identity_users.id"], name=op.f("fk_identity_user_roles_owner"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("owner", "other", name=op.f("pk_identity_user_roles")),
    )
    with op.batch_alter_table("identity_user_roles", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_user_roles_other"), ["other"], unique=False)

    op.create_table(
        "identity_flow_bindings",
        sa.Column("fsb_uuid", db.UID(length=36), nullable=False),
        sa.Column("flow", db.UID(length=36), nullable=False),
        sa.Column("stage", db.UID(length=36), nullable=False),
        sa.Column("re_evaluate_policies", sa.Boolean(), nullable=False),
        sa.Column("evaluate_on_plan", sa.Boolean(), nullable=False),
        sa.Column("order", sa.Integer(), nullable=False),
        sa.Column("policy_engine_mode", sa.String(length=100), nullable=False),
        sa.Column("invalid_response_action", sa.String(length=100), nullable=False),
        sa.Column("pbm_uuid", db.UID(length=36), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["flow"], ["identity_flows.flow_uuid"], name=op.f("fk_identity_flow_bindings_flow"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["pbm_uuid"],
            ["identity_policy_targets.pbm_uuid"],
            name=op.f("fk_identity_flow_bindings_pbm_uuid"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["stage"], ["identity_stages.stage_uuid"], name=op.f("fk_identity_flow_bindings_stage"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("fsb_uuid", name=op.f("pk_identity_flow_bindings")),
        sa.UniqueConstraint("flow", "stage", "order", name=op.f("uq_identity_flow_bindings_flow_stage_order")),
        sa.UniqueConstraint("pbm_uuid", name=op.f("uq_identity_flow_bindings_pbm_uuid")),
    )
    with op.batch_alter_table("identity_flow_bindings", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_flow_bindings_flow"), ["flow"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_flow_bindings_stage"), ["stage"], unique=False)
        batch_op.create_index("ix_identity_flow_bindings_walk", ["flow", "order"], unique=False)

    op.create_table(
        "identity_invitations",
        sa.Column("invite_uuid", db.UID(length=36), nullable=False),
        sa.Column("name", sa.String(length=50), nullable=False),
        sa.Column("expires", db.Instant(length=27), nullable=True),
        sa.Column("fixed_data", db.Document(), nullable=False),
        sa.Column("single_use", sa.Boolean(), nullable=False),
        sa.Column("flow", db.UID(length=36), nullable=True),
        sa.Column("created_by", sa.Integer(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["created_by"], ["identity_users.id"], name=op.f("fk_identity_invitations_created_by"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["flow"], ["identity_flows.flow_uuid"], name=op.f("fk_identity_invitations_flow"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("invite_uuid", name=op.f("pk_identity_invitations")),
    )
    with op.batch_alter_table("identity_invitations", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_invitations_created_by"), ["created_by"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_invitations_flow"), ["flow"], unique=False)

    op.create_table(
        "identity_providers",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("authorization_flow", db.UID(length=36), nullable=True),
        sa.Column("authentication_flow", db.UID(length=36), nullable=True),
        sa.Column("invalidation_flow", db.UID(length=36), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["authentication_flow"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_providers_authentication_flow"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["authorization_flow"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_providers_authorization_flow"),
            ondelete="RESTRICT",
        ),
        sa.ForeignKeyConstraint(
            ["invalidation_flow"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_providers_invalidation_flow"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identity_providers")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("identity_providers", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_identity_providers_authentication_flow"), ["authentication_flow"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_identity_providers_authorization_flow"), ["authorization_flow"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_identity_providers_invalidation_flow"), ["invalidation_flow"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_identity_providers_kind"), ["kind"], unique=False)

    op.create_table(
        "identity_sources",
        sa.Column("pbm_uuid", db.UID(length=36), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("slug", sa.String(length=50), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("authentication_flow", db.UID(length=36), nullable=True),
        sa.Column("enrollment_flow", db.UID(length=36), nullable=True),
        sa.Column("policy_engine_mode", sa.String(length=100), nullable=False),
        sa.Column("user_matching_mode", sa.String(length=100), nullable=False),
        sa.Column("user_path_template", sa.Text(), nullable=False),
        sa.Column("icon", sa.Text(), nullable=False),
        sa.Column("promoted", sa.Boolean(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["authentication_flow"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_sources_authentication_flow"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["enrollment_flow"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_sources_enrollment_flow"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["pbm_uuid"],
            ["identity_policy_targets.pbm_uuid"],
            name=op.f("fk_identity_sources_pbm_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("pbm_uuid", name=op.f("pk_identity_sources")),
        sa.UniqueConstraint("slug", name=op.f("uq_identity_sources_slug")),
    )
    with op.batch_alter_table("identity_sources", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_identity_sources_authentication_flow"), ["authentication_flow"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_identity_sources_enrollment_flow"), ["enrollment_flow"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_sources_kind"), ["kind"], unique=False)

    op.create_table(
        "identity_stages_identification",
        sa.Column("stage_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("user_fields", db.Document(), nullable=False),
        sa.Column("template", sa.String(length=100), nullable=False),
        sa.Column("enrollment_flow", db.UID(length=36), nullable=True),
        sa.Column("recovery_flow", db.UID(length=36), nullable=True),
        sa.Column("passwordless_flow", db.UID(length=36), nullable=True),
        sa.Column("password_stage", db.UID(length=36), nullable=True),
        sa.Column("captcha_stage", db.UID(length=36), nullable=True),
        sa.Column("webauthn_stage", db.UID(length=36), nullable=True),
        sa.Column("case_insensitive_matching", sa.Boolean(), nullable=False),
        sa.Column("show_matched_user", sa.Boolean(), nullable=False),
        sa.Column("pretend_user_exists", sa.Boolean(), nullable=False),
        sa.Column("enable_remember_me", sa.Boolean(), nullable=False),
        sa.Column("show_source_labels", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["captcha_stage"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_identification_captcha_stage"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["enrollment_flow"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_stages_identification_enrollment_flow"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["password_stage"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_identification_password_stage"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["passwordless_flow"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_stages_identification_passwordless_flow"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["recovery_flow"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_stages_identification_recovery_flow"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["stage_uuid"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_identification_stage_uuid"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["webauthn_stage"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_identification_webauthn_stage"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("stage_uuid", name=op.f("pk_identity_stages_identification")),
    )
    with op.batch_alter_table("identity_stages_identification", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_identity_stages_identification_captcha_stage"), ["captcha_stage"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_identity_stages_identification_enrollment_flow"), ["enrollment_flow"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_identity_stages_identification_password_stage"), ["password_stage"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_identity_stages_identification_passwordless_flow"), ["passwordless_flow"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_identity_stages_identification_recovery_flow"), ["recovery_flow"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_identity_stages_identification_webauthn_stage"), ["webauthn_stage"], unique=False
        )

    op.create_table(
        "identity_stages_otp_static",
        sa.Column("stage_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("token_count", sa.Integer(), nullable=False),
        sa.Column("token_length", sa.Integer(), nullable=False),
        sa.Column("configure_flow", db.UID(length=36), nullable=True),
        sa.Column("friendly_name", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(
            ["configure_flow"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_stages_otp_static_configure_flow"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["stage_uuid"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_otp_static_stage_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("stage_uuid", name=op.f("pk_identity_stages_otp_static")),
    )
    with op.batch_alter_table("identity_stages_otp_static", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_identity_stages_otp_static_configure_flow"), ["configure_flow"], unique=False
        )

    op.create_table(
        "identity_stages_otp_time",
        sa.Column("stage_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("digits", sa.Integer(), nullable=False),
        sa.Column("configure_flow", db.UID(length=36), nullable=True),
        sa.Column("friendly_name", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(
            ["configure_flow"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_stages_otp_time_configure_flow"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["stage_uuid"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_otp_time_stage_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("stage_uuid", name=op.f("pk_identity_stages_otp_time")),
    )
    with op.batch_alter_table("identity_stages_otp_time", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_identity_stages_otp_time_configure_flow"), ["configure_flow"], unique=False
        )

    op.create_table(
        "identity_stages_password",
        sa.Column("stage_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("backends", db.Document(), nullable=False),
        sa.Column("configure_flow", db.UID(length=36), nullable=True),
        sa.Column("failed_attempts_before_cancel", sa.Integer(), nullable=False),
        sa.Column("allow_show_password", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["configure_flow"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_stages_password_configure_flow"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["stage_uuid"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_password_stage_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("stage_uuid", name=op.f("pk_identity_stages_password")),
    )
    with op.batch_alter_table("identity_stages_password", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_identity_stages_password_configure_flow"), ["configure_flow"], unique=False
        )

    op.create_table(
        "identity_stages_prompt_fields",
        sa.Column("owner", db.UID(length=36), nullable=False),
        sa.Column("other", db.UID(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["other"],
            ["identity_prompts.prompt_uuid"],
            name=op.f("fk_identity_stages_prompt_fields_other"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["owner"],
            ["identity_stages_prompt.pbm_uuid"],
            name=op.f("fk_identity_stages_prompt_fields_owner"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("owner", "other", name=op.f("pk_identity_stages_prompt_fields")),
    )
    with op.batch_alter_table("identity_stages_prompt_fields", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_stages_prompt_fields_other"), ["other"], unique=False)

    op.create_table(
        "identity_stages_prompt_policies",
        sa.Column("owner", db.UID(length=36), nullable=False),
        sa.Column("other", db.UID(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["other"],
            ["identity_policies.policy_uuid"],
            name=op.f("fk_identity_stages_prompt_policies_other"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["owner"],
            ["identity_stages_prompt.pbm_uuid"],
            name=op.f("fk_identity_stages_prompt_policies_owner"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("owner", "other", name=op.f("pk_identity_stages_prompt_policies")),
    )
    with op.batch_alter_table("identity_stages_prompt_policies", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_stages_prompt_policies_other"), ["other"], unique=False)

    op.create_table(
        "identity_stages_webauthn",
        sa.Column("stage_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("configure_flow", db.UID(length=36), nullable=True),
        sa.Column("friendly_name", sa.String(length=255), nullable=False),
        sa.Column("user_verification", sa.String(length=100), nullable=False),
        sa.Column("resident_key_requirement", sa.String(length=100), nullable=False),
        sa.Column("authenticator_attachment", sa.String(length=100), nullable=True),
        sa.Column("hints", db.Document(), nullable=False),
        sa.Column("device_type_restrictions", db.Document(), nullable=False),
        sa.Column("max_attempts", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["configure_flow"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_stages_webauthn_configure_flow"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["stage_uuid"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_webauthn_stage_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("stage_uuid", name=op.f("pk_identity_stages_webauthn")),
    )
    with op.batch_alter_table("identity_stages_webauthn", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_identity_stages_webauthn_configure_flow"), ["configure_flow"], unique=False
        )

    op.create_table(
        "identity_applications",
        sa.Column("pbm_uuid", db.UID(length=36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("slug", sa.String(length=50), nullable=False),
        sa.Column("provider", sa.Integer(), nullable=True),
        sa.Column("meta_launch_url", sa.String(length=200), nullable=False),
        sa.Column("meta_icon_url", sa.Text(), nullable=False),
        sa.Column("meta_description", sa.Text(), nullable=False),
        sa.Column("meta_publisher", sa.Text(), nullable=False),
        sa.Column("group", sa.String(length=255), nullable=False),
        sa.Column("policy_engine_mode", sa.String(length=100), nullable=False),
        sa.Column("open_in_new_tab", sa.Boolean(), nullable=False),
        sa.Column("meta_hide", sa.Boolean(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["pbm_uuid"],
            ["identity_policy_targets.pbm_uuid"],
            name=op.f("fk_identity_applications_pbm_uuid"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["provider"], ["identity_providers.id"], name=op.f("fk_identity_applications_provider"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("pbm_uuid", name=op.f("pk_identity_applications")),
        sa.UniqueConstraint("provider", name=op.f("uq_identity_applications_provider")),
        sa.UniqueConstraint("slug", name=op.f("uq_identity_applications_slug")),
    )
    op.create_table(
        "identity_client_ids",
        sa.Column("client_id", sa.String(length=255), nullable=False),
        sa.Column("provider_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["provider_id"],
            ["identity_providers.id"],
            name=op.f("fk_identity_client_ids_provider_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("client_id", name=op.f("pk_identity_client_ids")),
        sa.UniqueConstraint("provider_id", name=op.f("uq_identity_client_ids_provider_id")),
    )
    op.create_table(
        "identity_provider_mappings",
        sa.Column("owner", sa.Integer(), nullable=False),
        sa.Column("other", db.UID(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["other"],
            ["identity_property_mappings.pm_uuid"],
            name=op.f("fk_identity_provider_mappings_other"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["owner"], ["identity_providers.id"], name=op.f("fk_identity_provider_mappings_owner"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("owner", "other", name=op.f("pk_identity_provider_mappings")),
    )
    with op.batch_alter_table("identity_provider_mappings", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_provider_mappings_other"), ["other"], unique=False)

    op.create_table(
        "identity_providers_applicationgateway",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("client_secret", sa.Text(), nullable=False),
        sa.Column("cookie_secret", sa.Text(), nullable=False),
        sa.Column("external_host_key", sa.String(length=500), nullable=True),
        sa.Column("internal_host", sa.Text(), nullable=False),
        sa.Column("external_host", sa.Text(), nullable=False),
        sa.Column("client_id", sa.String(length=255), nullable=False),
        sa.Column("mode", sa.String(length=100), nullable=False),
        sa.Column("internal_host_ssl_validation", sa.Boolean(), nullable=False),
        sa.Column("skip_path_regex", sa.Text(), nullable=False),
        sa.Column("intercept_header_auth", sa.Boolean(), nullable=False),
        sa.Column("basic_auth_enabled", sa.Boolean(), nullable=False),
        sa.Column("basic_auth_user_attribute", sa.String(length=255), nullable=False),
        sa.Column("basic_auth_password_attribute", sa.String(length=255), nullable=False),
        sa.Column("cookie_domain", sa.String(length=255), nullable=False),
        sa.Column("certificate", db.UID(length=36), nullable=True),
        sa.Column("access_token_validity", sa.String(length=255), nullable=False),
        sa.Column("refresh_token_validity", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(
            ["certificate"],
            ["identity_keypairs.kp_uuid"],
            name=op.f("fk_identity_providers_applicationgateway_certificate"),
            ondelete="RESTRICT",
        ),
        sa.ForeignKeyConstraint(
            ["id"],
            ["identity_providers.id"],
            name=op.f("fk_identity_providers_applicationgateway_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identity_providers_applicationgateway")),
        sa.UniqueConstraint(
            "external_host_key", name=op.f("uq_identity_providers_applicationgateway_external_host_key")
        ),
    )
    with op.batch_alter_table("identity_providers_applicationgateway", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_identity_providers_applicationgateway_certificate"), ["certificate"], unique=False
        )

    op.create_table(
        "identity_providers_oauth",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("redirect_uris", sa.Text(), nullable=False),
        sa.Column("client_type", sa.String(length=100), nullable=False),
        sa.Column("authorization_grant_type", sa.String(length=100), nullable=False),
        sa.Column("client_id", sa.String(length=100), nullable=False),
        sa.Column("client_secret", sa.Text(), nullable=True),
        sa.Column("sub_mode", sa.String(length=100), nullable=False),
        sa.Column("issuer_mode", sa.String(length=100), nullable=False),
        sa.Column("access_code_validity", sa.String(length=255), nullable=False),
        sa.Column("access_token_validity", sa.String(length=255), nullable=False),
        sa.Column("refresh_token_validity", sa.String(length=255), nullable=False),
        sa.Column("refresh_token_threshold", sa.String(length=255), nullable=False),
        sa.Column("include_claims_in_id_token", sa.Boolean(), nullable=False),
        sa.Column("signing_key", db.UID(length=36), nullable=True),
        sa.Column("logout_uri", sa.Text(), nullable=False),
        sa.Column("logout_method", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["id"], ["identity_providers.id"], name=op.f("fk_identity_providers_oauth_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["signing_key"],
            ["identity_keypairs.kp_uuid"],
            name=op.f("fk_identity_providers_oauth_signing_key"),
            ondelete="RESTRICT",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identity_providers_oauth")),
    )
    with op.batch_alter_table("identity_providers_oauth", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_providers_oauth_signing_key"), ["signing_key"], unique=False)

    op.create_table(
        "identity_providers_openid",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("client_type", sa.String(length=100), nullable=False),
        sa.Column("client_id", sa.String(length=255), nullable=False),
        sa.Column("client_secret", sa.Text(), nullable=True),
        sa.Column("response_types", db.Document(), nullable=False),
        sa.Column("jwt_alg", sa.String(length=100), nullable=False),
        sa.Column("reuse_consent", sa.Boolean(), nullable=False),
        sa.Column("require_consent", sa.Boolean(), nullable=False),
        sa.Column("redirect_uris", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("sub_mode", sa.String(length=100), nullable=False),
        sa.Column("issuer_mode", sa.String(length=100), nullable=False),
        sa.Column("access_code_validity", sa.String(length=255), nullable=False),
        sa.Column("access_token_validity", sa.String(length=255), nullable=False),
        sa.Column("refresh_token_validity", sa.String(length=255), nullable=False),
        sa.Column("refresh_token_threshold", sa.String(length=255), nullable=False),
        sa.Column("include_claims_in_id_token", sa.Boolean(), nullable=False),
        sa.Column("signing_key", db.UID(length=36), nullable=True),
        sa.Column("logout_uri", sa.Text(), nullable=False),
        sa.Column("logout_method", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["id"], ["identity_providers.id"], name=op.f("fk_identity_providers_openid_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["signing_key"],
            ["identity_keypairs.kp_uuid"],
            name=op.f("fk_identity_providers_openid_signing_key"),
            ondelete="RESTRICT",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identity_providers_openid")),
    )
    with op.batch_alter_table("identity_providers_openid", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_providers_openid_signing_key"), ["signing_key"], unique=False)

    op.create_table(
        "identity_providers_saml",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("acs_url", sa.String(length=200), nullable=False),
        sa.Column("audience", sa.Text(), nullable=False),
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("assertion_valid_not_before", sa.String(length=255), nullable=False),
        sa.Column("assertion_valid_not_on_or_after", sa.String(length=255), nullable=False),
        sa.Column("session_valid_not_on_or_after", sa.String(length=255), nullable=False),
        sa.Column("digest_algorithm", sa.String(length=100), nullable=False),
        sa.Column("signature_algorithm", sa.String(length=100), nullable=False),
        sa.Column("signing_kp", db.UID(length=36), nullable=True),
        sa.Column("require_signing", sa.Boolean(), nullable=False),
        sa.Column("sp_binding", sa.String(length=100), nullable=False),
        sa.Column("sls_url", sa.String(length=200), nullable=False),
        sa.Column("sls_binding", sa.String(length=100), nullable=False),
        sa.Column("logout_method", sa.String(length=100), nullable=False),
        sa.Column("verification_kp", db.UID(length=36), nullable=True),
        sa.Column("encryption_kp", db.UID(length=36), nullable=True),
        sa.Column("sign_assertion", sa.Boolean(), nullable=False),
        sa.Column("sign_response", sa.Boolean(), nullable=False),
        sa.Column("sign_logout_request", sa.Boolean(), nullable=False),
        sa.Column("sign_logout_response", sa.Boolean(), nullable=False),
        sa.Column("name_id_mapping", db.UID(length=36), nullable=True),
        sa.Column("authn_context_class_ref_mapping", db.UID(length=36), nullable=True),
        sa.Column("default_name_id_policy", sa.String(length=100), nullable=False),
        sa.Column("default_relay_state", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["authn_context_class_ref_mapping"],
            ["identity_property_mappings.pm_uuid"],
            name=op.f("fk_identity_providers_saml_authn_context_class_ref_mapping"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["encryption_kp"],
            ["identity_keypairs.kp_uuid"],
            name=op.f("fk_identity_providers_saml_encryption_kp"),
            ondelete="RESTRICT",
        ),
        sa.ForeignKeyConstraint(
            ["id"], ["identity_providers.id"], name=op.f("fk_identity_providers_saml_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["name_id_mapping"],
            ["identity_property_mappings.pm_uuid"],
            name=op.f("fk_identity_providers_saml_name_id_mapping"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["signing_kp"],
            ["identity_keypairs.kp_uuid"],
            name=op.f("fk_identity_providers_saml_signing_kp"),
            ondelete="RESTRICT",
        ),
        sa.ForeignKeyConstraint(
            ["verification_kp"],
            ["identity_keypairs.kp_uuid"],
            name=op.f("fk_identity_providers_saml_verification_kp"),
            ondelete="RESTRICT",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identity_providers_saml")),
    )
    with op.batch_alter_table("identity_providers_saml", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_identity_providers_saml_authn_context_class_ref_mapping"),
            ["authn_context_class_ref_mapping"],
            unique=False,
        )
        batch_op.create_index(batch_op.f("ix_identity_providers_saml_encryption_kp"), ["encryption_kp"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_identity_providers_saml_name_id_mapping"), ["name_id_mapping"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_identity_providers_saml_signing_kp"), ["signing_kp"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_identity_providers_saml_verification_kp"), ["verification_kp"], unique=False
        )

    op.create_table(
        "identity_sources_ldap",
        sa.Column("pbm_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("server_uri", sa.Text(), nullable=False),
        sa.Column("bind_cn", sa.Text(), nullable=False),
        sa.Column("bind_password", sa.Text(), nullable=True),
        sa.Column("start_tls", sa.Boolean(), nullable=False),
        sa.Column("sni", sa.Boolean(), nullable=False),
        sa.Column("peer_certificate", db.UID(length=36), nullable=True),
        sa.Column("client_certificate", db.UID(length=36), nullable=True),
        sa.Column("base_dn", sa.Text(), nullable=False),
        sa.Column("additional_user_dn", sa.Text(), nullable=False),
        sa.Column("additional_group_dn", sa.Text(), nullable=False),
        sa.Column("user_object_filter", sa.Text(), nullable=False),
        sa.Column("group_object_filter", sa.Text(), nullable=False),
        sa.Column("user_group_membership_field", sa.Text(), nullable=False),
        sa.Column("group_membership_field", sa.Text(), nullable=False),
        sa.Column("user_membership_attribute", sa.Text(), nullable=False),
        sa.Column("lookup_groups_from_user", sa.Boolean(), nullable=False),
        sa.Column("object_uniqueness_field", sa.Text(), nullable=False),
        sa.Column("sync_users", sa.Boolean(), nullable=False),
        sa.Column("sync_groups", sa.Boolean(), nullable=False),
        sa.Column("sync_users_password", sa.Boolean(), nullable=False),
        sa.Column("password_login_update_internal_password", sa.Boolean(), nullable=False),
        sa.Column("delete_not_found_objects", sa.Boolean(), nullable=False),
        sa.Column("sync_parent_group", db.UID(length=36), nullable=True),
        sa.ForeignKeyConstraint(
            ["client_certificate"],
            ["identity_keypairs.kp_uuid"],
            name=op.f("fk_identity_sources_ldap_client_certificate"),
            ondelete="RESTRICT",
        ),
        sa.ForeignKeyConstraint(
            ["pbm_uuid"],
            ["identity_sources.pbm_uuid"],
            name=op.f("fk_identity_sources_ldap_pbm_uuid"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["peer_certificate"],
            ["identity_keypairs.kp_uuid"],
            name=op.f("fk_identity_sources_ldap_peer_certificate"),
            ondelete="RESTRICT",
        ),
        sa.ForeignKeyConstraint(
            ["sync_parent_group"],
            ["identity_groups.group_uuid"],
            name=op.f("fk_identity_sources_ldap_sync_parent_group"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("pbm_uuid", name=op.f("pk_identity_sources_ldap")),
    )
    with op.batch_alter_table("identity_sources_ldap", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_identity_sources_ldap_client_certificate"), ["client_certificate"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_identity_sources_ldap_peer_certificate"), ["peer_certificate"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_identity_sources_ldap_sync_parent_group"), ["sync_parent_group"], unique=False
        )

    op.create_table(
        "identity_sources_ldap_mappings",
        sa.Column("owner", db.UID(length=36), nullable=False),
        sa.Column("other", db.UID(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["other"],
            ["identity_property_mappings.pm_uuid"],
            name=op.f("fk_identity_sources_ldap_mappings_other"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["owner"],
            ["identity_sources.pbm_uuid"],
            name=op.f("fk_identity_sources_ldap_mappings_owner"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("owner", "other", name=op.f("pk_identity_sources_ldap_mappings")),
    )
    with op.batch_alter_table("identity_sources_ldap_mappings", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_sources_ldap_mappings_other"), ["other"], unique=False)

    op.create_table(
        "identity_sources_oauth",
        sa.Column("pbm_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("provider_type", sa.String(length=100), nullable=False),
        sa.Column("request_token_url", sa.String(length=255), nullable=False),
        sa.Column("authorization_url", sa.String(length=255), nullable=False),
        sa.Column("access_token_url", sa.String(length=255), nullable=False),
        sa.Column("profile_url", sa.String(length=255), nullable=False),
        sa.Column("consumer_key", sa.Text(), nullable=False),
        sa.Column("consumer_secret", sa.Text(), nullable=True),
        sa.Column("pkce", sa.String(length=100), nullable=False),
        sa.Column("additional_scopes", sa.Text(), nullable=False),
        sa.Column("oidc_well_known_url", sa.Text(), nullable=False),
        sa.Column("oidc_jwks_url", sa.Text(), nullable=False),
        sa.Column("oidc_jwks", db.Document(), nullable=False),
        sa.Column("authorization_code_auth_method", sa.String(length=100), nullable=False),
        sa.Column("group_matching_mode", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["pbm_uuid"],
            ["identity_sources.pbm_uuid"],
            name=op.f("fk_identity_sources_oauth_pbm_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("pbm_uuid", name=op.f("pk_identity_sources_oauth")),
    )
    op.create_table(
        "identity_sources_saml",
        sa.Column("pbm_uuid", db.UID(length=36), autoincrement=False, nullable=False),
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("sso_url", sa.String(length=200), nullable=False),
        sa.Column("binding_type", sa.String(length=100), nullable=False),
        sa.Column("slo_url", sa.String(length=200), nullable=True),
        sa.Column("temporary_user_delete_after", sa.Text(), nullable=False),
        sa.Column("signing_kp", db.UID(length=36), nullable=False),
        sa.Column("verification_kp", db.UID(length=36), nullable=True),
        sa.Column("encryption_kp", db.UID(length=36), nullable=True),
        sa.Column("name_id_policy", sa.String(length=100), nullable=False),
        sa.Column("pre_authentication_flow", db.UID(length=36), nullable=True),
        sa.Column("allow_idp_initiated", sa.Boolean(), nullable=False),
        sa.Column("force_authn", sa.Boolean(), nullable=False),
        sa.Column("signed_assertion", sa.Boolean(), nullable=False),
        sa.Column("signed_response", sa.Boolean(), nullable=False),
        sa.Column("digest_algorithm", sa.String(length=100), nullable=False),
        sa.Column("signature_algorithm", sa.String(length=100), nullable=False),
        sa.Column("audience_override", sa.Text(), nullable=False),
        sa.Column("group_matching_mode", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["encryption_kp"],
            ["identity_keypairs.kp_uuid"],
            name=op.f("fk_identity_sources_saml_encryption_kp"),
            ondelete="RESTRICT",
        ),
        sa.ForeignKeyConstraint(
            ["pbm_uuid"],
            ["identity_sources.pbm_uuid"],
            name=op.f("fk_identity_sources_saml_pbm_uuid"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["pre_authentication_flow"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_sources_saml_pre_authentication_flow"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["signing_kp"],
            ["identity_keypairs.kp_uuid"],
            name=op.f("fk_identity_sources_saml_signing_kp"),
            ondelete="RESTRICT",
        ),
        sa.ForeignKeyConstraint(
            ["verification_kp"],
            ["identity_keypairs.kp_uuid"],
            name=op.f("fk_identity_sources_saml_verification_kp"),
            ondelete="RESTRICT",
        ),
        sa.PrimaryKeyConstraint("pbm_uuid", name=op.f("pk_identity_sources_saml")),
    )
    with op.batch_alter_table("identity_sources_saml", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_sources_saml_encryption_kp"), ["encryption_kp"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_identity_sources_saml_pre_authentication_flow"), ["pre_authentication_flow"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_identity_sources_saml_signing_kp"), ["signing_kp"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_sources_saml_verification_kp"), ["verification_kp"], unique=False)

    op.create_table(
        "identity_stages_identification_sources",
        sa.Column("owner", db.UID(length=36), nullable=False),
        sa.Column("other", db.UID(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["other"],
            ["identity_sources.pbm_uuid"],
            name=op.f("fk_identity_stages_identification_sources_other"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["owner"],
            ["identity_stages.stage_uuid"],
            name=op.f("fk_identity_stages_identification_sources_owner"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("owner", "other", name=op.f("pk_identity_stages_identification_sources")),
    )
    with op.batch_alter_table("identity_stages_identification_sources", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_stages_identification_sources_other"), ["other"], unique=False)

    with op.batch_alter_table("identity_groups", schema=None) as batch_op:
        batch_op.add_column(sa.Column("updated_at", db.Instant(length=27), nullable=True))
    op.execute("UPDATE identity_groups SET updated_at = created_at")
    with op.batch_alter_table("identity_groups", schema=None) as batch_op:
        batch_op.alter_column("updated_at", existing_type=db.Instant(length=27), nullable=False)

    with op.batch_alter_table("identity_users", schema=None) as batch_op:
        batch_op.create_index("ix_identity_users_created_at", ["created_at", "id"], unique=False)
        batch_op.create_index("ix_identity_users_email", ["email", "id"], unique=False)
        batch_op.create_index("ix_identity_users_name", ["name", "id"], unique=False)
