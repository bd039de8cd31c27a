CREATE TABLE base_id_slots (
    slot SMALLINT NOT NULL,
    holder UUID NOT NULL,
    leased_until TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_base_id_slots PRIMARY KEY (slot)
)

CREATE TABLE base_imports (
    id BIGINT NOT NULL,
    kind VARCHAR(20) NOT NULL,
    source TEXT NOT NULL,
    options JSONB NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_base_imports PRIMARY KEY (id)
)

CREATE INDEX ix_base_imports_source ON base_imports (kind, source)

CREATE TABLE base_import_records (
    origin VARCHAR(64) NOT NULL,
    model VARCHAR(120) NOT NULL,
    "old" VARCHAR(100) NOT NULL,
    "new" VARCHAR(100) NOT NULL,
    CONSTRAINT pk_base_import_records PRIMARY KEY (origin, model, "old")
)

CREATE TABLE base_rate_counts (
    key VARCHAR(200) NOT NULL,
    "window" BIGINT NOT NULL,
    ends BIGINT NOT NULL,
    count INTEGER NOT NULL,
    CONSTRAINT pk_base_rate_counts PRIMARY KEY (key, "window")
)

CREATE INDEX ix_base_rate_counts_ends ON base_rate_counts (ends)

CREATE TABLE base_news (
    id BIGINT NOT NULL,
    name VARCHAR(100) NOT NULL,
    body TEXT NOT NULL,
    CONSTRAINT pk_base_news PRIMARY KEY (id)
)

CREATE TABLE base_backup_runs (
    id BIGINT NOT NULL,
    kind VARCHAR(20) NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE NOT NULL,
    succeeded BOOLEAN NOT NULL,
    target TEXT NOT NULL,
    backup VARCHAR(60) NOT NULL,
    is_encrypted BOOLEAN NOT NULL,
    size BIGINT NOT NULL,
    new_bytes BIGINT NOT NULL,
    words TEXT NOT NULL,
    CONSTRAINT pk_base_backup_runs PRIMARY KEY (id)
)

CREATE INDEX ix_base_backup_runs_kind ON base_backup_runs (kind, started_at)

CREATE TABLE base_jobs (
    id BIGINT NOT NULL,
    kind VARCHAR(100) NOT NULL,
    lane VARCHAR(100) NOT NULL,
    payload TEXT NOT NULL,
    key VARCHAR(200),
    state SMALLINT NOT NULL,
    run_at TIMESTAMP WITH TIME ZONE NOT NULL,
    attempts INTEGER NOT NULL,
    deaths INTEGER DEFAULT 0 NOT NULL,
    held_by UUID,
    held_until TIMESTAMP WITH TIME ZONE,
    error TEXT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    request VARCHAR(100) DEFAULT '' NOT NULL,
    owner VARCHAR(255) DEFAULT '' NOT NULL,
    CONSTRAINT pk_base_jobs PRIMARY KEY (id)
)

CREATE INDEX ix_base_jobs_turns ON base_jobs (lane, state, owner, run_at, id) WHERE lane <> 'quick'

CREATE INDEX ix_base_jobs_suspect ON base_jobs (state, run_at) WHERE deaths > 0

CREATE INDEX ix_base_jobs_held_until ON base_jobs (held_until) WHERE held_until IS NOT NULL

CREATE INDEX ix_base_jobs_claim ON base_jobs (lane, state, run_at, id)

CREATE UNIQUE INDEX uq_base_jobs_key ON base_jobs (kind, key) WHERE key IS NOT NULL

CREATE TABLE base_job_schedules (
    kind VARCHAR(100) NOT NULL,
    next_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_base_job_schedules PRIMARY KEY (kind)
)

CREATE TABLE base_job_workers (
    id UUID NOT NULL,
    name VARCHAR(200) NOT NULL,
    seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_base_job_workers PRIMARY KEY (id)
)

CREATE INDEX ix_base_job_workers_seen_at ON base_job_workers (seen_at)

CREATE TABLE federation_block_lists (
    id BIGINT NOT NULL,
    url TEXT NOT NULL,
    state VARCHAR(10) NOT NULL,
    rows INTEGER NOT NULL,
    offered JSONB,
    digest VARCHAR(64),
    reason TEXT,
    error TEXT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    fetched_at TIMESTAMP WITH TIME ZONE,
    applied_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_federation_block_lists PRIMARY KEY (id),
    CONSTRAINT uq_federation_block_lists_url UNIQUE (url)
)

CREATE TABLE federation_outgoing (
    id BIGINT NOT NULL,
    sender BIGINT,
    activity TEXT NOT NULL,
    with_previous_key BOOLEAN NOT NULL,
    made_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_federation_outgoing PRIMARY KEY (id)
)

CREATE TABLE federation_hosts (
    domain TEXT NOT NULL,
    scheme VARCHAR(16),
    failures INTEGER NOT NULL,
    failing_days SMALLINT NOT NULL,
    is_slow BOOLEAN NOT NULL,
    failed_at TIMESTAMP WITH TIME ZONE,
    error TEXT,
    succeeded_at TIMESTAMP WITH TIME ZONE,
    paused_until TIMESTAMP WITH TIME ZONE,
    unavailable_since TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_federation_hosts PRIMARY KEY (domain)
)

CREATE TABLE federation_ended (
    uri TEXT NOT NULL,
    actor TEXT NOT NULL,
    until TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_federation_ended PRIMARY KEY (uri, actor)
)

CREATE INDEX ix_federation_ended_until ON federation_ended (until)

CREATE TABLE federation_inbox (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    activity_id TEXT,
    delivered_to BIGINT NOT NULL,
    body TEXT NOT NULL,
    synchronization TEXT,
    state SMALLINT NOT NULL,
    signed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    received_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_federation_inbox PRIMARY KEY (id),
    CONSTRAINT uq_federation_inbox_account_id_activity_id_delivered_to UNIQUE (account_id, activity_id, delivered_to)
)

CREATE INDEX ix_federation_inbox_state ON federation_inbox (state, id)

CREATE TABLE federation_relays (
    id BIGINT NOT NULL,
    inbox TEXT NOT NULL,
    state VARCHAR(10) NOT NULL,
    follow_uri TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    answered_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_federation_relays PRIMARY KEY (id),
    CONSTRAINT uq_federation_relays_inbox UNIQUE (inbox),
    CONSTRAINT uq_federation_relays_follow_uri UNIQUE (follow_uri)
)

CREATE TABLE identity_users (
    id SERIAL NOT NULL,
    uuid UUID NOT NULL,
    username VARCHAR(150) NOT NULL,
    username_key VARCHAR(300) NOT NULL,
    name TEXT NOT NULL,
    email VARCHAR(254) NOT NULL,
    email_key VARCHAR(254) NOT NULL,
    password TEXT,
    is_active BOOLEAN NOT NULL,
    role VARCHAR(20) NOT NULL,
    type VARCHAR(30) NOT NULL,
    path TEXT NOT NULL,
    attributes JSONB NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_login_at TIMESTAMP WITH TIME ZONE,
    password_changed_at TIMESTAMP WITH TIME ZONE,
    confirmed_at TIMESTAMP WITH TIME ZONE,
    approved_at TIMESTAMP WITH TIME ZONE,
    owned_email_key VARCHAR(254),
    email_verified_at TIMESTAMP WITH TIME ZONE,
    expires TIMESTAMP WITH TIME ZONE,
    last_seen_at TIMESTAMP WITH TIME ZONE,
    subject VARCHAR(64),
    CONSTRAINT pk_identity_users PRIMARY KEY (id),
    CONSTRAINT uq_identity_users_uuid UNIQUE (uuid),
    CONSTRAINT uq_identity_users_username_key UNIQUE (username_key)
)

CREATE INDEX ix_identity_users_last_seen_at ON identity_users (last_seen_at, id)

CREATE INDEX ix_identity_users_expires ON identity_users (expires) WHERE expires IS NOT NULL

CREATE INDEX ix_identity_users_name ON identity_users (name, id)

CREATE INDEX ix_identity_users_role ON identity_users (role)

CREATE INDEX ix_identity_users_disabled ON identity_users (id) WHERE NOT is_active

CREATE INDEX ix_identity_users_email ON identity_users (email, id)

CREATE INDEX ix_identity_users_waiting ON identity_users (id) WHERE approved_at IS NULL

CREATE INDEX ix_identity_users_unconfirmed ON identity_users (id) WHERE confirmed_at IS NULL

CREATE INDEX ix_identity_users_created_at ON identity_users (created_at, id)

CREATE UNIQUE INDEX ix_identity_users_owned_email_key ON identity_users (owned_email_key)

CREATE INDEX ix_identity_users_members ON identity_users (id, expires) WHERE is_active AND type = 'internal' AND confirmed_at IS NOT NULL AND approved_at IS NOT NULL

CREATE INDEX ix_identity_users_email_key ON identity_users (email_key)

CREATE INDEX ix_identity_users_username ON identity_users (username, id)

CREATE TABLE identity_setup (
    id SMALLINT NOT NULL,
    token_hash VARCHAR(64) NOT NULL,
    made_at TIMESTAMP WITH TIME ZONE NOT NULL,
    used_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_identity_setup PRIMARY KEY (id)
)

CREATE TABLE identity_policy_targets (
    pbm_uuid UUID NOT NULL,
    model VARCHAR(60) NOT NULL,
    CONSTRAINT pk_identity_policy_targets PRIMARY KEY (pbm_uuid)
)

CREATE TABLE identity_groups (
    group_uuid UUID NOT NULL,
    name VARCHAR(80) NOT NULL,
    parent UUID,
    is_superuser BOOLEAN NOT NULL,
    attributes JSONB NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_groups PRIMARY KEY (group_uuid),
    CONSTRAINT uq_identity_groups_name UNIQUE (name),
    CONSTRAINT fk_identity_groups_parent FOREIGN KEY(parent) REFERENCES identity_groups (group_uuid) ON DELETE RESTRICT
)

CREATE INDEX ix_identity_groups_parent ON identity_groups (parent)

CREATE TABLE identity_roles (
    role_uuid UUID NOT NULL,
    name VARCHAR(150) NOT NULL,
    permissions JSONB NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_roles PRIMARY KEY (role_uuid),
    CONSTRAINT uq_identity_roles_name UNIQUE (name)
)

CREATE TABLE identity_policies (
    policy_uuid UUID NOT NULL,
    kind VARCHAR(40) NOT NULL,
    name VARCHAR(255) NOT NULL,
    execution_logging BOOLEAN NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_policies PRIMARY KEY (policy_uuid),
    CONSTRAINT uq_identity_policies_name UNIQUE (name)
)

CREATE INDEX ix_identity_policies_kind ON identity_policies (kind)

CREATE TABLE identity_reputation (
    reputation_uuid UUID NOT NULL,
    identifier VARCHAR(255) NOT NULL,
    ip VARCHAR(45) NOT NULL,
    score INTEGER NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_reputation PRIMARY KEY (reputation_uuid),
    CONSTRAINT uq_identity_reputation_identifier_ip UNIQUE (identifier, ip)
)

CREATE INDEX ix_identity_reputation_ip ON identity_reputation (ip)

CREATE TABLE identity_stages (
    stage_uuid UUID NOT NULL,
    kind VARCHAR(40) NOT NULL,
    name VARCHAR(255) NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_stages PRIMARY KEY (stage_uuid),
    CONSTRAINT uq_identity_stages_name UNIQUE (name)
)

CREATE INDEX ix_identity_stages_kind ON identity_stages (kind)

CREATE TABLE identity_blueprints (
    instance_uuid UUID NOT NULL,
    name VARCHAR(200) NOT NULL,
    path TEXT NOT NULL,
    content TEXT NOT NULL,
    context JSONB NOT NULL,
    enabled BOOLEAN NOT NULL,
    status VARCHAR(100) NOT NULL,
    last_applied TIMESTAMP WITH TIME ZONE,
    last_applied_hash TEXT NOT NULL,
    managed_models JSONB NOT NULL,
    metadata JSONB NOT NULL,
    log JSONB NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_blueprints PRIMARY KEY (instance_uuid),
    CONSTRAINT uq_identity_blueprints_name UNIQUE (name)
)

CREATE TABLE base_settings (
    name VARCHAR(60) NOT NULL,
    value JSONB NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_base_settings PRIMARY KEY (name)
)

CREATE TABLE identity_keypairs (
    kp_uuid UUID NOT NULL,
    name VARCHAR(255) NOT NULL,
    certificate_data TEXT NOT NULL,
    key_data TEXT,
    managed VARCHAR(255),
    fingerprint_sha256 VARCHAR(95),
    fingerprint_sha1 VARCHAR(59),
    cert_expiry TIMESTAMP WITH TIME ZONE,
    cert_subject TEXT,
    private_key_available BOOLEAN NOT NULL,
    key_type VARCHAR(100),
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_keypairs PRIMARY KEY (kp_uuid),
    CONSTRAINT uq_identity_keypairs_name UNIQUE (name),
    CONSTRAINT uq_identity_keypairs_managed UNIQUE (managed)
)

CREATE TABLE identity_property_mappings (
    pm_uuid UUID NOT NULL,
    kind VARCHAR(40) NOT NULL,
    name VARCHAR(255) NOT NULL,
    expression TEXT NOT NULL,
    managed VARCHAR(255),
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_property_mappings PRIMARY KEY (pm_uuid),
    CONSTRAINT uq_identity_property_mappings_managed UNIQUE (managed)
)

CREATE INDEX ix_identity_property_mappings_kind ON identity_property_mappings (kind)

CREATE TABLE identity_prompts (
    prompt_uuid UUID NOT NULL,
    field_key VARCHAR(50) NOT NULL,
    label TEXT NOT NULL,
    type VARCHAR(100) NOT NULL,
    required BOOLEAN NOT NULL,
    placeholder TEXT NOT NULL,
    "order" INTEGER NOT NULL,
    name VARCHAR(255),
    initial_value TEXT NOT NULL,
    sub_text TEXT NOT NULL,
    placeholder_expression BOOLEAN NOT NULL,
    initial_value_expression BOOLEAN NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_prompts PRIMARY KEY (prompt_uuid),
    CONSTRAINT uq_identity_prompts_name UNIQUE (name)
)

CREATE TABLE identity_email_blocks (
    block_uuid UUID NOT NULL,
    kind VARCHAR(100) NOT NULL,
    value VARCHAR(254) NOT NULL,
    comment TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_email_blocks PRIMARY KEY (block_uuid),
    CONSTRAINT uq_identity_email_blocks_value UNIQUE (value)
)

CREATE TABLE identity_signup_modes (
    id INTEGER NOT NULL,
    approval_since TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_signup_modes PRIMARY KEY (id)
)

CREATE TABLE identity_oauth_visits (
    visit_uuid UUID NOT NULL,
    client_id VARCHAR(255) NOT NULL,
    provider_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    session_uuid UUID,
    sid VARCHAR(64) NOT NULL,
    sub TEXT NOT NULL,
    issuer TEXT NOT NULL,
    client_ip VARCHAR(45) NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_oauth_visits PRIMARY KEY (visit_uuid),
    CONSTRAINT uq_identity_oauth_visits_client_id_user_id_sid UNIQUE (client_id, user_id, sid)
)

CREATE INDEX ix_identity_oauth_visits_session_uuid ON identity_oauth_visits (session_uuid)

CREATE INDEX ix_identity_oauth_visits_user_id ON identity_oauth_visits (user_id)

CREATE INDEX ix_identity_oauth_visits_provider_id ON identity_oauth_visits (provider_id)

CREATE TABLE identity_oauth_assertions (
    jti_hash VARCHAR(64) NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    user_id INTEGER,
    CONSTRAINT pk_identity_oauth_assertions PRIMARY KEY (jti_hash)
)

CREATE INDEX ix_identity_oauth_assertions_expires_at ON identity_oauth_assertions (expires_at)

CREATE TABLE identity_oauth_keys (
    kid VARCHAR(64) NOT NULL,
    alg VARCHAR(10) NOT NULL,
    private_key TEXT NOT NULL,
    public_jwk JSONB NOT NULL,
    signs_from TIMESTAMP WITH TIME ZONE NOT NULL,
    signs_until TIMESTAMP WITH TIME ZONE NOT NULL,
    gone_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_oauth_keys PRIMARY KEY (kid)
)

CREATE INDEX ix_identity_oauth_keys_alg ON identity_oauth_keys (alg, signs_from)

CREATE TABLE identity_saml_sessions (
    saml_session_uuid UUID NOT NULL,
    provider_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    session_uuid UUID NOT NULL,
    session_index VARCHAR(64) NOT NULL,
    name_id TEXT NOT NULL,
    name_id_format VARCHAR(100) NOT NULL,
    issuer TEXT NOT NULL,
    client_ip VARCHAR(45) NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_saml_sessions PRIMARY KEY (saml_session_uuid),
    CONSTRAINT uq_identity_saml_sessions_session_index_provider_id UNIQUE (session_index, provider_id)
)

CREATE INDEX ix_identity_saml_sessions_session_uuid ON identity_saml_sessions (session_uuid)

CREATE INDEX ix_identity_saml_sessions_provider_id ON identity_saml_sessions (provider_id)

CREATE INDEX ix_identity_saml_sessions_user_id ON identity_saml_sessions (user_id)

CREATE INDEX ix_identity_saml_sessions_expires_at ON identity_saml_sessions (expires_at)

CREATE TABLE social_webhooks (
    id BIGINT NOT NULL,
    url TEXT NOT NULL,
    events JSONB NOT NULL,
    secret TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    set_up_by BIGINT,
    CONSTRAINT pk_social_webhooks PRIMARY KEY (id),
    CONSTRAINT uq_social_webhooks_url UNIQUE (url)
)

CREATE TABLE social_server_blocks (
    id BIGINT NOT NULL,
    domain TEXT NOT NULL,
    severity VARCHAR(10) NOT NULL,
    reject_media BOOLEAN NOT NULL,
    reject_reports BOOLEAN NOT NULL,
    obfuscate BOOLEAN NOT NULL,
    private_comment TEXT,
    public_comment TEXT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_server_blocks PRIMARY KEY (id),
    CONSTRAINT uq_social_server_blocks_domain UNIQUE (domain)
)

CREATE TABLE social_server_allows (
    id BIGINT NOT NULL,
    domain TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_server_allows PRIMARY KEY (id),
    CONSTRAINT uq_social_server_allows_domain UNIQUE (domain)
)

CREATE TABLE social_federation_mode (
    id BIGINT NOT NULL,
    mode VARCHAR(10) NOT NULL,
    CONSTRAINT pk_social_federation_mode PRIMARY KEY (id)
)

CREATE TABLE social_email_domain_blocks (
    id BIGINT NOT NULL,
    domain TEXT NOT NULL,
    allow_with_approval BOOLEAN NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_email_domain_blocks PRIMARY KEY (id),
    CONSTRAINT uq_social_email_domain_blocks_domain UNIQUE (domain)
)

CREATE TABLE social_email_domain_tries (
    domain TEXT NOT NULL,
    day VARCHAR(10) NOT NULL,
    client_ip VARCHAR(45) NOT NULL,
    uses INTEGER NOT NULL,
    CONSTRAINT pk_social_email_domain_tries PRIMARY KEY (domain, day, client_ip)
)

CREATE TABLE social_ip_blocks (
    id BIGINT NOT NULL,
    network VARCHAR(50) NOT NULL,
    severity VARCHAR(30) NOT NULL,
    comment TEXT NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_ip_blocks PRIMARY KEY (id),
    CONSTRAINT uq_social_ip_blocks_network UNIQUE (network)
)

CREATE TABLE social_canonical_email_blocks (
    id BIGINT NOT NULL,
    hash VARCHAR(64) NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_canonical_email_blocks PRIMARY KEY (id),
    CONSTRAINT uq_social_canonical_email_blocks_hash UNIQUE (hash)
)

CREATE TABLE social_announcements (
    id BIGINT NOT NULL,
    text TEXT NOT NULL,
    all_day BOOLEAN NOT NULL,
    starts_at TIMESTAMP WITH TIME ZONE,
    ends_at TIMESTAMP WITH TIME ZONE,
    scheduled_at TIMESTAMP WITH TIME ZONE,
    published BOOLEAN NOT NULL,
    published_at TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    mailed_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_social_announcements PRIMARY KEY (id)
)

CREATE TABLE social_emojis (
    id BIGINT NOT NULL,
    shortcode TEXT NOT NULL,
    domain TEXT NOT NULL,
    file TEXT NOT NULL,
    static_file TEXT NOT NULL,
    category TEXT,
    visible_in_picker BOOLEAN NOT NULL,
    disabled BOOLEAN NOT NULL,
    uri TEXT,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_emojis PRIMARY KEY (id),
    CONSTRAINT uq_social_emojis_shortcode_domain UNIQUE (shortcode, domain)
)

CREATE TABLE social_feeds (
    owner BIGINT NOT NULL,
    status_id BIGINT NOT NULL,
    original_id BIGINT NOT NULL,
    author_id BIGINT NOT NULL,
    by_tag BOOLEAN NOT NULL,
    CONSTRAINT pk_social_feeds PRIMARY KEY (owner, status_id)
)

CREATE INDEX ix_social_feeds_status_id ON social_feeds (status_id)

CREATE TABLE social_rules (
    id BIGINT NOT NULL,
    text TEXT NOT NULL,
    hint TEXT NOT NULL,
    position INTEGER NOT NULL,
    deleted_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_social_rules PRIMARY KEY (id)
)

CREATE TABLE social_pages (
    kind VARCHAR(20) NOT NULL,
    effective_date VARCHAR(10) NOT NULL,
    text TEXT NOT NULL,
    changelog TEXT NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_pages PRIMARY KEY (kind, effective_date)
)

CREATE TABLE social_days (
    day VARCHAR(10) NOT NULL,
    name VARCHAR(20) NOT NULL,
    count INTEGER NOT NULL,
    CONSTRAINT pk_social_days PRIMARY KEY (day, name)
)

CREATE TABLE social_presence (
    day VARCHAR(10) NOT NULL,
    user_id INTEGER NOT NULL,
    CONSTRAINT pk_social_presence PRIMARY KEY (day, user_id)
)

CREATE TABLE social_warning_presets (
    id BIGINT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_warning_presets PRIMARY KEY (id)
)

CREATE TABLE social_roles (
    id BIGINT NOT NULL,
    name TEXT NOT NULL,
    color VARCHAR(7) NOT NULL,
    position INTEGER NOT NULL,
    permissions BIGINT NOT NULL,
    highlighted BOOLEAN NOT NULL,
    base VARCHAR(20) NOT NULL,
    is_shipped BOOLEAN NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_roles PRIMARY KEY (id)
)

CREATE TABLE social_cards (
    id BIGINT NOT NULL,
    url_hash VARCHAR(64) NOT NULL,
    url TEXT NOT NULL,
    data JSONB NOT NULL,
    creator_id BIGINT,
    fetched_at TIMESTAMP WITH TIME ZONE NOT NULL,
    image_source TEXT DEFAULT '' NOT NULL,
    image_bytes BIGINT DEFAULT '0' NOT NULL,
    looked_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_social_cards PRIMARY KEY (id),
    CONSTRAINT uq_social_cards_url_hash UNIQUE (url_hash)
)

CREATE INDEX ix_social_cards_creator_id ON social_cards (creator_id)

CREATE INDEX ix_social_cards_looked_at ON social_cards (looked_at, image_bytes) WHERE looked_at IS NOT NULL

CREATE TABLE social_tags (
    id BIGINT NOT NULL,
    name TEXT NOT NULL,
    display TEXT NOT NULL,
    usable BOOLEAN NOT NULL,
    listable BOOLEAN NOT NULL,
    trendable BOOLEAN,
    last_status_at TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    reviewed_at TIMESTAMP WITH TIME ZONE,
    requested_review_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_social_tags PRIMARY KEY (id),
    CONSTRAINT uq_social_tags_name UNIQUE (name)
)

CREATE TABLE social_trend_settings (
    id INTEGER NOT NULL,
    enabled BOOLEAN NOT NULL,
    trendable_by_default BOOLEAN NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_trend_settings PRIMARY KEY (id)
)

CREATE TABLE social_link_publishers (
    id BIGINT NOT NULL,
    domain TEXT NOT NULL,
    trendable BOOLEAN,
    reviewed_at TIMESTAMP WITH TIME ZONE,
    requested_review_at TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_link_publishers PRIMARY KEY (id),
    CONSTRAINT uq_social_link_publishers_domain UNIQUE (domain)
)

CREATE TABLE web_levels (
    day VARCHAR(10) NOT NULL,
    name VARCHAR(20) NOT NULL,
    most BIGINT NOT NULL,
    CONSTRAINT pk_web_levels PRIMARY KEY (day, name)
)

CREATE TABLE base_import_marks (
    import_id BIGINT NOT NULL,
    step VARCHAR(60) NOT NULL,
    place BIGINT NOT NULL,
    taken BIGINT NOT NULL,
    CONSTRAINT pk_base_import_marks PRIMARY KEY (import_id, step),
    CONSTRAINT fk_base_import_marks_import_id FOREIGN KEY(import_id) REFERENCES base_imports (id) ON DELETE CASCADE
)

CREATE TABLE base_import_left_out (
    id BIGINT NOT NULL,
    import_id BIGINT NOT NULL,
    step VARCHAR(60) NOT NULL,
    name TEXT NOT NULL,
    reason TEXT NOT NULL,
    CONSTRAINT pk_base_import_left_out PRIMARY KEY (id),
    CONSTRAINT fk_base_import_left_out_import_id FOREIGN KEY(import_id) REFERENCES base_imports (id) ON DELETE CASCADE
)

CREATE INDEX ix_base_import_left_out_import_id ON base_import_left_out (import_id)

CREATE TABLE federation_block_list_entries (
    list_id BIGINT NOT NULL,
    domain TEXT NOT NULL,
    severity VARCHAR(10) NOT NULL,
    reject_media BOOLEAN NOT NULL,
    reject_reports BOOLEAN NOT NULL,
    obfuscate BOOLEAN NOT NULL,
    public_comment TEXT,
    block_id BIGINT NOT NULL,
    applied VARCHAR(64) NOT NULL,
    CONSTRAINT pk_federation_block_list_entries PRIMARY KEY (list_id, domain),
    CONSTRAINT fk_federation_block_list_entries_list_id FOREIGN KEY(list_id) REFERENCES federation_block_lists (id) ON DELETE CASCADE
)

CREATE INDEX ix_federation_block_list_entries_domain ON federation_block_list_entries (domain)

CREATE TABLE federation_deliveries (
    id BIGINT NOT NULL,
    outgoing_id BIGINT NOT NULL,
    domain TEXT NOT NULL,
    inbox TEXT NOT NULL,
    sender BIGINT NOT NULL,
    subject BIGINT DEFAULT 0 NOT NULL,
    headers JSONB,
    attempts SMALLINT NOT NULL,
    retries SMALLINT NOT NULL,
    even_if_dead BOOLEAN NOT NULL,
    next_at TIMESTAMP WITH TIME ZONE NOT NULL,
    held_by UUID,
    held_until TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_federation_deliveries PRIMARY KEY (id),
    CONSTRAINT fk_federation_deliveries_outgoing_id FOREIGN KEY(outgoing_id) REFERENCES federation_outgoing (id) ON DELETE CASCADE
)

CREATE INDEX ix_federation_deliveries_domain ON federation_deliveries (domain, next_at)

CREATE INDEX ix_federation_deliveries_tried ON federation_deliveries (inbox) WHERE attempts > 0

CREATE INDEX ix_federation_deliveries_outgoing_id ON federation_deliveries (outgoing_id)

CREATE TABLE identity_events (
    event_uuid UUID NOT NULL,
    user_id INTEGER,
    username VARCHAR(150) NOT NULL,
    action VARCHAR(60) NOT NULL,
    app VARCHAR(100) NOT NULL,
    context JSONB NOT NULL,
    client_ip VARCHAR(45),
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_events PRIMARY KEY (event_uuid),
    CONSTRAINT fk_identity_events_user_id FOREIGN KEY(user_id) REFERENCES identity_users (id) ON DELETE SET NULL
)

CREATE INDEX ix_identity_events_logins ON identity_events (user_id, created_at) WHERE action = 'login'

CREATE INDEX ix_identity_events_created_at ON identity_events (created_at, event_uuid)

CREATE INDEX ix_identity_events_action ON identity_events (action, created_at)

CREATE INDEX ix_identity_events_user ON identity_events (user_id, created_at)

CREATE INDEX ix_identity_events_expires_at ON identity_events (expires_at)

CREATE TABLE identity_sessions (
    session_uuid UUID NOT NULL,
    key_hash VARCHAR(64) NOT NULL,
    user_id INTEGER,
    auth_method VARCHAR(40) NOT NULL,
    keeps BOOLEAN NOT NULL,
    last_ip VARCHAR(45) NOT NULL,
    last_user_agent VARCHAR(300) NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_used_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    network_binding VARCHAR(40),
    geoip_binding VARCHAR(40),
    CONSTRAINT pk_identity_sessions PRIMARY KEY (session_uuid),
    CONSTRAINT uq_identity_sessions_key_hash UNIQUE (key_hash),
    CONSTRAINT fk_identity_sessions_user_id FOREIGN KEY(user_id) REFERENCES identity_users (id) ON DELETE CASCADE
)

CREATE INDEX ix_identity_sessions_expires_at ON identity_sessions (expires_at)

CREATE INDEX ix_identity_sessions_user_id ON identity_sessions (user_id)

CREATE TABLE identity_known_addresses (
    user_id INTEGER NOT NULL,
    address VARCHAR(64) NOT NULL,
    last_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_known_addresses PRIMARY KEY (user_id, address),
    CONSTRAINT fk_identity_known_addresses_user_id FOREIGN KEY(user_id) REFERENCES identity_users (id) ON DELETE CASCADE
)

CREATE INDEX ix_identity_known_addresses_last_at ON identity_known_addresses (last_at)

CREATE TABLE identity_messages (
    id BIGINT NOT NULL,
    user_id INTEGER NOT NULL,
    level SMALLINT NOT NULL,
    message TEXT NOT NULL,
    extra_tags VARCHAR(200) NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_messages PRIMARY KEY (id),
    CONSTRAINT fk_identity_messages_user_id FOREIGN KEY(user_id) REFERENCES identity_users (id) ON DELETE CASCADE
)

CREATE INDEX ix_identity_messages_user_id ON identity_messages (user_id, id)

CREATE TABLE identity_group_members (
    group_uuid UUID NOT NULL,
    user_id INTEGER NOT NULL,
    expires TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_identity_group_members PRIMARY KEY (group_uuid, user_id),
    CONSTRAINT fk_identity_group_members_group_uuid FOREIGN KEY(group_uuid) REFERENCES identity_groups (group_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_group_members_user_id FOREIGN KEY(user_id) REFERENCES identity_users (id) ON DELETE CASCADE
)

CREATE INDEX ix_identity_group_members_expires ON identity_group_members (expires) WHERE expires IS NOT NULL

CREATE INDEX ix_identity_group_members_user_id ON identity_group_members (user_id)

CREATE TABLE identity_group_roles (
    owner UUID NOT NULL,
    other UUID NOT NULL,
    CONSTRAINT pk_identity_group_roles PRIMARY KEY (owner, other),
    CONSTRAINT fk_identity_group_roles_owner FOREIGN KEY(owner) REFERENCES identity_groups (group_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_group_roles_other FOREIGN KEY(other) REFERENCES identity_roles (role_uuid) ON DELETE CASCADE
)

CREATE INDEX ix_identity_group_roles_other ON identity_group_roles (other)

CREATE TABLE identity_user_roles (
    owner INTEGER NOT NULL,
    other UUID NOT NULL,
    CONSTRAINT pk_identity_user_roles PRIMARY KEY (owner, other),
    CONSTRAINT fk_identity_user_roles_owner FOREIGN KEY(owner) REFERENCES identity_users (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_user_roles_other FOREIGN KEY(other) REFERENCES identity_roles (role_uuid) ON DELETE CASCADE
)

CREATE INDEX ix_identity_user_roles_other ON identity_user_roles (other)

CREATE TABLE identity_policy_bindings (
    policy_binding_uuid UUID NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    gone_at TIMESTAMP WITH TIME ZONE,
    policy UUID,
    "group" UUID,
    "user" INTEGER,
    target UUID NOT NULL,
    negate BOOLEAN NOT NULL,
    enabled BOOLEAN NOT NULL,
    "order" INTEGER NOT NULL,
    timeout INTEGER NOT NULL,
    failure_result BOOLEAN NOT NULL,
    expires TIMESTAMP WITH TIME ZONE,
    gone_kind VARCHAR(100),
    gone_name VARCHAR(255),
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_policy_bindings PRIMARY KEY (policy_binding_uuid),
    CONSTRAINT fk_identity_policy_bindings_policy FOREIGN KEY(policy) REFERENCES identity_policies (policy_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_policy_bindings_group FOREIGN KEY("group") REFERENCES identity_groups (group_uuid) ON DELETE SET NULL,
    CONSTRAINT fk_identity_policy_bindings_user FOREIGN KEY("user") REFERENCES identity_users (id) ON DELETE SET NULL,
    CONSTRAINT fk_identity_policy_bindings_target FOREIGN KEY(target) REFERENCES identity_policy_targets (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT uq_identity_policy_bindings_policy_target_order UNIQUE (policy, target, "order")
)

CREATE INDEX ix_identity_policy_bindings_group ON identity_policy_bindings ("group")

CREATE INDEX ix_identity_policy_bindings_policy ON identity_policy_bindings (policy)

CREATE INDEX ix_identity_policy_bindings_user ON identity_policy_bindings ("user")

CREATE INDEX ix_identity_policy_bindings_target ON identity_policy_bindings (target)

CREATE INDEX ix_identity_policy_bindings_expires ON identity_policy_bindings (expires) WHERE expires IS NOT NULL

CREATE INDEX ix_identity_policy_bindings_gone ON identity_policy_bindings (policy_binding_uuid) WHERE policy IS NULL AND "group" IS NULL AND "user" IS NULL AND gone_at IS NULL

CREATE TABLE identity_policies_breachcheck (
    policy_uuid UUID NOT NULL,
    allowed_count INTEGER NOT NULL,
    password_field TEXT NOT NULL,
    CONSTRAINT pk_identity_policies_breachcheck PRIMARY KEY (policy_uuid),
    CONSTRAINT fk_identity_policies_breachcheck_policy_uuid FOREIGN KEY(policy_uuid) REFERENCES identity_policies (policy_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_policies_dummy (
    policy_uuid UUID NOT NULL,
    result BOOLEAN NOT NULL,
    wait_min INTEGER NOT NULL,
    wait_max INTEGER NOT NULL,
    CONSTRAINT pk_identity_policies_dummy PRIMARY KEY (policy_uuid),
    CONSTRAINT fk_identity_policies_dummy_policy_uuid FOREIGN KEY(policy_uuid) REFERENCES identity_policies (policy_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_policies_event_matcher (
    policy_uuid UUID NOT NULL,
    action VARCHAR(60),
    client_ip VARCHAR(50),
    app VARCHAR(100),
    model VARCHAR(100),
    query VARCHAR(200),
    CONSTRAINT pk_identity_policies_event_matcher PRIMARY KEY (policy_uuid),
    CONSTRAINT fk_identity_policies_event_matcher_policy_uuid FOREIGN KEY(policy_uuid) REFERENCES identity_policies (policy_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_factors (
    device_uuid UUID NOT NULL,
    user_id INTEGER NOT NULL,
    kind VARCHAR(20) NOT NULL,
    name VARCHAR(150) NOT NULL,
    confirmed BOOLEAN NOT NULL,
    failures INTEGER NOT NULL,
    failed_at TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_used_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_identity_factors PRIMARY KEY (device_uuid),
    CONSTRAINT fk_identity_factors_user_id FOREIGN KEY(user_id) REFERENCES identity_users (id) ON DELETE CASCADE
)

CREATE INDEX ix_identity_factors_user_id ON identity_factors (user_id)

CREATE TABLE identity_policies_expression (
    policy_uuid UUID NOT NULL,
    expression TEXT NOT NULL,
    CONSTRAINT pk_identity_policies_expression PRIMARY KEY (policy_uuid),
    CONSTRAINT fk_identity_policies_expression_policy_uuid FOREIGN KEY(policy_uuid) REFERENCES identity_policies (policy_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_policies_geoip (
    policy_uuid UUID NOT NULL,
    asns JSONB NOT NULL,
    countries JSONB NOT NULL,
    check_history_distance BOOLEAN NOT NULL,
    history_max_distance_km INTEGER NOT NULL,
    distance_tolerance_km INTEGER NOT NULL,
    history_login_count INTEGER NOT NULL,
    check_impossible_travel BOOLEAN NOT NULL,
    impossible_tolerance_km INTEGER NOT NULL,
    CONSTRAINT pk_identity_policies_geoip PRIMARY KEY (policy_uuid),
    CONSTRAINT fk_identity_policies_geoip_policy_uuid FOREIGN KEY(policy_uuid) REFERENCES identity_policies (policy_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_policies_group_membership (
    policy_uuid UUID NOT NULL,
    "group" UUID,
    CONSTRAINT pk_identity_policies_group_membership PRIMARY KEY (policy_uuid),
    CONSTRAINT fk_identity_policies_group_membership_policy_uuid FOREIGN KEY(policy_uuid) REFERENCES identity_policies (policy_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_policies_group_membership_group FOREIGN KEY("group") REFERENCES identity_groups (group_uuid) ON DELETE SET NULL
)

CREATE INDEX ix_identity_policies_group_membership_group ON identity_policies_group_membership ("group")

CREATE TABLE identity_policies_password (
    policy_uuid UUID NOT NULL,
    amount_uppercase INTEGER NOT NULL,
    amount_lowercase INTEGER NOT NULL,
    amount_symbols INTEGER NOT NULL,
    amount_digits INTEGER NOT NULL,
    length_min INTEGER NOT NULL,
    symbol_charset TEXT NOT NULL,
    error_message TEXT NOT NULL,
    password_field TEXT NOT NULL,
    check_static_rules BOOLEAN NOT NULL,
    check_have_i_been_pwned BOOLEAN NOT NULL,
    hibp_allowed_count INTEGER NOT NULL,
    check_zxcvbn BOOLEAN NOT NULL,
    zxcvbn_score_threshold INTEGER NOT NULL,
    CONSTRAINT pk_identity_policies_password PRIMARY KEY (policy_uuid),
    CONSTRAINT fk_identity_policies_password_policy_uuid FOREIGN KEY(policy_uuid) REFERENCES identity_policies (policy_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_policies_passwordexpiry (
    policy_uuid UUID NOT NULL,
    days INTEGER NOT NULL,
    deny_only BOOLEAN NOT NULL,
    CONSTRAINT pk_identity_policies_passwordexpiry PRIMARY KEY (policy_uuid),
    CONSTRAINT fk_identity_policies_passwordexpiry_policy_uuid FOREIGN KEY(policy_uuid) REFERENCES identity_policies (policy_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_policies_reputation (
    policy_uuid UUID NOT NULL,
    check_ip BOOLEAN NOT NULL,
    check_username BOOLEAN NOT NULL,
    threshold INTEGER NOT NULL,
    CONSTRAINT pk_identity_policies_reputation PRIMARY KEY (policy_uuid),
    CONSTRAINT fk_identity_policies_reputation_policy_uuid FOREIGN KEY(policy_uuid) REFERENCES identity_policies (policy_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_flows (
    flow_uuid UUID NOT NULL,
    name TEXT NOT NULL,
    slug VARCHAR(50) NOT NULL,
    title TEXT NOT NULL,
    designation VARCHAR(100) NOT NULL,
    background TEXT NOT NULL,
    authentication VARCHAR(100) NOT NULL,
    denied_action VARCHAR(100) NOT NULL,
    policy_engine_mode VARCHAR(100) NOT NULL,
    compatibility_mode BOOLEAN NOT NULL,
    layout VARCHAR(100) NOT NULL,
    pbm_uuid UUID NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_flows PRIMARY KEY (flow_uuid),
    CONSTRAINT uq_identity_flows_slug UNIQUE (slug),
    CONSTRAINT uq_identity_flows_pbm_uuid UNIQUE (pbm_uuid),
    CONSTRAINT fk_identity_flows_pbm_uuid FOREIGN KEY(pbm_uuid) REFERENCES identity_policy_targets (pbm_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_refusals (
    code VARCHAR(16) NOT NULL,
    user_id INTEGER,
    username VARCHAR(150) NOT NULL,
    area VARCHAR(60) NOT NULL,
    target UUID,
    message TEXT NOT NULL,
    reason TEXT NOT NULL,
    details JSONB NOT NULL,
    client_ip VARCHAR(45) NOT NULL,
    request_id VARCHAR(64) NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_refusals PRIMARY KEY (code),
    CONSTRAINT fk_identity_refusals_user_id FOREIGN KEY(user_id) REFERENCES identity_users (id) ON DELETE SET NULL
)

CREATE INDEX ix_identity_refusals_created_at ON identity_refusals (created_at)

CREATE INDEX ix_identity_refusals_expires_at ON identity_refusals (expires_at)

CREATE INDEX ix_identity_refusals_user_id ON identity_refusals (user_id)

CREATE TABLE identity_notification_rules (
    pbm_uuid UUID NOT NULL,
    name VARCHAR(255) NOT NULL,
    severity VARCHAR(100) NOT NULL,
    destination_group UUID,
    destination_event_user BOOLEAN NOT NULL,
    destination_administrators BOOLEAN NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_notification_rules PRIMARY KEY (pbm_uuid),
    CONSTRAINT fk_identity_notification_rules_pbm_uuid FOREIGN KEY(pbm_uuid) REFERENCES identity_policy_targets (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT uq_identity_notification_rules_name UNIQUE (name),
    CONSTRAINT fk_identity_notification_rules_destination_group FOREIGN KEY(destination_group) REFERENCES identity_groups (group_uuid) ON DELETE SET NULL
)

CREATE INDEX ix_identity_notification_rules_destination_group ON identity_notification_rules (destination_group)

CREATE TABLE identity_notification_transports (
    uuid UUID NOT NULL,
    name VARCHAR(255) NOT NULL,
    mode VARCHAR(100) NOT NULL,
    webhook_url TEXT NOT NULL,
    webhook_secret TEXT,
    webhook_mapping_body UUID,
    webhook_mapping_headers UUID,
    email_subject_prefix VARCHAR(100) NOT NULL,
    direct_sender INTEGER,
    send_once BOOLEAN NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_notification_transports PRIMARY KEY (uuid),
    CONSTRAINT uq_identity_notification_transports_name UNIQUE (name),
    CONSTRAINT fk_identity_notification_transports_webhook_mapping_body FOREIGN KEY(webhook_mapping_body) REFERENCES identity_property_mappings (pm_uuid) ON DELETE SET NULL,
    CONSTRAINT fk_identity_notification_transports_webhook_mapping_headers FOREIGN KEY(webhook_mapping_headers) REFERENCES identity_property_mappings (pm_uuid) ON DELETE SET NULL,
    CONSTRAINT fk_identity_notification_transports_direct_sender FOREIGN KEY(direct_sender) REFERENCES identity_users (id) ON DELETE SET NULL
)

CREATE INDEX ix_identity_notification_transports_webhook_mapping_body ON identity_notification_transports (webhook_mapping_body)

CREATE INDEX ix_identity_notification_transports_direct_sender ON identity_notification_transports (direct_sender)

CREATE INDEX ix_identity_notification_transports_webhook_mapping_headers ON identity_notification_transports (webhook_mapping_headers)

CREATE TABLE identity_stages_captcha (
    stage_uuid UUID NOT NULL,
    public_key TEXT NOT NULL,
    private_key TEXT,
    js_url TEXT NOT NULL,
    api_url TEXT NOT NULL,
    request_content_type VARCHAR(100) NOT NULL,
    interactive BOOLEAN NOT NULL,
    score_min_threshold FLOAT NOT NULL,
    score_max_threshold FLOAT NOT NULL,
    error_on_invalid_score BOOLEAN NOT NULL,
    CONSTRAINT pk_identity_stages_captcha PRIMARY KEY (stage_uuid),
    CONSTRAINT fk_identity_stages_captcha_stage_uuid FOREIGN KEY(stage_uuid) REFERENCES identity_stages (stage_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_stages_consent (
    stage_uuid UUID NOT NULL,
    mode VARCHAR(100) NOT NULL,
    consent_expire_in TEXT NOT NULL,
    CONSTRAINT pk_identity_stages_consent PRIMARY KEY (stage_uuid),
    CONSTRAINT fk_identity_stages_consent_stage_uuid FOREIGN KEY(stage_uuid) REFERENCES identity_stages (stage_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_stages_deny (
    stage_uuid UUID NOT NULL,
    deny_message TEXT NOT NULL,
    CONSTRAINT pk_identity_stages_deny PRIMARY KEY (stage_uuid),
    CONSTRAINT fk_identity_stages_deny_stage_uuid FOREIGN KEY(stage_uuid) REFERENCES identity_stages (stage_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_stages_dummy (
    stage_uuid UUID NOT NULL,
    throw_error BOOLEAN NOT NULL,
    CONSTRAINT pk_identity_stages_dummy PRIMARY KEY (stage_uuid),
    CONSTRAINT fk_identity_stages_dummy_stage_uuid FOREIGN KEY(stage_uuid) REFERENCES identity_stages (stage_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_hints (
    user_id INTEGER NOT NULL,
    kind VARCHAR(40) NOT NULL,
    sent_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_hints PRIMARY KEY (user_id, kind),
    CONSTRAINT fk_identity_hints_user_id FOREIGN KEY(user_id) REFERENCES identity_users (id) ON DELETE CASCADE
)

CREATE TABLE identity_signups (
    user_id INTEGER NOT NULL,
    reason TEXT NOT NULL,
    locale VARCHAR(35) NOT NULL,
    client_ip VARCHAR(45) NOT NULL,
    client_name TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    invited_by INTEGER,
    app_id BIGINT,
    autofollow BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT pk_identity_signups PRIMARY KEY (user_id),
    CONSTRAINT fk_identity_signups_user_id FOREIGN KEY(user_id) REFERENCES identity_users (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_signups_invited_by FOREIGN KEY(invited_by) REFERENCES identity_users (id) ON DELETE SET NULL
)

CREATE INDEX ix_identity_signups_created_at ON identity_signups (created_at)

CREATE INDEX ix_identity_signups_invited_by ON identity_signups (invited_by)

CREATE TABLE identity_stages_email (
    stage_uuid UUID NOT NULL,
    host VARCHAR(255) NOT NULL,
    port INTEGER NOT NULL,
    username VARCHAR(255) NOT NULL,
    password TEXT,
    use_tls BOOLEAN NOT NULL,
    use_ssl BOOLEAN NOT NULL,
    timeout INTEGER NOT NULL,
    from_address VARCHAR(254) NOT NULL,
    token_expiry INTEGER NOT NULL,
    subject TEXT NOT NULL,
    template VARCHAR(100) NOT NULL,
    use_global_settings BOOLEAN NOT NULL,
    activate_user_on_success BOOLEAN NOT NULL,
    recovery_max_attempts INTEGER NOT NULL,
    recovery_cache_timeout TEXT NOT NULL,
    CONSTRAINT pk_identity_stages_email PRIMARY KEY (stage_uuid),
    CONSTRAINT fk_identity_stages_email_stage_uuid FOREIGN KEY(stage_uuid) REFERENCES identity_stages (stage_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_tokens (
    token_uuid UUID NOT NULL,
    identifier VARCHAR(255) NOT NULL,
    key_hash VARCHAR(64) NOT NULL,
    intent VARCHAR(20) NOT NULL,
    user_id INTEGER NOT NULL,
    scopes TEXT NOT NULL,
    description TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    last_used_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_identity_tokens PRIMARY KEY (token_uuid),
    CONSTRAINT uq_identity_tokens_identifier UNIQUE (identifier),
    CONSTRAINT uq_identity_tokens_key_hash UNIQUE (key_hash),
    CONSTRAINT fk_identity_tokens_user_id FOREIGN KEY(user_id) REFERENCES identity_users (id) ON DELETE CASCADE
)

CREATE INDEX ix_identity_tokens_user_id ON identity_tokens (user_id)

CREATE INDEX ix_identity_tokens_expires_at ON identity_tokens (expires_at)

CREATE TABLE identity_stages_invitation (
    stage_uuid UUID NOT NULL,
    continue_flow_without_invitation BOOLEAN NOT NULL,
    CONSTRAINT pk_identity_stages_invitation PRIMARY KEY (stage_uuid),
    CONSTRAINT fk_identity_stages_invitation_stage_uuid FOREIGN KEY(stage_uuid) REFERENCES identity_stages (stage_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_stages_otp_validate_configuration (
    owner UUID NOT NULL,
    other UUID NOT NULL,
    CONSTRAINT pk_identity_stages_otp_validate_configuration PRIMARY KEY (owner, other),
    CONSTRAINT fk_identity_stages_otp_validate_configuration_owner FOREIGN KEY(owner) REFERENCES identity_stages (stage_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_stages_otp_validate_configuration_other FOREIGN KEY(other) REFERENCES identity_stages (stage_uuid) ON DELETE CASCADE
)

CREATE INDEX ix_identity_stages_otp_validate_configuration_other ON identity_stages_otp_validate_configuration (other)

CREATE TABLE identity_stages_otp_validate (
    stage_uuid UUID NOT NULL,
    not_configured_action VARCHAR(100) NOT NULL,
    device_classes JSONB NOT NULL,
    last_auth_threshold TEXT NOT NULL,
    webauthn_user_verification VARCHAR(100) NOT NULL,
    webauthn_hints JSONB NOT NULL,
    totp_otp_throttling_factor FLOAT NOT NULL,
    static_otp_throttling_factor FLOAT NOT NULL,
    CONSTRAINT pk_identity_stages_otp_validate PRIMARY KEY (stage_uuid),
    CONSTRAINT fk_identity_stages_otp_validate_stage_uuid FOREIGN KEY(stage_uuid) REFERENCES identity_stages (stage_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_stages_otp (
    stage_uuid UUID NOT NULL,
    enforced BOOLEAN NOT NULL,
    CONSTRAINT pk_identity_stages_otp PRIMARY KEY (stage_uuid),
    CONSTRAINT fk_identity_stages_otp_stage_uuid FOREIGN KEY(stage_uuid) REFERENCES identity_stages (stage_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_stages_prompt (
    stage_uuid UUID NOT NULL,
    pbm_uuid UUID NOT NULL,
    CONSTRAINT pk_identity_stages_prompt PRIMARY KEY (stage_uuid),
    CONSTRAINT fk_identity_stages_prompt_stage_uuid FOREIGN KEY(stage_uuid) REFERENCES identity_stages (stage_uuid) ON DELETE CASCADE,
    CONSTRAINT uq_identity_stages_prompt_pbm_uuid UNIQUE (pbm_uuid),
    CONSTRAINT fk_identity_stages_prompt_pbm_uuid FOREIGN KEY(pbm_uuid) REFERENCES identity_policy_targets (pbm_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_stages_user_login (
    stage_uuid UUID NOT NULL,
    session_duration INTEGER NOT NULL,
    remember_me_offset TEXT NOT NULL,
    terminate_other_sessions BOOLEAN NOT NULL,
    network_binding VARCHAR(100) NOT NULL,
    geoip_binding VARCHAR(100) NOT NULL,
    remember_device TEXT NOT NULL,
    CONSTRAINT pk_identity_stages_user_login PRIMARY KEY (stage_uuid),
    CONSTRAINT fk_identity_stages_user_login_stage_uuid FOREIGN KEY(stage_uuid) REFERENCES identity_stages (stage_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_stages_user_write (
    stage_uuid UUID NOT NULL,
    user_creation_mode VARCHAR(100) NOT NULL,
    create_users_as_inactive BOOLEAN NOT NULL,
    create_users_group UUID,
    user_type VARCHAR(100) NOT NULL,
    user_path_template TEXT NOT NULL,
    CONSTRAINT pk_identity_stages_user_write PRIMARY KEY (stage_uuid),
    CONSTRAINT fk_identity_stages_user_write_stage_uuid FOREIGN KEY(stage_uuid) REFERENCES identity_stages (stage_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_stages_user_write_create_users_group FOREIGN KEY(create_users_group) REFERENCES identity_groups (group_uuid) ON DELETE RESTRICT
)

CREATE INDEX ix_identity_stages_user_write_create_users_group ON identity_stages_user_write (create_users_group)

CREATE TABLE identity_oauth_requests (
    request_hash VARCHAR(64) NOT NULL,
    client_id VARCHAR(255) NOT NULL,
    parameters JSONB NOT NULL,
    user_id INTEGER,
    proof_hash VARCHAR(64),
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_oauth_requests PRIMARY KEY (request_hash),
    CONSTRAINT fk_identity_oauth_requests_user_id FOREIGN KEY(user_id) REFERENCES identity_users (id) ON DELETE CASCADE
)

CREATE INDEX ix_identity_oauth_requests_user_id ON identity_oauth_requests (user_id)

CREATE INDEX ix_identity_oauth_requests_expires_at ON identity_oauth_requests (expires_at)

CREATE TABLE identity_property_mappings_ldap (
    pm_uuid UUID NOT NULL,
    object_field TEXT NOT NULL,
    CONSTRAINT pk_identity_property_mappings_ldap PRIMARY KEY (pm_uuid),
    CONSTRAINT fk_identity_property_mappings_ldap_pm_uuid FOREIGN KEY(pm_uuid) REFERENCES identity_property_mappings (pm_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_property_mappings_saml (
    pm_uuid UUID NOT NULL,
    saml_name TEXT NOT NULL,
    friendly_name TEXT,
    CONSTRAINT pk_identity_property_mappings_saml PRIMARY KEY (pm_uuid),
    CONSTRAINT fk_identity_property_mappings_saml_pm_uuid FOREIGN KEY(pm_uuid) REFERENCES identity_property_mappings (pm_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_property_mappings_scope (
    pm_uuid UUID NOT NULL,
    scope_name TEXT NOT NULL,
    description TEXT NOT NULL,
    CONSTRAINT pk_identity_property_mappings_scope PRIMARY KEY (pm_uuid),
    CONSTRAINT fk_identity_property_mappings_scope_pm_uuid FOREIGN KEY(pm_uuid) REFERENCES identity_property_mappings (pm_uuid) ON DELETE CASCADE
)

CREATE TABLE social_accounts (
    id BIGINT NOT NULL,
    version BIGINT NOT NULL,
    user_id INTEGER,
    username TEXT NOT NULL,
    username_key TEXT NOT NULL,
    domain TEXT NOT NULL,
    uri TEXT NOT NULL,
    url TEXT,
    actor_type VARCHAR(20) NOT NULL,
    display_name TEXT NOT NULL,
    note TEXT NOT NULL,
    note_html TEXT NOT NULL,
    role VARCHAR(20) NOT NULL,
    fields JSONB NOT NULL,
    avatar TEXT NOT NULL,
    avatar_static TEXT NOT NULL,
    avatar_description TEXT NOT NULL,
    header TEXT NOT NULL,
    header_static TEXT NOT NULL,
    header_description TEXT NOT NULL,
    locked BOOLEAN NOT NULL,
    discoverable BOOLEAN,
    indexable BOOLEAN NOT NULL,
    hide_collections BOOLEAN,
    noindex BOOLEAN NOT NULL,
    show_media BOOLEAN NOT NULL,
    show_media_replies BOOLEAN NOT NULL,
    show_featured BOOLEAN NOT NULL,
    attribution_domains JSONB NOT NULL,
    also_known_as JSONB NOT NULL,
    moved_to BIGINT,
    is_listed BOOLEAN NOT NULL,
    memorial BOOLEAN NOT NULL,
    silenced_at TIMESTAMP WITH TIME ZONE,
    sensitized_at TIMESTAMP WITH TIME ZONE,
    suspended_at TIMESTAMP WITH TIME ZONE,
    deleted_at TIMESTAMP WITH TIME ZONE,
    statuses_count INTEGER NOT NULL,
    followers_count INTEGER NOT NULL,
    following_count INTEGER NOT NULL,
    last_status_at TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    fetched_at TIMESTAMP WITH TIME ZONE,
    role_id BIGINT,
    pictures_rejected BOOLEAN DEFAULT false NOT NULL,
    avatar_remote_url TEXT,
    header_remote_url TEXT,
    moved_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_social_accounts PRIMARY KEY (id),
    CONSTRAINT uq_social_accounts_username_key_domain UNIQUE (username_key, domain),
    CONSTRAINT uq_social_accounts_user_id UNIQUE (user_id),
    CONSTRAINT fk_social_accounts_user_id FOREIGN KEY(user_id) REFERENCES identity_users (id) ON DELETE SET NULL,
    CONSTRAINT uq_social_accounts_uri UNIQUE (uri),
    CONSTRAINT fk_social_accounts_moved_to FOREIGN KEY(moved_to) REFERENCES social_accounts (id) ON DELETE SET NULL
)

CREATE INDEX ix_social_accounts_orphaned ON social_accounts (id) WHERE domain = '' AND user_id IS NULL AND deleted_at IS NULL

CREATE INDEX ix_social_accounts_domain ON social_accounts (domain, id)

CREATE INDEX ix_social_accounts_url ON social_accounts USING hash (url) WHERE url IS NOT NULL

CREATE INDEX ix_social_accounts_moved_to ON social_accounts (moved_to)

CREATE INDEX ix_social_accounts_last_status_at ON social_accounts (last_status_at)

CREATE INDEX ix_social_accounts_silenced_at ON social_accounts (silenced_at) WHERE silenced_at IS NOT NULL

CREATE INDEX ix_social_accounts_elsewhere ON social_accounts (id) WHERE domain != ''

CREATE INDEX ix_social_accounts_role_id ON social_accounts (role_id)

CREATE INDEX ix_social_accounts_suspended_at ON social_accounts (suspended_at) WHERE suspended_at IS NOT NULL

CREATE INDEX ix_social_accounts_joined ON social_accounts (domain, created_at, is_listed)

CREATE TABLE social_tag_days (
    tag_id BIGINT NOT NULL,
    day VARCHAR(10) NOT NULL,
    account_id BIGINT NOT NULL,
    uses INTEGER NOT NULL,
    CONSTRAINT pk_social_tag_days PRIMARY KEY (tag_id, day, account_id),
    CONSTRAINT fk_social_tag_days_tag_id FOREIGN KEY(tag_id) REFERENCES social_tags (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_tag_days_account_id ON social_tag_days (account_id, day)

CREATE INDEX ix_social_tag_days_day ON social_tag_days (day)

CREATE TABLE social_tag_trends (
    tag_id BIGINT NOT NULL,
    score FLOAT NOT NULL,
    max_score FLOAT NOT NULL,
    max_score_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_social_tag_trends PRIMARY KEY (tag_id),
    CONSTRAINT fk_social_tag_trends_tag_id FOREIGN KEY(tag_id) REFERENCES social_tags (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_tag_trends_score ON social_tag_trends (score)

CREATE TABLE social_link_trends (
    card_id BIGINT NOT NULL,
    publisher_id BIGINT,
    language VARCHAR(35),
    trendable BOOLEAN,
    score FLOAT NOT NULL,
    max_score FLOAT NOT NULL,
    max_score_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_social_link_trends PRIMARY KEY (card_id),
    CONSTRAINT fk_social_link_trends_card_id FOREIGN KEY(card_id) REFERENCES social_cards (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_link_trends_publisher_id FOREIGN KEY(publisher_id) REFERENCES social_link_publishers (id) ON DELETE SET NULL
)

CREATE INDEX ix_social_link_trends_score ON social_link_trends (score)

CREATE INDEX ix_social_link_trends_publisher_id ON social_link_trends (publisher_id)

CREATE TABLE social_link_days (
    card_id BIGINT NOT NULL,
    day VARCHAR(10) NOT NULL,
    accounts INTEGER NOT NULL,
    uses INTEGER NOT NULL,
    CONSTRAINT pk_social_link_days PRIMARY KEY (card_id, day),
    CONSTRAINT fk_social_link_days_card_id FOREIGN KEY(card_id) REFERENCES social_cards (id) ON DELETE CASCADE
)

CREATE TABLE federation_keys (
    id BIGINT NOT NULL,
    account_id BIGINT,
    public_key TEXT NOT NULL,
    private_key TEXT NOT NULL,
    previous_key TEXT,
    made_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_federation_keys PRIMARY KEY (id),
    CONSTRAINT uq_federation_keys_account_id UNIQUE (account_id),
    CONSTRAINT fk_federation_keys_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE TABLE federation_actors (
    account_id BIGINT NOT NULL,
    inbox TEXT NOT NULL,
    shared_inbox TEXT,
    outbox TEXT,
    followers TEXT,
    following TEXT,
    featured TEXT,
    featured_tags TEXT,
    devices TEXT,
    filled_at TIMESTAMP WITH TIME ZONE,
    moved_at TIMESTAMP WITH TIME ZONE,
    suspended_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_federation_actors PRIMARY KEY (account_id),
    CONSTRAINT fk_federation_actors_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE TABLE federation_actor_keys (
    id TEXT NOT NULL,
    account_id BIGINT NOT NULL,
    public_key TEXT NOT NULL,
    fetched_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_federation_actor_keys PRIMARY KEY (id),
    CONSTRAINT fk_federation_actor_keys_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_federation_actor_keys_account_id ON federation_actor_keys (account_id)

CREATE TABLE identity_flow_runs (
    run_uuid UUID NOT NULL,
    session_uuid UUID NOT NULL,
    flow_uuid UUID NOT NULL,
    plan TEXT NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_flow_runs PRIMARY KEY (run_uuid),
    CONSTRAINT uq_identity_flow_runs_session_uuid_flow_uuid UNIQUE (session_uuid, flow_uuid),
    CONSTRAINT fk_identity_flow_runs_session_uuid FOREIGN KEY(session_uuid) REFERENCES identity_sessions (session_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_flow_runs_flow_uuid FOREIGN KEY(flow_uuid) REFERENCES identity_flows (flow_uuid) ON DELETE CASCADE
)

CREATE INDEX ix_identity_flow_runs_flow_uuid ON identity_flow_runs (flow_uuid)

CREATE INDEX ix_identity_flow_runs_updated_at ON identity_flow_runs (updated_at)

CREATE TABLE identity_impersonations (
    session_uuid UUID NOT NULL,
    by_id INTEGER NOT NULL,
    reason TEXT NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_impersonations PRIMARY KEY (session_uuid),
    CONSTRAINT fk_identity_impersonations_session_uuid FOREIGN KEY(session_uuid) REFERENCES identity_sessions (session_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_impersonations_by_id FOREIGN KEY(by_id) REFERENCES identity_users (id) ON DELETE CASCADE
)

CREATE INDEX ix_identity_impersonations_by_id ON identity_impersonations (by_id)

CREATE TABLE identity_flow_tokens (
    key_hash VARCHAR(64) NOT NULL,
    user_id INTEGER NOT NULL,
    flow_uuid UUID,
    plan TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_flow_tokens PRIMARY KEY (key_hash),
    CONSTRAINT fk_identity_flow_tokens_user_id FOREIGN KEY(user_id) REFERENCES identity_users (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_flow_tokens_flow_uuid FOREIGN KEY(flow_uuid) REFERENCES identity_flows (flow_uuid) ON DELETE CASCADE
)

CREATE INDEX ix_identity_flow_tokens_user_id ON identity_flow_tokens (user_id)

CREATE INDEX ix_identity_flow_tokens_expires_at ON identity_flow_tokens (expires_at)

CREATE INDEX ix_identity_flow_tokens_flow_uuid ON identity_flow_tokens (flow_uuid)

CREATE TABLE identity_factors_totp (
    device_uuid UUID NOT NULL,
    secret TEXT NOT NULL,
    digits INTEGER NOT NULL,
    last_step BIGINT NOT NULL,
    CONSTRAINT pk_identity_factors_totp PRIMARY KEY (device_uuid),
    CONSTRAINT fk_identity_factors_totp_device_uuid FOREIGN KEY(device_uuid) REFERENCES identity_factors (device_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_factor_codes (
    device_uuid UUID NOT NULL,
    code_hash VARCHAR(64) NOT NULL,
    CONSTRAINT pk_identity_factor_codes PRIMARY KEY (device_uuid, code_hash),
    CONSTRAINT fk_identity_factor_codes_device_uuid FOREIGN KEY(device_uuid) REFERENCES identity_factors (device_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_factors_webauthn (
    device_uuid UUID NOT NULL,
    credential_id VARCHAR(1400) NOT NULL,
    public_key TEXT NOT NULL,
    sign_count BIGINT NOT NULL,
    transports JSONB NOT NULL,
    aaguid VARCHAR(36) NOT NULL,
    CONSTRAINT pk_identity_factors_webauthn PRIMARY KEY (device_uuid),
    CONSTRAINT fk_identity_factors_webauthn_device_uuid FOREIGN KEY(device_uuid) REFERENCES identity_factors (device_uuid) ON DELETE CASCADE,
    CONSTRAINT uq_identity_factors_webauthn_credential_id UNIQUE (credential_id)
)

CREATE TABLE identity_flow_bindings (
    fsb_uuid UUID NOT NULL,
    flow UUID NOT NULL,
    stage UUID NOT NULL,
    re_evaluate_policies BOOLEAN NOT NULL,
    evaluate_on_plan BOOLEAN NOT NULL,
    "order" INTEGER NOT NULL,
    policy_engine_mode VARCHAR(100) NOT NULL,
    invalid_response_action VARCHAR(100) NOT NULL,
    pbm_uuid UUID NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_flow_bindings PRIMARY KEY (fsb_uuid),
    CONSTRAINT fk_identity_flow_bindings_flow FOREIGN KEY(flow) REFERENCES identity_flows (flow_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_flow_bindings_stage FOREIGN KEY(stage) REFERENCES identity_stages (stage_uuid) ON DELETE RESTRICT,
    CONSTRAINT uq_identity_flow_bindings_pbm_uuid UNIQUE (pbm_uuid),
    CONSTRAINT fk_identity_flow_bindings_pbm_uuid FOREIGN KEY(pbm_uuid) REFERENCES identity_policy_targets (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT uq_identity_flow_bindings_flow_stage_order UNIQUE (flow, stage, "order")
)

CREATE INDEX ix_identity_flow_bindings_flow ON identity_flow_bindings (flow)

CREATE INDEX ix_identity_flow_bindings_stage ON identity_flow_bindings (stage)

CREATE INDEX ix_identity_flow_bindings_walk ON identity_flow_bindings (flow, "order")

CREATE TABLE identity_notification_rule_transports (
    owner UUID NOT NULL,
    other UUID NOT NULL,
    CONSTRAINT pk_identity_notification_rule_transports PRIMARY KEY (owner, other),
    CONSTRAINT fk_identity_notification_rule_transports_owner FOREIGN KEY(owner) REFERENCES identity_notification_rules (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_notification_rule_transports_other FOREIGN KEY(other) REFERENCES identity_notification_transports (uuid) ON DELETE CASCADE
)

CREATE INDEX ix_identity_notification_rule_transports_other ON identity_notification_rule_transports (other)

CREATE TABLE identity_notification_windows (
    rule UUID NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    sent INTEGER NOT NULL,
    held INTEGER NOT NULL,
    last_event UUID,
    CONSTRAINT pk_identity_notification_windows PRIMARY KEY (rule),
    CONSTRAINT fk_identity_notification_windows_rule FOREIGN KEY(rule) REFERENCES identity_notification_rules (pbm_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_notifications (
    uuid UUID NOT NULL,
    user_id INTEGER NOT NULL,
    severity VARCHAR(20) NOT NULL,
    body TEXT NOT NULL,
    event UUID,
    count INTEGER NOT NULL,
    seen BOOLEAN NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_notifications PRIMARY KEY (uuid),
    CONSTRAINT fk_identity_notifications_user_id FOREIGN KEY(user_id) REFERENCES identity_users (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_notifications_event FOREIGN KEY(event) REFERENCES identity_events (event_uuid) ON DELETE SET NULL
)

CREATE INDEX ix_identity_notifications_created_at ON identity_notifications (created_at)

CREATE INDEX ix_identity_notifications_event ON identity_notifications (event)

CREATE INDEX ix_identity_notifications_user ON identity_notifications (user_id, created_at)

CREATE TABLE identity_invitations (
    invite_uuid UUID NOT NULL,
    autofollow BOOLEAN DEFAULT false NOT NULL,
    uses INTEGER DEFAULT 0 NOT NULL,
    max_uses INTEGER,
    name VARCHAR(50) NOT NULL,
    expires TIMESTAMP WITH TIME ZONE,
    fixed_data JSONB NOT NULL,
    single_use BOOLEAN NOT NULL,
    flow UUID,
    created_by INTEGER NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_invitations PRIMARY KEY (invite_uuid),
    CONSTRAINT fk_identity_invitations_flow FOREIGN KEY(flow) REFERENCES identity_flows (flow_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_invitations_created_by FOREIGN KEY(created_by) REFERENCES identity_users (id) ON DELETE CASCADE
)

CREATE INDEX ix_identity_invitations_flow ON identity_invitations (flow)

CREATE INDEX ix_identity_invitations_created_by ON identity_invitations (created_by)

CREATE TABLE identity_stages_password (
    stage_uuid UUID NOT NULL,
    backends JSONB NOT NULL,
    configure_flow UUID,
    failed_attempts_before_cancel INTEGER NOT NULL,
    allow_show_password BOOLEAN NOT NULL,
    CONSTRAINT pk_identity_stages_password PRIMARY KEY (stage_uuid),
    CONSTRAINT fk_identity_stages_password_stage_uuid FOREIGN KEY(stage_uuid) REFERENCES identity_stages (stage_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_stages_password_configure_flow FOREIGN KEY(configure_flow) REFERENCES identity_flows (flow_uuid) ON DELETE RESTRICT
)

CREATE INDEX ix_identity_stages_password_configure_flow ON identity_stages_password (configure_flow)

CREATE TABLE identity_stages_identification (
    stage_uuid UUID NOT NULL,
    user_fields JSONB NOT NULL,
    template VARCHAR(100) NOT NULL,
    enrollment_flow UUID,
    recovery_flow UUID,
    passwordless_flow UUID,
    password_stage UUID,
    captcha_stage UUID,
    webauthn_stage UUID,
    case_insensitive_matching BOOLEAN NOT NULL,
    show_matched_user BOOLEAN NOT NULL,
    pretend_user_exists BOOLEAN NOT NULL,
    enable_remember_me BOOLEAN NOT NULL,
    show_source_labels BOOLEAN NOT NULL,
    CONSTRAINT pk_identity_stages_identification PRIMARY KEY (stage_uuid),
    CONSTRAINT fk_identity_stages_identification_stage_uuid FOREIGN KEY(stage_uuid) REFERENCES identity_stages (stage_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_stages_identification_enrollment_flow FOREIGN KEY(enrollment_flow) REFERENCES identity_flows (flow_uuid) ON DELETE SET NULL,
    CONSTRAINT fk_identity_stages_identification_recovery_flow FOREIGN KEY(recovery_flow) REFERENCES identity_flows (flow_uuid) ON DELETE SET NULL,
    CONSTRAINT fk_identity_stages_identification_passwordless_flow FOREIGN KEY(passwordless_flow) REFERENCES identity_flows (flow_uuid) ON DELETE SET NULL,
    CONSTRAINT fk_identity_stages_identification_password_stage FOREIGN KEY(password_stage) REFERENCES identity_stages (stage_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_stages_identification_captcha_stage FOREIGN KEY(captcha_stage) REFERENCES identity_stages (stage_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_stages_identification_webauthn_stage FOREIGN KEY(webauthn_stage) REFERENCES identity_stages (stage_uuid) ON DELETE SET NULL
)

CREATE INDEX ix_identity_stages_identification_webauthn_stage ON identity_stages_identification (webauthn_stage)

CREATE INDEX ix_identity_stages_identification_recovery_flow ON identity_stages_identification (recovery_flow)

CREATE INDEX ix_identity_stages_identification_password_stage ON identity_stages_identification (password_stage)

CREATE INDEX ix_identity_stages_identification_captcha_stage ON identity_stages_identification (captcha_stage)

CREATE INDEX ix_identity_stages_identification_enrollment_flow ON identity_stages_identification (enrollment_flow)

CREATE INDEX ix_identity_stages_identification_passwordless_flow ON identity_stages_identification (passwordless_flow)

CREATE TABLE identity_stages_otp_time (
    stage_uuid UUID NOT NULL,
    digits INTEGER NOT NULL,
    configure_flow UUID,
    friendly_name VARCHAR(255) NOT NULL,
    CONSTRAINT pk_identity_stages_otp_time PRIMARY KEY (stage_uuid),
    CONSTRAINT fk_identity_stages_otp_time_stage_uuid FOREIGN KEY(stage_uuid) REFERENCES identity_stages (stage_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_stages_otp_time_configure_flow FOREIGN KEY(configure_flow) REFERENCES identity_flows (flow_uuid) ON DELETE SET NULL
)

CREATE INDEX ix_identity_stages_otp_time_configure_flow ON identity_stages_otp_time (configure_flow)

CREATE TABLE identity_stages_otp_static (
    stage_uuid UUID NOT NULL,
    token_count INTEGER NOT NULL,
    token_length INTEGER NOT NULL,
    configure_flow UUID,
    friendly_name VARCHAR(255) NOT NULL,
    CONSTRAINT pk_identity_stages_otp_static PRIMARY KEY (stage_uuid),
    CONSTRAINT fk_identity_stages_otp_static_stage_uuid FOREIGN KEY(stage_uuid) REFERENCES identity_stages (stage_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_stages_otp_static_configure_flow FOREIGN KEY(configure_flow) REFERENCES identity_flows (flow_uuid) ON DELETE SET NULL
)

CREATE INDEX ix_identity_stages_otp_static_configure_flow ON identity_stages_otp_static (configure_flow)

CREATE TABLE identity_stages_prompt_fields (
    owner UUID NOT NULL,
    other UUID NOT NULL,
    CONSTRAINT pk_identity_stages_prompt_fields PRIMARY KEY (owner, other),
    CONSTRAINT fk_identity_stages_prompt_fields_owner FOREIGN KEY(owner) REFERENCES identity_stages_prompt (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_stages_prompt_fields_other FOREIGN KEY(other) REFERENCES identity_prompts (prompt_uuid) ON DELETE RESTRICT
)

CREATE INDEX ix_identity_stages_prompt_fields_other ON identity_stages_prompt_fields (other)

CREATE TABLE identity_stages_prompt_policies (
    owner UUID NOT NULL,
    other UUID NOT NULL,
    CONSTRAINT pk_identity_stages_prompt_policies PRIMARY KEY (owner, other),
    CONSTRAINT fk_identity_stages_prompt_policies_owner FOREIGN KEY(owner) REFERENCES identity_stages_prompt (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_stages_prompt_policies_other FOREIGN KEY(other) REFERENCES identity_policies (policy_uuid) ON DELETE RESTRICT
)

CREATE INDEX ix_identity_stages_prompt_policies_other ON identity_stages_prompt_policies (other)

CREATE TABLE identity_stages_webauthn (
    stage_uuid UUID NOT NULL,
    configure_flow UUID,
    friendly_name VARCHAR(255) NOT NULL,
    user_verification VARCHAR(100) NOT NULL,
    resident_key_requirement VARCHAR(100) NOT NULL,
    authenticator_attachment VARCHAR(100),
    hints JSONB NOT NULL,
    device_type_restrictions JSONB NOT NULL,
    max_attempts INTEGER NOT NULL,
    CONSTRAINT pk_identity_stages_webauthn PRIMARY KEY (stage_uuid),
    CONSTRAINT fk_identity_stages_webauthn_stage_uuid FOREIGN KEY(stage_uuid) REFERENCES identity_stages (stage_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_stages_webauthn_configure_flow FOREIGN KEY(configure_flow) REFERENCES identity_flows (flow_uuid) ON DELETE SET NULL
)

CREATE INDEX ix_identity_stages_webauthn_configure_flow ON identity_stages_webauthn (configure_flow)

CREATE TABLE identity_providers (
    id SERIAL NOT NULL,
    kind VARCHAR(40) NOT NULL,
    name VARCHAR(255) NOT NULL,
    authorization_flow UUID,
    authentication_flow UUID,
    invalidation_flow UUID,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_providers PRIMARY KEY (id),
    CONSTRAINT fk_identity_providers_authorization_flow FOREIGN KEY(authorization_flow) REFERENCES identity_flows (flow_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_providers_authentication_flow FOREIGN KEY(authentication_flow) REFERENCES identity_flows (flow_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_providers_invalidation_flow FOREIGN KEY(invalidation_flow) REFERENCES identity_flows (flow_uuid) ON DELETE SET NULL
)

CREATE INDEX ix_identity_providers_authentication_flow ON identity_providers (authentication_flow)

CREATE INDEX ix_identity_providers_kind ON identity_providers (kind)

CREATE INDEX ix_identity_providers_invalidation_flow ON identity_providers (invalidation_flow)

CREATE INDEX ix_identity_providers_authorization_flow ON identity_providers (authorization_flow)

CREATE TABLE identity_sources (
    pbm_uuid UUID NOT NULL,
    kind VARCHAR(40) NOT NULL,
    set_up_by INTEGER,
    name VARCHAR(255) NOT NULL,
    slug VARCHAR(50) NOT NULL,
    enabled BOOLEAN NOT NULL,
    authentication_flow UUID,
    enrollment_flow UUID,
    policy_engine_mode VARCHAR(100) NOT NULL,
    user_matching_mode VARCHAR(100) NOT NULL,
    user_path_template TEXT NOT NULL,
    icon TEXT NOT NULL,
    promoted BOOLEAN NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_sources PRIMARY KEY (pbm_uuid),
    CONSTRAINT fk_identity_sources_pbm_uuid FOREIGN KEY(pbm_uuid) REFERENCES identity_policy_targets (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT uq_identity_sources_slug UNIQUE (slug),
    CONSTRAINT fk_identity_sources_authentication_flow FOREIGN KEY(authentication_flow) REFERENCES identity_flows (flow_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_sources_enrollment_flow FOREIGN KEY(enrollment_flow) REFERENCES identity_flows (flow_uuid) ON DELETE SET NULL
)

CREATE INDEX ix_identity_sources_enrollment_flow ON identity_sources (enrollment_flow)

CREATE INDEX ix_identity_sources_kind ON identity_sources (kind)

CREATE INDEX ix_identity_sources_authentication_flow ON identity_sources (authentication_flow)

CREATE TABLE social_fetched_pictures (
    account_id BIGINT NOT NULL,
    shelf VARCHAR(10) NOT NULL,
    fetched_bytes INTEGER NOT NULL,
    looked_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_fetched_pictures PRIMARY KEY (account_id, shelf),
    CONSTRAINT fk_social_fetched_pictures_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_fetched_pictures_looked_at ON social_fetched_pictures (looked_at)

CREATE TABLE social_preferences (
    account_id BIGINT NOT NULL,
    privacy VARCHAR(10),
    sensitive BOOLEAN NOT NULL,
    language VARCHAR(35),
    quote_policy VARCHAR(10) NOT NULL,
    expand_media VARCHAR(10) NOT NULL,
    expand_spoilers BOOLEAN NOT NULL,
    autoplay_gifs BOOLEAN NOT NULL,
    aggregate_reblogs BOOLEAN NOT NULL,
    chosen_languages JSONB,
    CONSTRAINT pk_social_preferences PRIMARY KEY (account_id),
    CONSTRAINT fk_social_preferences_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE TABLE social_announcement_reads (
    announcement_id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    CONSTRAINT pk_social_announcement_reads PRIMARY KEY (announcement_id, account_id),
    CONSTRAINT fk_social_announcement_reads_announcement_id FOREIGN KEY(announcement_id) REFERENCES social_announcements (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_announcement_reads_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_announcement_reads_account_id ON social_announcement_reads (account_id)

CREATE TABLE social_announcement_reactions (
    id BIGINT NOT NULL,
    announcement_id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    name VARCHAR(100) NOT NULL,
    CONSTRAINT pk_social_announcement_reactions PRIMARY KEY (id),
    CONSTRAINT uq_social_announcement_reactions_announcement_id_name_a_8bca UNIQUE (announcement_id, name, account_id),
    CONSTRAINT fk_social_announcement_reactions_announcement_id FOREIGN KEY(announcement_id) REFERENCES social_announcements (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_announcement_reactions_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_announcement_reactions_account_id ON social_announcement_reactions (account_id)

CREATE TABLE social_annual_reports (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    year INTEGER NOT NULL,
    schema_version SMALLINT NOT NULL,
    data JSONB,
    share_key VARCHAR(32) NOT NULL,
    asked_at TIMESTAMP WITH TIME ZONE NOT NULL,
    made_at TIMESTAMP WITH TIME ZONE,
    read_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_social_annual_reports PRIMARY KEY (id),
    CONSTRAINT uq_social_annual_reports_account_id_year UNIQUE (account_id, year),
    CONSTRAINT fk_social_annual_reports_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE TABLE social_archives (
    id BIGINT NOT NULL,
    account_id BIGINT,
    state VARCHAR(10) NOT NULL,
    file TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_archives PRIMARY KEY (id),
    CONSTRAINT fk_social_archives_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE SET NULL
)

CREATE INDEX ix_social_archives_expires_at ON social_archives (expires_at)

CREATE INDEX ix_social_archives_account_id ON social_archives (account_id)

CREATE TABLE social_cleanup_policies (
    account_id BIGINT NOT NULL,
    enabled BOOLEAN NOT NULL,
    min_status_age INTEGER NOT NULL,
    keep_direct BOOLEAN NOT NULL,
    keep_pinned BOOLEAN NOT NULL,
    keep_polls BOOLEAN NOT NULL,
    keep_media BOOLEAN NOT NULL,
    keep_self_fav BOOLEAN NOT NULL,
    keep_self_bookmark BOOLEAN NOT NULL,
    min_favs INTEGER,
    min_reblogs INTEGER,
    inspected_id BIGINT NOT NULL,
    restarts_at TIMESTAMP WITH TIME ZONE NOT NULL,
    next_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_cleanup_policies PRIMARY KEY (account_id),
    CONSTRAINT fk_social_cleanup_policies_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_cleanup_policies_next_at ON social_cleanup_policies (next_at) WHERE enabled

CREATE TABLE social_collections (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    language VARCHAR(35),
    sensitive BOOLEAN NOT NULL,
    discoverable BOOLEAN NOT NULL,
    tag_name TEXT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_collections PRIMARY KEY (id),
    CONSTRAINT fk_social_collections_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_collections_account_id ON social_collections (account_id)

CREATE TABLE social_conversations (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    thread_id BIGINT NOT NULL,
    participants TEXT NOT NULL,
    last_status_id BIGINT NOT NULL,
    unread BOOLEAN NOT NULL,
    CONSTRAINT pk_social_conversations PRIMARY KEY (id),
    CONSTRAINT uq_social_conversations_account_id_thread_id_participants UNIQUE (account_id, thread_id, participants),
    CONSTRAINT fk_social_conversations_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_conversations_newest ON social_conversations (account_id, last_status_id)

CREATE TABLE social_devices (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    user_id INTEGER NOT NULL,
    key_hash VARCHAR(64) NOT NULL,
    device_id TEXT NOT NULL,
    name TEXT NOT NULL,
    fingerprint_key TEXT NOT NULL,
    identity_key TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_devices PRIMARY KEY (id),
    CONSTRAINT uq_social_devices_account_id_device_id UNIQUE (account_id, device_id),
    CONSTRAINT fk_social_devices_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT uq_social_devices_key_hash UNIQUE (key_hash)
)

CREATE INDEX ix_social_devices_user_id ON social_devices (user_id)

CREATE TABLE social_feed_states (
    account_id BIGINT NOT NULL,
    state VARCHAR(10) NOT NULL,
    active_at TIMESTAMP WITH TIME ZONE NOT NULL,
    changed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_feed_states PRIMARY KEY (account_id),
    CONSTRAINT fk_social_feed_states_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_feed_states_active_at ON social_feed_states (active_at)

CREATE TABLE social_filters (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    title TEXT NOT NULL,
    context TEXT NOT NULL,
    action VARCHAR(10) NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_social_filters PRIMARY KEY (id),
    CONSTRAINT fk_social_filters_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_filters_account_id ON social_filters (account_id)

CREATE TABLE social_filter_versions (
    account_id BIGINT NOT NULL,
    version BIGINT NOT NULL,
    CONSTRAINT pk_social_filter_versions PRIMARY KEY (account_id),
    CONSTRAINT fk_social_filter_versions_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE TABLE social_lists (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    title TEXT NOT NULL,
    replies_policy VARCHAR(10) NOT NULL,
    exclusive BOOLEAN NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_lists PRIMARY KEY (id),
    CONSTRAINT fk_social_lists_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_lists_account_id ON social_lists (account_id)

CREATE TABLE social_reports (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    target_id BIGINT NOT NULL,
    category VARCHAR(10) NOT NULL,
    comment TEXT NOT NULL,
    status_ids JSONB NOT NULL,
    rule_ids JSONB NOT NULL,
    collection_ids JSONB NOT NULL,
    forwarded BOOLEAN NOT NULL,
    forward_to_domains JSONB NOT NULL,
    thread_id BIGINT NOT NULL,
    assigned_id BIGINT,
    action_taken_at TIMESTAMP WITH TIME ZONE,
    action_taken_by_id BIGINT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_reports PRIMARY KEY (id),
    CONSTRAINT fk_social_reports_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_reports_target_id FOREIGN KEY(target_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_reports_assigned_id FOREIGN KEY(assigned_id) REFERENCES social_accounts (id) ON DELETE SET NULL,
    CONSTRAINT fk_social_reports_action_taken_by_id FOREIGN KEY(action_taken_by_id) REFERENCES social_accounts (id) ON DELETE SET NULL
)

CREATE INDEX ix_social_reports_target_id ON social_reports (target_id, id)

CREATE INDEX ix_social_reports_action_taken_by_id ON social_reports (action_taken_by_id)

CREATE INDEX ix_social_reports_account_id ON social_reports (account_id, id)

CREATE INDEX ix_social_reports_assigned_id ON social_reports (assigned_id)

CREATE TABLE social_deletions (
    account_id BIGINT NOT NULL,
    due_at TIMESTAMP WITH TIME ZONE NOT NULL,
    was_active BOOLEAN NOT NULL,
    CONSTRAINT pk_social_deletions PRIMARY KEY (account_id),
    CONSTRAINT fk_social_deletions_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_deletions_due_at ON social_deletions (due_at)

CREATE TABLE social_severances (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    type VARCHAR(20) NOT NULL,
    target_name TEXT NOT NULL,
    followers_count INTEGER NOT NULL,
    following_count INTEGER NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_severances PRIMARY KEY (id),
    CONSTRAINT fk_social_severances_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_severances_account_id ON social_severances (account_id)

CREATE TABLE social_notification_policies (
    account_id BIGINT NOT NULL,
    for_not_following VARCHAR(6) NOT NULL,
    for_not_followers VARCHAR(6) NOT NULL,
    for_new_accounts VARCHAR(6) NOT NULL,
    for_private_mentions VARCHAR(6) NOT NULL,
    for_limited_accounts VARCHAR(6) NOT NULL,
    for_bots VARCHAR(6) NOT NULL,
    CONSTRAINT pk_social_notification_policies PRIMARY KEY (account_id),
    CONSTRAINT fk_social_notification_policies_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE TABLE social_notification_permissions (
    account_id BIGINT NOT NULL,
    from_id BIGINT NOT NULL,
    merging BOOLEAN NOT NULL,
    CONSTRAINT pk_social_notification_permissions PRIMARY KEY (account_id, from_id),
    CONSTRAINT fk_social_notification_permissions_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_notification_permissions_from_id FOREIGN KEY(from_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_notification_permissions_from_id ON social_notification_permissions (from_id)

CREATE TABLE social_notification_requests (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    from_id BIGINT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_notification_requests PRIMARY KEY (id),
    CONSTRAINT uq_social_notification_requests_account_id_from_id UNIQUE (account_id, from_id),
    CONSTRAINT fk_social_notification_requests_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_notification_requests_from_id FOREIGN KEY(from_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_notification_requests_from_id ON social_notification_requests (from_id)

CREATE INDEX ix_social_notification_requests_account_id ON social_notification_requests (account_id, id)

CREATE TABLE social_notification_emails (
    account_id BIGINT NOT NULL,
    types JSONB NOT NULL,
    always BOOLEAN NOT NULL,
    reports BOOLEAN DEFAULT true NOT NULL,
    CONSTRAINT pk_social_notification_emails PRIMARY KEY (account_id),
    CONSTRAINT fk_social_notification_emails_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE TABLE social_follows (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    target_id BIGINT NOT NULL,
    reblogs BOOLEAN NOT NULL,
    notify BOOLEAN NOT NULL,
    languages JSONB,
    uri TEXT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_follows PRIMARY KEY (id),
    CONSTRAINT uq_social_follows_account_id_target_id UNIQUE (account_id, target_id),
    CONSTRAINT fk_social_follows_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_follows_target_id FOREIGN KEY(target_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_follows_notify ON social_follows (target_id) WHERE notify

CREATE INDEX ix_social_follows_target_id ON social_follows (target_id, id)

CREATE INDEX ix_social_follows_account_id ON social_follows (account_id, id)

CREATE TABLE social_follow_requests (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    target_id BIGINT NOT NULL,
    reblogs BOOLEAN NOT NULL,
    notify BOOLEAN NOT NULL,
    languages JSONB,
    uri TEXT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_follow_requests PRIMARY KEY (id),
    CONSTRAINT uq_social_follow_requests_account_id_target_id UNIQUE (account_id, target_id),
    CONSTRAINT fk_social_follow_requests_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_follow_requests_target_id FOREIGN KEY(target_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_follow_requests_account_id ON social_follow_requests (account_id, id)

CREATE INDEX ix_social_follow_requests_target_id ON social_follow_requests (target_id, id)

CREATE TABLE social_blocks (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    target_id BIGINT NOT NULL,
    uri TEXT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_blocks PRIMARY KEY (id),
    CONSTRAINT uq_social_blocks_account_id_target_id UNIQUE (account_id, target_id),
    CONSTRAINT fk_social_blocks_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_blocks_target_id FOREIGN KEY(target_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_blocks_account_id ON social_blocks (account_id, id)

CREATE INDEX ix_social_blocks_target_id ON social_blocks (target_id, id)

CREATE TABLE social_mutes (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    target_id BIGINT NOT NULL,
    hide_notifications BOOLEAN NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_mutes PRIMARY KEY (id),
    CONSTRAINT uq_social_mutes_account_id_target_id UNIQUE (account_id, target_id),
    CONSTRAINT fk_social_mutes_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_mutes_target_id FOREIGN KEY(target_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_mutes_account_id ON social_mutes (account_id, id)

CREATE INDEX ix_social_mutes_expires_at ON social_mutes (expires_at)

CREATE INDEX ix_social_mutes_target_id ON social_mutes (target_id, id)

CREATE TABLE social_endorsements (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    target_id BIGINT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_endorsements PRIMARY KEY (id),
    CONSTRAINT uq_social_endorsements_account_id_target_id UNIQUE (account_id, target_id),
    CONSTRAINT fk_social_endorsements_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_endorsements_target_id FOREIGN KEY(target_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_endorsements_target_id ON social_endorsements (target_id, id)

CREATE INDEX ix_social_endorsements_account_id ON social_endorsements (account_id, id)

CREATE TABLE social_domain_blocks (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    domain TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_domain_blocks PRIMARY KEY (id),
    CONSTRAINT uq_social_domain_blocks_account_id_domain UNIQUE (account_id, domain),
    CONSTRAINT fk_social_domain_blocks_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_domain_blocks_domain ON social_domain_blocks (domain)

CREATE TABLE social_account_notes (
    account_id BIGINT NOT NULL,
    target_id BIGINT NOT NULL,
    comment TEXT NOT NULL,
    CONSTRAINT pk_social_account_notes PRIMARY KEY (account_id, target_id),
    CONSTRAINT fk_social_account_notes_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_account_notes_target_id FOREIGN KEY(target_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_account_notes_target_id ON social_account_notes (target_id)

CREATE TABLE social_account_words (
    account_id BIGINT NOT NULL,
    words TEXT NOT NULL,
    CONSTRAINT pk_social_account_words PRIMARY KEY (account_id),
    CONSTRAINT fk_social_account_words_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE TABLE social_statuses (
    id BIGINT NOT NULL,
    version BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    local BOOLEAN NOT NULL,
    uri TEXT NOT NULL,
    url TEXT,
    visibility SMALLINT NOT NULL,
    in_reply_to_id BIGINT,
    in_reply_to_account_id BIGINT,
    reblog_of_id BIGINT,
    conversation_id BIGINT NOT NULL,
    text TEXT NOT NULL,
    content TEXT NOT NULL,
    spoiler_text TEXT NOT NULL,
    sensitive BOOLEAN NOT NULL,
    language VARCHAR(35),
    media_ids JSONB NOT NULL,
    tag_names JSONB NOT NULL,
    poll_id BIGINT,
    card_id BIGINT,
    quoted_id BIGINT,
    quote_state VARCHAR(10),
    quote_policy VARCHAR(10) NOT NULL,
    application JSONB,
    replies_count INTEGER NOT NULL,
    reblogs_count INTEGER NOT NULL,
    favourites_count INTEGER NOT NULL,
    quotes_count INTEGER NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    edited_at TIMESTAMP WITH TIME ZONE,
    deleted_at TIMESTAMP WITH TIME ZONE,
    fetched_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_social_statuses PRIMARY KEY (id),
    CONSTRAINT fk_social_statuses_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT uq_social_statuses_uri UNIQUE (uri),
    CONSTRAINT fk_social_statuses_reblog_of_id FOREIGN KEY(reblog_of_id) REFERENCES social_statuses (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_statuses_card_id FOREIGN KEY(card_id) REFERENCES social_cards (id) ON DELETE SET NULL
)

CREATE INDEX ix_social_statuses_url ON social_statuses USING hash (url) WHERE url IS NOT NULL

CREATE UNIQUE INDEX uq_social_statuses_boosts ON social_statuses (account_id, reblog_of_id) WHERE reblog_of_id IS NOT NULL AND deleted_at IS NULL

CREATE INDEX ix_social_statuses_account_id ON social_statuses (account_id, id)

CREATE INDEX ix_social_statuses_in_reply_to_id ON social_statuses (in_reply_to_id) WHERE in_reply_to_id IS NOT NULL

CREATE INDEX ix_social_statuses_quoted_id ON social_statuses (quoted_id) WHERE quoted_id IS NOT NULL

CREATE INDEX ix_social_statuses_public ON social_statuses (id) WHERE visibility = 0 AND reblog_of_id IS NULL AND deleted_at IS NULL

CREATE INDEX ix_social_statuses_deleted_at ON social_statuses (deleted_at) WHERE deleted_at IS NOT NULL

CREATE INDEX ix_social_statuses_reblog_of_id ON social_statuses (reblog_of_id, id) WHERE reblog_of_id IS NOT NULL

CREATE INDEX ix_social_statuses_local ON social_statuses (id) WHERE visibility = 0 AND reblog_of_id IS NULL AND deleted_at IS NULL AND local

CREATE INDEX ix_social_statuses_conversation_id ON social_statuses (conversation_id)

CREATE INDEX ix_social_statuses_card_id ON social_statuses (card_id) WHERE card_id IS NOT NULL

CREATE TABLE social_conversation_mutes (
    account_id BIGINT NOT NULL,
    conversation_id BIGINT NOT NULL,
    CONSTRAINT pk_social_conversation_mutes PRIMARY KEY (account_id, conversation_id),
    CONSTRAINT fk_social_conversation_mutes_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE TABLE social_scheduled_statuses (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    scheduled_at TIMESTAMP WITH TIME ZONE NOT NULL,
    params JSONB NOT NULL,
    media_ids JSONB NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_scheduled_statuses PRIMARY KEY (id),
    CONSTRAINT fk_social_scheduled_statuses_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_scheduled_statuses_scheduled_at ON social_scheduled_statuses (scheduled_at)

CREATE INDEX ix_social_scheduled_statuses_account_id ON social_scheduled_statuses (account_id, id)

CREATE TABLE social_idempotency (
    account_id BIGINT NOT NULL,
    key VARCHAR(64) NOT NULL,
    status_id BIGINT,
    scheduled_id BIGINT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_idempotency PRIMARY KEY (account_id, key),
    CONSTRAINT fk_social_idempotency_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_idempotency_created_at ON social_idempotency (created_at)

CREATE TABLE social_interactions (
    account_id BIGINT NOT NULL,
    target_id BIGINT NOT NULL,
    score INTEGER NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_interactions PRIMARY KEY (account_id, target_id),
    CONSTRAINT fk_social_interactions_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_interactions_target_id FOREIGN KEY(target_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_interactions_updated_at ON social_interactions (updated_at)

CREATE INDEX ix_social_interactions_target_id ON social_interactions (target_id)

CREATE TABLE social_removed_suggestions (
    account_id BIGINT NOT NULL,
    target_id BIGINT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_removed_suggestions PRIMARY KEY (account_id, target_id),
    CONSTRAINT fk_social_removed_suggestions_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_removed_suggestions_target_id FOREIGN KEY(target_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_removed_suggestions_target_id ON social_removed_suggestions (target_id)

CREATE TABLE social_staff_picks (
    account_id BIGINT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_staff_picks PRIMARY KEY (account_id),
    CONSTRAINT fk_social_staff_picks_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE TABLE social_tag_follows (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    tag_id BIGINT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_tag_follows PRIMARY KEY (id),
    CONSTRAINT uq_social_tag_follows_account_id_tag_id UNIQUE (account_id, tag_id),
    CONSTRAINT fk_social_tag_follows_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_tag_follows_tag_id FOREIGN KEY(tag_id) REFERENCES social_tags (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_tag_follows_tag_id ON social_tag_follows (tag_id)

CREATE TABLE social_featured_tags (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    tag_id BIGINT NOT NULL,
    display TEXT NOT NULL,
    statuses_count INTEGER NOT NULL,
    last_status_at TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_featured_tags PRIMARY KEY (id),
    CONSTRAINT uq_social_featured_tags_account_id_tag_id UNIQUE (account_id, tag_id),
    CONSTRAINT fk_social_featured_tags_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_featured_tags_tag_id FOREIGN KEY(tag_id) REFERENCES social_tags (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_featured_tags_tag_id ON social_featured_tags (tag_id)

CREATE TABLE social_markers (
    account_id BIGINT NOT NULL,
    timeline VARCHAR(20) NOT NULL,
    last_read_id BIGINT NOT NULL,
    version INTEGER NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_markers PRIMARY KEY (account_id, timeline),
    CONSTRAINT fk_social_markers_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE TABLE social_imports (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    kind VARCHAR(20) NOT NULL,
    overwrite BOOLEAN NOT NULL,
    filename TEXT NOT NULL,
    state VARCHAR(10) NOT NULL,
    total INTEGER NOT NULL,
    done INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_social_imports PRIMARY KEY (id),
    CONSTRAINT fk_social_imports_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_imports_account_id ON social_imports (account_id)

CREATE INDEX ix_social_imports_created_at ON social_imports (created_at)

CREATE TABLE social_trend_authors (
    account_id BIGINT NOT NULL,
    trendable BOOLEAN,
    reviewed_at TIMESTAMP WITH TIME ZONE,
    requested_review_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_social_trend_authors PRIMARY KEY (account_id),
    CONSTRAINT fk_social_trend_authors_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE TABLE federation_posts (
    status_id BIGINT NOT NULL,
    parent TEXT,
    conversation TEXT,
    replies TEXT,
    quoted TEXT,
    stamp TEXT,
    stamp_checked_at TIMESTAMP WITH TIME ZONE,
    replies_asked_at TIMESTAMP WITH TIME ZONE,
    replies_read_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_federation_posts PRIMARY KEY (status_id),
    CONSTRAINT fk_federation_posts_status_id FOREIGN KEY(status_id) REFERENCES social_statuses (id) ON DELETE CASCADE
)

CREATE INDEX ix_federation_posts_conversation ON federation_posts (conversation) WHERE conversation IS NOT NULL

CREATE INDEX ix_federation_posts_stamp ON federation_posts (stamp) WHERE stamp IS NOT NULL

CREATE INDEX ix_federation_posts_stamp_checked_at ON federation_posts (stamp_checked_at) WHERE stamp_checked_at IS NOT NULL

CREATE INDEX ix_federation_posts_parent ON federation_posts (parent) WHERE parent IS NOT NULL

CREATE TABLE identity_applications (
    pbm_uuid UUID NOT NULL,
    name TEXT NOT NULL,
    slug VARCHAR(50) NOT NULL,
    provider INTEGER,
    meta_launch_url VARCHAR(200) NOT NULL,
    meta_icon_url TEXT NOT NULL,
    meta_description TEXT NOT NULL,
    meta_publisher TEXT NOT NULL,
    "group" VARCHAR(255) NOT NULL,
    policy_engine_mode VARCHAR(100) NOT NULL,
    open_in_new_tab BOOLEAN NOT NULL,
    meta_hide BOOLEAN NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_applications PRIMARY KEY (pbm_uuid),
    CONSTRAINT fk_identity_applications_pbm_uuid FOREIGN KEY(pbm_uuid) REFERENCES identity_policy_targets (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT uq_identity_applications_slug UNIQUE (slug),
    CONSTRAINT uq_identity_applications_provider UNIQUE (provider),
    CONSTRAINT fk_identity_applications_provider FOREIGN KEY(provider) REFERENCES identity_providers (id) ON DELETE SET NULL
)

CREATE TABLE identity_stages_identification_sources (
    owner UUID NOT NULL,
    other UUID NOT NULL,
    CONSTRAINT pk_identity_stages_identification_sources PRIMARY KEY (owner, other),
    CONSTRAINT fk_identity_stages_identification_sources_owner FOREIGN KEY(owner) REFERENCES identity_stages (stage_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_stages_identification_sources_other FOREIGN KEY(other) REFERENCES identity_sources (pbm_uuid) ON DELETE CASCADE
)

CREATE INDEX ix_identity_stages_identification_sources_other ON identity_stages_identification_sources (other)

CREATE TABLE identity_oauth_apps (
    id BIGINT NOT NULL,
    client_id VARCHAR(255) NOT NULL,
    secret_hash VARCHAR(64),
    kind VARCHAR(10) NOT NULL,
    provider_id INTEGER,
    name TEXT NOT NULL,
    website TEXT,
    redirect_uris TEXT NOT NULL,
    scopes TEXT NOT NULL,
    grant_types TEXT NOT NULL,
    auth_method VARCHAR(30) NOT NULL,
    jwks JSONB NOT NULL,
    trusted BOOLEAN NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_oauth_apps PRIMARY KEY (id),
    CONSTRAINT uq_identity_oauth_apps_client_id UNIQUE (client_id),
    CONSTRAINT fk_identity_oauth_apps_provider_id FOREIGN KEY(provider_id) REFERENCES identity_providers (id) ON DELETE CASCADE
)

CREATE INDEX ix_identity_oauth_apps_provider_id ON identity_oauth_apps (provider_id)

CREATE INDEX ix_identity_oauth_apps_created_at ON identity_oauth_apps (created_at)

CREATE TABLE identity_saml_requests (
    request_hash VARCHAR(64) NOT NULL,
    kind VARCHAR(20) NOT NULL,
    provider_id INTEGER,
    content JSONB NOT NULL,
    user_id INTEGER,
    proof_hash VARCHAR(64),
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_saml_requests PRIMARY KEY (request_hash),
    CONSTRAINT fk_identity_saml_requests_provider_id FOREIGN KEY(provider_id) REFERENCES identity_providers (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_saml_requests_user_id FOREIGN KEY(user_id) REFERENCES identity_users (id) ON DELETE CASCADE
)

CREATE INDEX ix_identity_saml_requests_expires_at ON identity_saml_requests (expires_at)

CREATE INDEX ix_identity_saml_requests_user_id ON identity_saml_requests (user_id)

CREATE INDEX ix_identity_saml_requests_provider_id ON identity_saml_requests (provider_id)

CREATE TABLE identity_source_user_connections (
    connection_uuid UUID NOT NULL,
    source UUID NOT NULL,
    kind VARCHAR(40) NOT NULL,
    "user" INTEGER NOT NULL,
    identifier VARCHAR(500) NOT NULL,
    access_token TEXT,
    reference VARCHAR(500),
    dn TEXT,
    seen_in UUID,
    is_made_here BOOLEAN DEFAULT false NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_source_user_connections PRIMARY KEY (connection_uuid),
    CONSTRAINT uq_identity_source_user_connections_source_identifier UNIQUE (source, identifier),
    CONSTRAINT fk_identity_source_user_connections_source FOREIGN KEY(source) REFERENCES identity_sources (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_source_user_connections_user FOREIGN KEY("user") REFERENCES identity_users (id) ON DELETE CASCADE
)

CREATE INDEX ix_identity_source_user_connections_user ON identity_source_user_connections ("user")

CREATE INDEX ix_identity_source_user_connections_reference ON identity_source_user_connections (source, reference)

CREATE TABLE identity_source_group_connections (
    connection_uuid UUID NOT NULL,
    source UUID NOT NULL,
    kind VARCHAR(40) NOT NULL,
    "group" UUID NOT NULL,
    identifier VARCHAR(500) NOT NULL,
    reference VARCHAR(500),
    seen_in UUID,
    is_made_here BOOLEAN DEFAULT false NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_source_group_connections PRIMARY KEY (connection_uuid),
    CONSTRAINT uq_identity_source_group_connections_source_identifier UNIQUE (source, identifier),
    CONSTRAINT fk_identity_source_group_connections_source FOREIGN KEY(source) REFERENCES identity_sources (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_source_group_connections_group FOREIGN KEY("group") REFERENCES identity_groups (group_uuid) ON DELETE CASCADE
)

CREATE INDEX ix_identity_source_group_connections_reference ON identity_source_group_connections (source, reference)

CREATE INDEX ix_identity_source_group_connections_group ON identity_source_group_connections ("group")

CREATE TABLE identity_source_attempts (
    key_hash VARCHAR(64) NOT NULL,
    source UUID NOT NULL,
    session_uuid UUID NOT NULL,
    data TEXT NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_source_attempts PRIMARY KEY (key_hash),
    CONSTRAINT fk_identity_source_attempts_source FOREIGN KEY(source) REFERENCES identity_sources (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_source_attempts_session_uuid FOREIGN KEY(session_uuid) REFERENCES identity_sessions (session_uuid) ON DELETE CASCADE
)

CREATE INDEX ix_identity_source_attempts_source ON identity_source_attempts (source)

CREATE INDEX ix_identity_source_attempts_session_uuid ON identity_source_attempts (session_uuid)

CREATE INDEX ix_identity_source_attempts_expires_at ON identity_source_attempts (expires_at)

CREATE TABLE identity_source_sessions (
    session_uuid UUID NOT NULL,
    source UUID NOT NULL,
    identifier VARCHAR(500) NOT NULL,
    remote_session VARCHAR(500) NOT NULL,
    CONSTRAINT pk_identity_source_sessions PRIMARY KEY (session_uuid),
    CONSTRAINT fk_identity_source_sessions_session_uuid FOREIGN KEY(session_uuid) REFERENCES identity_sessions (session_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_source_sessions_source FOREIGN KEY(source) REFERENCES identity_sources (pbm_uuid) ON DELETE CASCADE
)

CREATE INDEX ix_identity_source_sessions_identifier ON identity_source_sessions (source, identifier)

CREATE INDEX ix_identity_source_sessions_remote_session ON identity_source_sessions (source, remote_session)

CREATE TABLE identity_source_seen_messages (
    source UUID NOT NULL,
    message_hash VARCHAR(64) NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_source_seen_messages PRIMARY KEY (source, message_hash),
    CONSTRAINT fk_identity_source_seen_messages_source FOREIGN KEY(source) REFERENCES identity_sources (pbm_uuid) ON DELETE CASCADE
)

CREATE INDEX ix_identity_source_seen_messages_expires_at ON identity_source_seen_messages (expires_at)

CREATE TABLE identity_source_remote_apps (
    source UUID NOT NULL,
    host VARCHAR(300) NOT NULL,
    client_id TEXT NOT NULL,
    client_secret TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_source_remote_apps PRIMARY KEY (source, host),
    CONSTRAINT fk_identity_source_remote_apps_source FOREIGN KEY(source) REFERENCES identity_sources (pbm_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_source_ldap_runs (
    run_uuid UUID NOT NULL,
    source UUID NOT NULL,
    state VARCHAR(20) NOT NULL,
    phase VARCHAR(20) NOT NULL,
    counts JSONB NOT NULL,
    notes JSONB NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_identity_source_ldap_runs PRIMARY KEY (run_uuid),
    CONSTRAINT fk_identity_source_ldap_runs_source FOREIGN KEY(source) REFERENCES identity_sources (pbm_uuid) ON DELETE CASCADE
)

CREATE INDEX ix_identity_source_ldap_runs_source ON identity_source_ldap_runs (source)

CREATE TABLE identity_provider_mappings (
    owner INTEGER NOT NULL,
    other UUID NOT NULL,
    CONSTRAINT pk_identity_provider_mappings PRIMARY KEY (owner, other),
    CONSTRAINT fk_identity_provider_mappings_owner FOREIGN KEY(owner) REFERENCES identity_providers (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_provider_mappings_other FOREIGN KEY(other) REFERENCES identity_property_mappings (pm_uuid) ON DELETE RESTRICT
)

CREATE INDEX ix_identity_provider_mappings_other ON identity_provider_mappings (other)

CREATE TABLE identity_client_ids (
    client_id VARCHAR(255) NOT NULL,
    provider_id INTEGER NOT NULL,
    CONSTRAINT pk_identity_client_ids PRIMARY KEY (client_id),
    CONSTRAINT uq_identity_client_ids_provider_id UNIQUE (provider_id),
    CONSTRAINT fk_identity_client_ids_provider_id FOREIGN KEY(provider_id) REFERENCES identity_providers (id) ON DELETE CASCADE
)

CREATE TABLE identity_providers_openid (
    id INTEGER NOT NULL,
    client_type VARCHAR(100) NOT NULL,
    client_id VARCHAR(255) NOT NULL,
    client_secret TEXT,
    response_types JSONB NOT NULL,
    jwt_alg VARCHAR(100) NOT NULL,
    reuse_consent BOOLEAN NOT NULL,
    require_consent BOOLEAN NOT NULL,
    redirect_uris TEXT NOT NULL,
    scope TEXT NOT NULL,
    sub_mode VARCHAR(100) NOT NULL,
    issuer_mode VARCHAR(100) NOT NULL,
    access_code_validity VARCHAR(255) NOT NULL,
    access_token_validity VARCHAR(255) NOT NULL,
    refresh_token_validity VARCHAR(255) NOT NULL,
    refresh_token_threshold VARCHAR(255) NOT NULL,
    include_claims_in_id_token BOOLEAN NOT NULL,
    signing_key UUID,
    redirect_uri_matching VARCHAR(100) NOT NULL,
    post_logout_redirect_uris TEXT NOT NULL,
    jwks JSONB NOT NULL,
    logout_uri TEXT NOT NULL,
    logout_method VARCHAR(100) NOT NULL,
    CONSTRAINT pk_identity_providers_openid PRIMARY KEY (id),
    CONSTRAINT fk_identity_providers_openid_id FOREIGN KEY(id) REFERENCES identity_providers (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_providers_openid_signing_key FOREIGN KEY(signing_key) REFERENCES identity_keypairs (kp_uuid) ON DELETE RESTRICT
)

CREATE INDEX ix_identity_providers_openid_signing_key ON identity_providers_openid (signing_key)

CREATE TABLE identity_providers_applicationgateway (
    id INTEGER NOT NULL,
    client_secret TEXT NOT NULL,
    cookie_secret TEXT NOT NULL,
    external_host_key VARCHAR(500),
    internal_host TEXT NOT NULL,
    external_host TEXT NOT NULL,
    client_id VARCHAR(255) NOT NULL,
    mode VARCHAR(100) NOT NULL,
    internal_host_ssl_validation BOOLEAN NOT NULL,
    skip_path_regex TEXT NOT NULL,
    intercept_header_auth BOOLEAN NOT NULL,
    basic_auth_enabled BOOLEAN NOT NULL,
    basic_auth_user_attribute VARCHAR(255) NOT NULL,
    basic_auth_password_attribute VARCHAR(255) NOT NULL,
    cookie_domain VARCHAR(255) NOT NULL,
    certificate UUID,
    access_token_validity VARCHAR(255) NOT NULL,
    refresh_token_validity VARCHAR(255) NOT NULL,
    CONSTRAINT pk_identity_providers_applicationgateway PRIMARY KEY (id),
    CONSTRAINT fk_identity_providers_applicationgateway_id FOREIGN KEY(id) REFERENCES identity_providers (id) ON DELETE CASCADE,
    CONSTRAINT uq_identity_providers_applicationgateway_external_host_key UNIQUE (external_host_key),
    CONSTRAINT fk_identity_providers_applicationgateway_certificate FOREIGN KEY(certificate) REFERENCES identity_keypairs (kp_uuid) ON DELETE RESTRICT
)

CREATE INDEX ix_identity_providers_applicationgateway_certificate ON identity_providers_applicationgateway (certificate)

CREATE TABLE identity_providers_oauth (
    id INTEGER NOT NULL,
    redirect_uris TEXT NOT NULL,
    client_type VARCHAR(100) NOT NULL,
    authorization_grant_type VARCHAR(100) NOT NULL,
    client_id VARCHAR(100) NOT NULL,
    client_secret TEXT,
    sub_mode VARCHAR(100) NOT NULL,
    issuer_mode VARCHAR(100) NOT NULL,
    access_code_validity VARCHAR(255) NOT NULL,
    access_token_validity VARCHAR(255) NOT NULL,
    refresh_token_validity VARCHAR(255) NOT NULL,
    refresh_token_threshold VARCHAR(255) NOT NULL,
    include_claims_in_id_token BOOLEAN NOT NULL,
    signing_key UUID,
    redirect_uri_matching VARCHAR(100) NOT NULL,
    post_logout_redirect_uris TEXT NOT NULL,
    jwks JSONB NOT NULL,
    logout_uri TEXT NOT NULL,
    logout_method VARCHAR(100) NOT NULL,
    CONSTRAINT pk_identity_providers_oauth PRIMARY KEY (id),
    CONSTRAINT fk_identity_providers_oauth_id FOREIGN KEY(id) REFERENCES identity_providers (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_providers_oauth_signing_key FOREIGN KEY(signing_key) REFERENCES identity_keypairs (kp_uuid) ON DELETE RESTRICT
)

CREATE INDEX ix_identity_providers_oauth_signing_key ON identity_providers_oauth (signing_key)

CREATE TABLE identity_providers_saml (
    id INTEGER NOT NULL,
    acs_url VARCHAR(200) NOT NULL,
    audience TEXT NOT NULL,
    issuer TEXT NOT NULL,
    assertion_valid_not_before VARCHAR(255) NOT NULL,
    assertion_valid_not_on_or_after VARCHAR(255) NOT NULL,
    session_valid_not_on_or_after VARCHAR(255) NOT NULL,
    digest_algorithm VARCHAR(100) NOT NULL,
    signature_algorithm VARCHAR(100) NOT NULL,
    signing_kp UUID,
    require_signing BOOLEAN NOT NULL,
    sp_binding VARCHAR(100) NOT NULL,
    sls_url VARCHAR(200) NOT NULL,
    sls_binding VARCHAR(100) NOT NULL,
    logout_method VARCHAR(100) NOT NULL,
    verification_kp UUID,
    encryption_kp UUID,
    sign_assertion BOOLEAN NOT NULL,
    sign_response BOOLEAN NOT NULL,
    sign_logout_request BOOLEAN NOT NULL,
    sign_logout_response BOOLEAN NOT NULL,
    name_id_mapping UUID,
    authn_context_class_ref_mapping UUID,
    default_name_id_policy VARCHAR(100) NOT NULL,
    name_id_per_service BOOLEAN NOT NULL,
    default_relay_state TEXT NOT NULL,
    CONSTRAINT pk_identity_providers_saml PRIMARY KEY (id),
    CONSTRAINT fk_identity_providers_saml_id FOREIGN KEY(id) REFERENCES identity_providers (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_providers_saml_signing_kp FOREIGN KEY(signing_kp) REFERENCES identity_keypairs (kp_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_providers_saml_verification_kp FOREIGN KEY(verification_kp) REFERENCES identity_keypairs (kp_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_providers_saml_encryption_kp FOREIGN KEY(encryption_kp) REFERENCES identity_keypairs (kp_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_providers_saml_name_id_mapping FOREIGN KEY(name_id_mapping) REFERENCES identity_property_mappings (pm_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_providers_saml_authn_context_class_ref_mapping FOREIGN KEY(authn_context_class_ref_mapping) REFERENCES identity_property_mappings (pm_uuid) ON DELETE RESTRICT
)

CREATE INDEX ix_identity_providers_saml_authn_context_class_ref_mapping ON identity_providers_saml (authn_context_class_ref_mapping)

CREATE INDEX ix_identity_providers_saml_verification_kp ON identity_providers_saml (verification_kp)

CREATE INDEX ix_identity_providers_saml_name_id_mapping ON identity_providers_saml (name_id_mapping)

CREATE INDEX ix_identity_providers_saml_signing_kp ON identity_providers_saml (signing_kp)

CREATE INDEX ix_identity_providers_saml_encryption_kp ON identity_providers_saml (encryption_kp)

CREATE TABLE identity_providers_ldap (
    id INTEGER NOT NULL,
    base_dn VARCHAR(255) NOT NULL,
    certificate UUID,
    tls_server_name VARCHAR(253) NOT NULL,
    uid_start_number INTEGER NOT NULL,
    gid_start_number INTEGER NOT NULL,
    mfa_support BOOLEAN NOT NULL,
    CONSTRAINT pk_identity_providers_ldap PRIMARY KEY (id),
    CONSTRAINT fk_identity_providers_ldap_id FOREIGN KEY(id) REFERENCES identity_providers (id) ON DELETE CASCADE,
    CONSTRAINT uq_identity_providers_ldap_base_dn UNIQUE (base_dn),
    CONSTRAINT fk_identity_providers_ldap_certificate FOREIGN KEY(certificate) REFERENCES identity_keypairs (kp_uuid) ON DELETE RESTRICT
)

CREATE INDEX ix_identity_providers_ldap_certificate ON identity_providers_ldap (certificate)

CREATE TABLE identity_providers_radius (
    id INTEGER NOT NULL,
    shared_secret TEXT,
    client_networks TEXT NOT NULL,
    certificate UUID,
    mfa_support BOOLEAN NOT NULL,
    CONSTRAINT pk_identity_providers_radius PRIMARY KEY (id),
    CONSTRAINT fk_identity_providers_radius_id FOREIGN KEY(id) REFERENCES identity_providers (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_providers_radius_certificate FOREIGN KEY(certificate) REFERENCES identity_keypairs (kp_uuid) ON DELETE RESTRICT
)

CREATE INDEX ix_identity_providers_radius_certificate ON identity_providers_radius (certificate)

CREATE TABLE identity_providers_scim_group_mappings (
    owner INTEGER NOT NULL,
    other UUID NOT NULL,
    CONSTRAINT pk_identity_providers_scim_group_mappings PRIMARY KEY (owner, other),
    CONSTRAINT fk_identity_providers_scim_group_mappings_owner FOREIGN KEY(owner) REFERENCES identity_providers (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_providers_scim_group_mappings_other FOREIGN KEY(other) REFERENCES identity_property_mappings (pm_uuid) ON DELETE RESTRICT
)

CREATE INDEX ix_identity_providers_scim_group_mappings_other ON identity_providers_scim_group_mappings (other)

CREATE TABLE identity_providers_scim (
    id INTEGER NOT NULL,
    url TEXT NOT NULL,
    token TEXT,
    exclude_users_service_account BOOLEAN NOT NULL,
    filter_group UUID,
    deprovision VARCHAR(100) NOT NULL,
    CONSTRAINT pk_identity_providers_scim PRIMARY KEY (id),
    CONSTRAINT fk_identity_providers_scim_id FOREIGN KEY(id) REFERENCES identity_providers (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_providers_scim_filter_group FOREIGN KEY(filter_group) REFERENCES identity_groups (group_uuid) ON DELETE RESTRICT
)

CREATE INDEX ix_identity_providers_scim_filter_group ON identity_providers_scim (filter_group)

CREATE TABLE identity_scim_targets (
    provider INTEGER NOT NULL,
    held_by UUID,
    held_until TIMESTAMP WITH TIME ZONE,
    paused_until TIMESTAMP WITH TIME ZONE,
    failures INTEGER NOT NULL,
    error TEXT,
    config JSONB NOT NULL,
    config_at TIMESTAMP WITH TIME ZONE,
    sweep VARCHAR(60),
    sweep_again BOOLEAN NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE,
    finished_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_identity_scim_targets PRIMARY KEY (provider),
    CONSTRAINT fk_identity_scim_targets_provider FOREIGN KEY(provider) REFERENCES identity_providers (id) ON DELETE CASCADE
)

CREATE TABLE identity_scim_waiting (
    provider INTEGER NOT NULL,
    kind VARCHAR(10) NOT NULL,
    local_id VARCHAR(40) NOT NULL,
    mark BIGINT NOT NULL,
    attempts INTEGER NOT NULL,
    run_at TIMESTAMP WITH TIME ZONE NOT NULL,
    error TEXT,
    CONSTRAINT pk_identity_scim_waiting PRIMARY KEY (provider, kind, local_id),
    CONSTRAINT fk_identity_scim_waiting_provider FOREIGN KEY(provider) REFERENCES identity_providers (id) ON DELETE CASCADE
)

CREATE INDEX ix_identity_scim_waiting_run_at ON identity_scim_waiting (provider, run_at)

CREATE TABLE identity_scim_remotes (
    provider INTEGER NOT NULL,
    kind VARCHAR(10) NOT NULL,
    local_id VARCHAR(40) NOT NULL,
    remote_id VARCHAR(500) NOT NULL,
    name TEXT NOT NULL,
    digest VARCHAR(64) NOT NULL,
    is_active BOOLEAN NOT NULL,
    pushed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_scim_remotes PRIMARY KEY (provider, kind, local_id),
    CONSTRAINT fk_identity_scim_remotes_provider FOREIGN KEY(provider) REFERENCES identity_providers (id) ON DELETE CASCADE
)

CREATE TABLE identity_scim_remote_members (
    provider INTEGER NOT NULL,
    group_uuid UUID NOT NULL,
    user_id INTEGER NOT NULL,
    CONSTRAINT pk_identity_scim_remote_members PRIMARY KEY (provider, group_uuid, user_id),
    CONSTRAINT fk_identity_scim_remote_members_provider FOREIGN KEY(provider) REFERENCES identity_providers (id) ON DELETE CASCADE
)

CREATE INDEX ix_identity_scim_remote_members_user ON identity_scim_remote_members (provider, user_id)

CREATE TABLE identity_sources_ldap_mappings (
    owner UUID NOT NULL,
    other UUID NOT NULL,
    CONSTRAINT pk_identity_sources_ldap_mappings PRIMARY KEY (owner, other),
    CONSTRAINT fk_identity_sources_ldap_mappings_owner FOREIGN KEY(owner) REFERENCES identity_sources (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_sources_ldap_mappings_other FOREIGN KEY(other) REFERENCES identity_property_mappings (pm_uuid) ON DELETE RESTRICT
)

CREATE INDEX ix_identity_sources_ldap_mappings_other ON identity_sources_ldap_mappings (other)

CREATE TABLE identity_sources_ldap (
    pbm_uuid UUID NOT NULL,
    server_uri TEXT NOT NULL,
    bind_cn TEXT NOT NULL,
    bind_password TEXT,
    start_tls BOOLEAN NOT NULL,
    sni BOOLEAN NOT NULL,
    peer_certificate UUID,
    client_certificate UUID,
    base_dn TEXT NOT NULL,
    additional_user_dn TEXT NOT NULL,
    additional_group_dn TEXT NOT NULL,
    user_object_filter TEXT NOT NULL,
    group_object_filter TEXT NOT NULL,
    user_group_membership_field TEXT NOT NULL,
    group_membership_field TEXT NOT NULL,
    user_membership_attribute TEXT NOT NULL,
    lookup_groups_from_user BOOLEAN NOT NULL,
    object_uniqueness_field TEXT NOT NULL,
    sync_users BOOLEAN NOT NULL,
    sync_groups BOOLEAN NOT NULL,
    sync_users_password BOOLEAN NOT NULL,
    password_login_update_internal_password BOOLEAN NOT NULL,
    delete_not_found_objects BOOLEAN NOT NULL,
    sync_parent_group UUID,
    CONSTRAINT pk_identity_sources_ldap PRIMARY KEY (pbm_uuid),
    CONSTRAINT fk_identity_sources_ldap_pbm_uuid FOREIGN KEY(pbm_uuid) REFERENCES identity_sources (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_sources_ldap_peer_certificate FOREIGN KEY(peer_certificate) REFERENCES identity_keypairs (kp_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_sources_ldap_client_certificate FOREIGN KEY(client_certificate) REFERENCES identity_keypairs (kp_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_sources_ldap_sync_parent_group FOREIGN KEY(sync_parent_group) REFERENCES identity_groups (group_uuid) ON DELETE RESTRICT
)

CREATE INDEX ix_identity_sources_ldap_peer_certificate ON identity_sources_ldap (peer_certificate)

CREATE INDEX ix_identity_sources_ldap_sync_parent_group ON identity_sources_ldap (sync_parent_group)

CREATE INDEX ix_identity_sources_ldap_client_certificate ON identity_sources_ldap (client_certificate)

CREATE TABLE identity_source_user_mappings (
    owner UUID NOT NULL,
    other UUID NOT NULL,
    CONSTRAINT pk_identity_source_user_mappings PRIMARY KEY (owner, other),
    CONSTRAINT fk_identity_source_user_mappings_owner FOREIGN KEY(owner) REFERENCES identity_sources (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_source_user_mappings_other FOREIGN KEY(other) REFERENCES identity_property_mappings (pm_uuid) ON DELETE RESTRICT
)

CREATE INDEX ix_identity_source_user_mappings_other ON identity_source_user_mappings (other)

CREATE TABLE identity_source_group_mappings (
    owner UUID NOT NULL,
    other UUID NOT NULL,
    CONSTRAINT pk_identity_source_group_mappings PRIMARY KEY (owner, other),
    CONSTRAINT fk_identity_source_group_mappings_owner FOREIGN KEY(owner) REFERENCES identity_sources (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_source_group_mappings_other FOREIGN KEY(other) REFERENCES identity_property_mappings (pm_uuid) ON DELETE RESTRICT
)

CREATE INDEX ix_identity_source_group_mappings_other ON identity_source_group_mappings (other)

CREATE TABLE identity_sources_oauth (
    pbm_uuid UUID NOT NULL,
    provider_type VARCHAR(100) NOT NULL,
    request_token_url VARCHAR(255) NOT NULL,
    authorization_url VARCHAR(255) NOT NULL,
    access_token_url VARCHAR(255) NOT NULL,
    profile_url VARCHAR(255) NOT NULL,
    consumer_key TEXT NOT NULL,
    consumer_secret TEXT,
    pkce VARCHAR(100) NOT NULL,
    additional_scopes TEXT NOT NULL,
    oidc_well_known_url TEXT NOT NULL,
    oidc_jwks_url TEXT NOT NULL,
    oidc_jwks JSONB NOT NULL,
    oidc_issuer TEXT NOT NULL,
    authorization_code_auth_method VARCHAR(100) NOT NULL,
    group_matching_mode VARCHAR(100) NOT NULL,
    CONSTRAINT pk_identity_sources_oauth PRIMARY KEY (pbm_uuid),
    CONSTRAINT fk_identity_sources_oauth_pbm_uuid FOREIGN KEY(pbm_uuid) REFERENCES identity_sources (pbm_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_sources_saml (
    pbm_uuid UUID NOT NULL,
    issuer TEXT NOT NULL,
    idp_issuer TEXT NOT NULL,
    sso_url VARCHAR(200) NOT NULL,
    binding_type VARCHAR(100) NOT NULL,
    slo_url VARCHAR(200),
    temporary_user_delete_after TEXT NOT NULL,
    signing_kp UUID NOT NULL,
    verification_kp UUID,
    encryption_kp UUID,
    name_id_policy VARCHAR(100) NOT NULL,
    pre_authentication_flow UUID,
    allow_idp_initiated BOOLEAN NOT NULL,
    force_authn BOOLEAN NOT NULL,
    signed_assertion BOOLEAN NOT NULL,
    signed_response BOOLEAN NOT NULL,
    digest_algorithm VARCHAR(100) NOT NULL,
    signature_algorithm VARCHAR(100) NOT NULL,
    audience_override TEXT NOT NULL,
    group_matching_mode VARCHAR(100) NOT NULL,
    CONSTRAINT pk_identity_sources_saml PRIMARY KEY (pbm_uuid),
    CONSTRAINT fk_identity_sources_saml_pbm_uuid FOREIGN KEY(pbm_uuid) REFERENCES identity_sources (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_sources_saml_signing_kp FOREIGN KEY(signing_kp) REFERENCES identity_keypairs (kp_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_sources_saml_verification_kp FOREIGN KEY(verification_kp) REFERENCES identity_keypairs (kp_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_sources_saml_encryption_kp FOREIGN KEY(encryption_kp) REFERENCES identity_keypairs (kp_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_sources_saml_pre_authentication_flow FOREIGN KEY(pre_authentication_flow) REFERENCES identity_flows (flow_uuid) ON DELETE RESTRICT
)

CREATE INDEX ix_identity_sources_saml_encryption_kp ON identity_sources_saml (encryption_kp)

CREATE INDEX ix_identity_sources_saml_pre_authentication_flow ON identity_sources_saml (pre_authentication_flow)

CREATE INDEX ix_identity_sources_saml_signing_kp ON identity_sources_saml (signing_kp)

CREATE INDEX ix_identity_sources_saml_verification_kp ON identity_sources_saml (verification_kp)

CREATE TABLE identity_sources_scim (
    pbm_uuid UUID NOT NULL,
    token_hash VARCHAR(64) NOT NULL,
    group_matching_mode VARCHAR(100) NOT NULL,
    CONSTRAINT pk_identity_sources_scim PRIMARY KEY (pbm_uuid),
    CONSTRAINT fk_identity_sources_scim_pbm_uuid FOREIGN KEY(pbm_uuid) REFERENCES identity_sources (pbm_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_saml_transient_names (
    source UUID NOT NULL,
    identifier VARCHAR(500) NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_saml_transient_names PRIMARY KEY (source, identifier),
    CONSTRAINT fk_identity_saml_transient_names_source FOREIGN KEY(source) REFERENCES identity_sources (pbm_uuid) ON DELETE CASCADE
)

CREATE INDEX ix_identity_saml_transient_names_expires_at ON identity_saml_transient_names (expires_at)

CREATE TABLE social_collection_items (
    id BIGINT NOT NULL,
    collection_id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    state VARCHAR(10) NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_collection_items PRIMARY KEY (id),
    CONSTRAINT uq_social_collection_items_collection_id_account_id UNIQUE (collection_id, account_id),
    CONSTRAINT fk_social_collection_items_collection_id FOREIGN KEY(collection_id) REFERENCES social_collections (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_collection_items_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_collection_items_account_id ON social_collection_items (account_id)

CREATE TABLE social_conversation_statuses (
    conversation_id BIGINT NOT NULL,
    status_id BIGINT NOT NULL,
    CONSTRAINT pk_social_conversation_statuses PRIMARY KEY (conversation_id, status_id),
    CONSTRAINT fk_social_conversation_statuses_conversation_id FOREIGN KEY(conversation_id) REFERENCES social_conversations (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_conversation_statuses_status_id FOREIGN KEY(status_id) REFERENCES social_statuses (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_conversation_statuses_status_id ON social_conversation_statuses (status_id)

CREATE TABLE social_one_time_keys (
    id BIGINT NOT NULL,
    device_row BIGINT NOT NULL,
    key_id TEXT NOT NULL,
    key TEXT NOT NULL,
    signature TEXT NOT NULL,
    CONSTRAINT pk_social_one_time_keys PRIMARY KEY (id),
    CONSTRAINT uq_social_one_time_keys_device_row_key_id UNIQUE (device_row, key_id),
    CONSTRAINT fk_social_one_time_keys_device_row FOREIGN KEY(device_row) REFERENCES social_devices (id) ON DELETE CASCADE
)

CREATE TABLE social_encrypted_messages (
    id BIGINT NOT NULL,
    device_row BIGINT NOT NULL,
    from_account_id BIGINT NOT NULL,
    from_device_id TEXT NOT NULL,
    type INTEGER NOT NULL,
    body TEXT NOT NULL,
    digest TEXT NOT NULL,
    message_franking TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_encrypted_messages PRIMARY KEY (id),
    CONSTRAINT fk_social_encrypted_messages_device_row FOREIGN KEY(device_row) REFERENCES social_devices (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_encrypted_messages_device ON social_encrypted_messages (device_row, id)

CREATE TABLE social_filter_keywords (
    id BIGINT NOT NULL,
    filter_id BIGINT NOT NULL,
    keyword TEXT NOT NULL,
    whole_word BOOLEAN NOT NULL,
    CONSTRAINT pk_social_filter_keywords PRIMARY KEY (id),
    CONSTRAINT fk_social_filter_keywords_filter_id FOREIGN KEY(filter_id) REFERENCES social_filters (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_filter_keywords_filter_id ON social_filter_keywords (filter_id)

CREATE TABLE social_filter_statuses (
    id BIGINT NOT NULL,
    filter_id BIGINT NOT NULL,
    status_id BIGINT NOT NULL,
    CONSTRAINT pk_social_filter_statuses PRIMARY KEY (id),
    CONSTRAINT uq_social_filter_statuses_filter_id_status_id UNIQUE (filter_id, status_id),
    CONSTRAINT fk_social_filter_statuses_filter_id FOREIGN KEY(filter_id) REFERENCES social_filters (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_filter_statuses_status_id FOREIGN KEY(status_id) REFERENCES social_statuses (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_filter_statuses_status_id ON social_filter_statuses (status_id)

CREATE TABLE social_list_members (
    id BIGINT NOT NULL,
    list_id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    CONSTRAINT pk_social_list_members PRIMARY KEY (id),
    CONSTRAINT uq_social_list_members_list_id_account_id UNIQUE (list_id, account_id),
    CONSTRAINT fk_social_list_members_list_id FOREIGN KEY(list_id) REFERENCES social_lists (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_list_members_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_list_members_account_id ON social_list_members (account_id, list_id)

CREATE TABLE social_media (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    status_id BIGINT,
    scheduled_id BIGINT,
    kind VARCHAR(10) NOT NULL,
    state VARCHAR(10) NOT NULL,
    file TEXT NOT NULL,
    preview TEXT NOT NULL,
    source TEXT NOT NULL,
    mime VARCHAR(100) NOT NULL,
    description TEXT,
    meta JSONB NOT NULL,
    blurhash VARCHAR(100),
    remote_url TEXT,
    preview_remote_url TEXT,
    error TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    fetched_bytes BIGINT DEFAULT '0' NOT NULL,
    looked_at TIMESTAMP WITH TIME ZONE,
    withheld_kind VARCHAR(10) DEFAULT '' NOT NULL,
    CONSTRAINT pk_social_media PRIMARY KEY (id),
    CONSTRAINT fk_social_media_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_media_status_id FOREIGN KEY(status_id) REFERENCES social_statuses (id) ON DELETE SET NULL
)

CREATE INDEX ix_social_media_scheduled_id ON social_media (scheduled_id)

CREATE INDEX ix_social_media_looked_at ON social_media (looked_at, fetched_bytes) WHERE looked_at IS NOT NULL

CREATE INDEX ix_social_media_created_at ON social_media (created_at)

CREATE INDEX ix_social_media_account_id ON social_media (account_id, id)

CREATE INDEX ix_social_media_status_id ON social_media (status_id)

CREATE TABLE social_report_notes (
    id BIGINT NOT NULL,
    report_id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    content TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_report_notes PRIMARY KEY (id),
    CONSTRAINT fk_social_report_notes_report_id FOREIGN KEY(report_id) REFERENCES social_reports (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_report_notes_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_report_notes_account_id ON social_report_notes (account_id)

CREATE INDEX ix_social_report_notes_report_id ON social_report_notes (report_id, id)

CREATE TABLE social_strikes (
    id BIGINT NOT NULL,
    target_id BIGINT NOT NULL,
    account_id BIGINT,
    action VARCHAR(30) NOT NULL,
    text TEXT NOT NULL,
    status_ids JSONB NOT NULL,
    report_id BIGINT,
    overruled_at TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_strikes PRIMARY KEY (id),
    CONSTRAINT fk_social_strikes_target_id FOREIGN KEY(target_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_strikes_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE SET NULL,
    CONSTRAINT fk_social_strikes_report_id FOREIGN KEY(report_id) REFERENCES social_reports (id) ON DELETE SET NULL
)

CREATE INDEX ix_social_strikes_account_id ON social_strikes (account_id)

CREATE INDEX ix_social_strikes_report_id ON social_strikes (report_id)

CREATE INDEX ix_social_strikes_target_id ON social_strikes (target_id, id)

CREATE TABLE social_severed_follows (
    severance_id BIGINT NOT NULL,
    following BOOLEAN NOT NULL,
    acct TEXT NOT NULL,
    reblogs BOOLEAN NOT NULL,
    notify BOOLEAN NOT NULL,
    languages JSONB,
    CONSTRAINT pk_social_severed_follows PRIMARY KEY (severance_id, following, acct),
    CONSTRAINT fk_social_severed_follows_severance_id FOREIGN KEY(severance_id) REFERENCES social_severances (id) ON DELETE CASCADE
)

CREATE TABLE social_notifications (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    from_id BIGINT NOT NULL,
    type VARCHAR(30) NOT NULL,
    status_id BIGINT,
    group_key TEXT NOT NULL,
    filtered BOOLEAN NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    once_key TEXT NOT NULL,
    subject_id BIGINT,
    CONSTRAINT pk_social_notifications PRIMARY KEY (id),
    CONSTRAINT fk_social_notifications_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_notifications_from_id FOREIGN KEY(from_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_notifications_status_id FOREIGN KEY(status_id) REFERENCES social_statuses (id) ON DELETE CASCADE,
    CONSTRAINT uq_social_notifications_once_key UNIQUE (once_key)
)

CREATE INDEX ix_social_notifications_status_id ON social_notifications (status_id)

CREATE INDEX ix_social_notifications_from_id ON social_notifications (from_id, account_id)

CREATE INDEX ix_social_notifications_account_id ON social_notifications (account_id, id)

CREATE INDEX ix_social_notifications_group_key ON social_notifications (account_id, group_key, id, from_id) WHERE type IN ('favourite', 'reblog', 'follow', 'admin.sign_up')

CREATE TABLE social_status_words (
    status_id BIGINT NOT NULL,
    words TEXT NOT NULL,
    CONSTRAINT pk_social_status_words PRIMARY KEY (status_id),
    CONSTRAINT fk_social_status_words_status_id FOREIGN KEY(status_id) REFERENCES social_statuses (id) ON DELETE CASCADE
)

CREATE TABLE social_mentions (
    status_id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    silent BOOLEAN NOT NULL,
    CONSTRAINT pk_social_mentions PRIMARY KEY (status_id, account_id),
    CONSTRAINT fk_social_mentions_status_id FOREIGN KEY(status_id) REFERENCES social_statuses (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_mentions_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_mentions_account_id ON social_mentions (account_id, status_id)

CREATE TABLE social_status_edits (
    id BIGINT NOT NULL,
    status_id BIGINT NOT NULL,
    text TEXT NOT NULL,
    content TEXT NOT NULL,
    spoiler_text TEXT NOT NULL,
    sensitive BOOLEAN NOT NULL,
    media JSONB NOT NULL,
    poll_options JSONB,
    quoted_id BIGINT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_status_edits PRIMARY KEY (id),
    CONSTRAINT fk_social_status_edits_status_id FOREIGN KEY(status_id) REFERENCES social_statuses (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_status_edits_status_id ON social_status_edits (status_id)

CREATE TABLE social_favourites (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    status_id BIGINT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_favourites PRIMARY KEY (id),
    CONSTRAINT uq_social_favourites_account_id_status_id UNIQUE (account_id, status_id),
    CONSTRAINT fk_social_favourites_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_favourites_status_id FOREIGN KEY(status_id) REFERENCES social_statuses (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_favourites_account_id ON social_favourites (account_id, id)

CREATE INDEX ix_social_favourites_status_id ON social_favourites (status_id, id)

CREATE TABLE social_bookmarks (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    status_id BIGINT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_bookmarks PRIMARY KEY (id),
    CONSTRAINT uq_social_bookmarks_account_id_status_id UNIQUE (account_id, status_id),
    CONSTRAINT fk_social_bookmarks_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_bookmarks_status_id FOREIGN KEY(status_id) REFERENCES social_statuses (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_bookmarks_account_id ON social_bookmarks (account_id, id)

CREATE INDEX ix_social_bookmarks_status_id ON social_bookmarks (status_id, id)

CREATE TABLE social_pins (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    status_id BIGINT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_pins PRIMARY KEY (id),
    CONSTRAINT uq_social_pins_account_id_status_id UNIQUE (account_id, status_id),
    CONSTRAINT fk_social_pins_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_pins_status_id FOREIGN KEY(status_id) REFERENCES social_statuses (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_pins_account_id ON social_pins (account_id, id)

CREATE INDEX ix_social_pins_status_id ON social_pins (status_id, id)

CREATE TABLE social_polls (
    id BIGINT NOT NULL,
    status_id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    options JSONB NOT NULL,
    tallies JSONB NOT NULL,
    voters_count INTEGER,
    multiple BOOLEAN NOT NULL,
    hide_totals BOOLEAN NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    ended_at TIMESTAMP WITH TIME ZONE,
    fetched_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_social_polls PRIMARY KEY (id),
    CONSTRAINT fk_social_polls_status_id FOREIGN KEY(status_id) REFERENCES social_statuses (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_polls_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_polls_status_id ON social_polls (status_id)

CREATE INDEX ix_social_polls_expires_at ON social_polls (expires_at)

CREATE INDEX ix_social_polls_account_id ON social_polls (account_id)

CREATE TABLE social_imported_statuses (
    status_id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    original_uri TEXT NOT NULL,
    imported_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_imported_statuses PRIMARY KEY (status_id),
    CONSTRAINT uq_social_imported_statuses_account_id_original_uri UNIQUE (account_id, original_uri),
    CONSTRAINT fk_social_imported_statuses_status_id FOREIGN KEY(status_id) REFERENCES social_statuses (id) ON DELETE CASCADE
)

CREATE TABLE social_status_tags (
    tag_id BIGINT NOT NULL,
    status_id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    CONSTRAINT pk_social_status_tags PRIMARY KEY (tag_id, status_id),
    CONSTRAINT fk_social_status_tags_tag_id FOREIGN KEY(tag_id) REFERENCES social_tags (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_status_tags_status_id FOREIGN KEY(status_id) REFERENCES social_statuses (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_status_tags_account_id ON social_status_tags (account_id, tag_id)

CREATE INDEX ix_social_status_tags_status_id ON social_status_tags (status_id)

CREATE TABLE social_import_rows (
    id BIGINT NOT NULL,
    import_id BIGINT NOT NULL,
    data JSONB NOT NULL,
    has_failed BOOLEAN NOT NULL,
    CONSTRAINT pk_social_import_rows PRIMARY KEY (id),
    CONSTRAINT fk_social_import_rows_import_id FOREIGN KEY(import_id) REFERENCES social_imports (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_import_rows_waiting ON social_import_rows (import_id, id) WHERE NOT has_failed

CREATE INDEX ix_social_import_rows_import_id ON social_import_rows (import_id, id)

CREATE TABLE social_status_trends (
    status_id BIGINT NOT NULL,
    trendable BOOLEAN,
    score FLOAT NOT NULL,
    CONSTRAINT pk_social_status_trends PRIMARY KEY (status_id),
    CONSTRAINT fk_social_status_trends_status_id FOREIGN KEY(status_id) REFERENCES social_statuses (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_status_trends_score ON social_status_trends (score)

CREATE TABLE identity_access_offers (
    offer_uuid UUID NOT NULL,
    application UUID,
    "group" UUID,
    description TEXT NOT NULL,
    requestable BOOLEAN NOT NULL,
    longest TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_access_offers PRIMARY KEY (offer_uuid),
    CONSTRAINT uq_identity_access_offers_application UNIQUE (application),
    CONSTRAINT fk_identity_access_offers_application FOREIGN KEY(application) REFERENCES identity_applications (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT uq_identity_access_offers_group UNIQUE ("group"),
    CONSTRAINT fk_identity_access_offers_group FOREIGN KEY("group") REFERENCES identity_groups (group_uuid) ON DELETE CASCADE
)

CREATE TABLE identity_application_backchannel_providers (
    owner UUID NOT NULL,
    other INTEGER NOT NULL,
    CONSTRAINT pk_identity_application_backchannel_providers PRIMARY KEY (owner, other),
    CONSTRAINT fk_identity_application_backchannel_providers_owner FOREIGN KEY(owner) REFERENCES identity_applications (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_application_backchannel_providers_other FOREIGN KEY(other) REFERENCES identity_providers (id) ON DELETE CASCADE
)

CREATE INDEX ix_identity_application_backchannel_providers_other ON identity_application_backchannel_providers (other)

CREATE TABLE identity_application_entitlements (
    pbm_uuid UUID NOT NULL,
    name VARCHAR(255) NOT NULL,
    app UUID NOT NULL,
    attributes JSONB NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_application_entitlements PRIMARY KEY (pbm_uuid),
    CONSTRAINT fk_identity_application_entitlements_pbm_uuid FOREIGN KEY(pbm_uuid) REFERENCES identity_policy_targets (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_application_entitlements_app FOREIGN KEY(app) REFERENCES identity_applications (pbm_uuid) ON DELETE CASCADE,
    CONSTRAINT uq_identity_application_entitlements_app_name UNIQUE (app, name)
)

CREATE INDEX ix_identity_application_entitlements_app ON identity_application_entitlements (app)

CREATE TABLE identity_brands (
    brand_uuid UUID NOT NULL,
    domain VARCHAR(253) NOT NULL,
    "default" BOOLEAN NOT NULL,
    branding_title VARCHAR(255) NOT NULL,
    branding_logo TEXT NOT NULL,
    branding_favicon TEXT NOT NULL,
    branding_custom_css TEXT NOT NULL,
    flow_authentication UUID,
    flow_invalidation UUID,
    flow_recovery UUID,
    flow_unenrollment UUID,
    flow_user_settings UUID,
    flow_device_code UUID,
    default_application UUID,
    web_certificate UUID,
    attributes JSONB NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_brands PRIMARY KEY (brand_uuid),
    CONSTRAINT uq_identity_brands_domain UNIQUE (domain),
    CONSTRAINT fk_identity_brands_flow_authentication FOREIGN KEY(flow_authentication) REFERENCES identity_flows (flow_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_brands_flow_invalidation FOREIGN KEY(flow_invalidation) REFERENCES identity_flows (flow_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_brands_flow_recovery FOREIGN KEY(flow_recovery) REFERENCES identity_flows (flow_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_brands_flow_unenrollment FOREIGN KEY(flow_unenrollment) REFERENCES identity_flows (flow_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_brands_flow_user_settings FOREIGN KEY(flow_user_settings) REFERENCES identity_flows (flow_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_brands_flow_device_code FOREIGN KEY(flow_device_code) REFERENCES identity_flows (flow_uuid) ON DELETE RESTRICT,
    CONSTRAINT fk_identity_brands_default_application FOREIGN KEY(default_application) REFERENCES identity_applications (pbm_uuid) ON DELETE SET NULL,
    CONSTRAINT fk_identity_brands_web_certificate FOREIGN KEY(web_certificate) REFERENCES identity_keypairs (kp_uuid) ON DELETE SET NULL
)

CREATE INDEX ix_identity_brands_flow_device_code ON identity_brands (flow_device_code)

CREATE INDEX ix_identity_brands_flow_recovery ON identity_brands (flow_recovery)

CREATE INDEX ix_identity_brands_flow_unenrollment ON identity_brands (flow_unenrollment)

CREATE INDEX ix_identity_brands_web_certificate ON identity_brands (web_certificate)

CREATE INDEX ix_identity_brands_default_application ON identity_brands (default_application)

CREATE INDEX ix_identity_brands_flow_authentication ON identity_brands (flow_authentication)

CREATE INDEX ix_identity_brands_flow_invalidation ON identity_brands (flow_invalidation)

CREATE INDEX ix_identity_brands_flow_user_settings ON identity_brands (flow_user_settings)

CREATE TABLE identity_consents (
    consent_uuid UUID NOT NULL,
    user_id INTEGER NOT NULL,
    application UUID NOT NULL,
    permissions JSONB NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_identity_consents PRIMARY KEY (consent_uuid),
    CONSTRAINT uq_identity_consents_user_id_application UNIQUE (user_id, application),
    CONSTRAINT fk_identity_consents_user_id FOREIGN KEY(user_id) REFERENCES identity_users (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_consents_application FOREIGN KEY(application) REFERENCES identity_applications (pbm_uuid) ON DELETE CASCADE
)

CREATE INDEX ix_identity_consents_application ON identity_consents (application)

CREATE INDEX ix_identity_consents_expires_at ON identity_consents (expires_at)

CREATE TABLE identity_oauth_grants (
    grant_uuid UUID NOT NULL,
    client_id VARCHAR(255) NOT NULL,
    provider_id INTEGER,
    app_id BIGINT,
    user_id INTEGER,
    session_uuid UUID,
    scopes TEXT NOT NULL,
    resource TEXT NOT NULL,
    claims JSONB NOT NULL,
    auth_method VARCHAR(40) NOT NULL,
    auth_time TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    token_uuid UUID,
    CONSTRAINT pk_identity_oauth_grants PRIMARY KEY (grant_uuid),
    CONSTRAINT fk_identity_oauth_grants_provider_id FOREIGN KEY(provider_id) REFERENCES identity_providers (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_oauth_grants_app_id FOREIGN KEY(app_id) REFERENCES identity_oauth_apps (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_oauth_grants_user_id FOREIGN KEY(user_id) REFERENCES identity_users (id) ON DELETE CASCADE
)

CREATE INDEX ix_identity_oauth_grants_app_id ON identity_oauth_grants (app_id)

CREATE INDEX ix_identity_oauth_grants_provider_id ON identity_oauth_grants (provider_id)

CREATE INDEX ix_identity_oauth_grants_created_at ON identity_oauth_grants (created_at)

CREATE INDEX ix_identity_oauth_grants_token_uuid ON identity_oauth_grants (token_uuid)

CREATE INDEX ix_identity_oauth_grants_session_uuid ON identity_oauth_grants (session_uuid)

CREATE INDEX ix_identity_oauth_grants_user_id ON identity_oauth_grants (user_id)

CREATE TABLE identity_source_scim_users (
    id UUID NOT NULL,
    source UUID NOT NULL,
    external_id VARCHAR(500),
    document JSONB NOT NULL,
    is_disabled BOOLEAN NOT NULL,
    is_made_here BOOLEAN NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_source_scim_users PRIMARY KEY (id),
    CONSTRAINT fk_identity_source_scim_users_id FOREIGN KEY(id) REFERENCES identity_source_user_connections (connection_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_source_scim_users_source FOREIGN KEY(source) REFERENCES identity_sources (pbm_uuid) ON DELETE CASCADE
)

CREATE UNIQUE INDEX uq_identity_source_scim_users_external_id ON identity_source_scim_users (source, external_id)

CREATE INDEX ix_identity_source_scim_users_created_at ON identity_source_scim_users (source, created_at, id)

CREATE TABLE identity_source_scim_groups (
    id UUID NOT NULL,
    source UUID NOT NULL,
    external_id VARCHAR(500),
    document JSONB NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_source_scim_groups PRIMARY KEY (id),
    CONSTRAINT fk_identity_source_scim_groups_id FOREIGN KEY(id) REFERENCES identity_source_group_connections (connection_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_source_scim_groups_source FOREIGN KEY(source) REFERENCES identity_sources (pbm_uuid) ON DELETE CASCADE
)

CREATE UNIQUE INDEX uq_identity_source_scim_groups_external_id ON identity_source_scim_groups (source, external_id)

CREATE INDEX ix_identity_source_scim_groups_created_at ON identity_source_scim_groups (source, created_at, id)

CREATE TABLE social_appeals (
    id BIGINT NOT NULL,
    strike_id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    text TEXT NOT NULL,
    state VARCHAR(10) NOT NULL,
    decided_by_id BIGINT,
    decided_at TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_appeals PRIMARY KEY (id),
    CONSTRAINT uq_social_appeals_strike_id UNIQUE (strike_id),
    CONSTRAINT fk_social_appeals_strike_id FOREIGN KEY(strike_id) REFERENCES social_strikes (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_appeals_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_appeals_decided_by_id FOREIGN KEY(decided_by_id) REFERENCES social_accounts (id) ON DELETE SET NULL
)

CREATE INDEX ix_social_appeals_account_id ON social_appeals (account_id)

CREATE INDEX ix_social_appeals_state ON social_appeals (state, id)

CREATE INDEX ix_social_appeals_decided_by_id ON social_appeals (decided_by_id)

CREATE TABLE social_poll_votes (
    id BIGINT NOT NULL,
    poll_id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    choice SMALLINT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_poll_votes PRIMARY KEY (id),
    CONSTRAINT uq_social_poll_votes_poll_id_account_id_choice UNIQUE (poll_id, account_id, choice),
    CONSTRAINT fk_social_poll_votes_poll_id FOREIGN KEY(poll_id) REFERENCES social_polls (id) ON DELETE CASCADE,
    CONSTRAINT fk_social_poll_votes_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE
)

CREATE INDEX ix_social_poll_votes_account_id ON social_poll_votes (account_id)

CREATE TABLE identity_access_approvers (
    owner UUID NOT NULL,
    other INTEGER NOT NULL,
    CONSTRAINT pk_identity_access_approvers PRIMARY KEY (owner, other),
    CONSTRAINT fk_identity_access_approvers_owner FOREIGN KEY(owner) REFERENCES identity_access_offers (offer_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_access_approvers_other FOREIGN KEY(other) REFERENCES identity_users (id) ON DELETE CASCADE
)

CREATE INDEX ix_identity_access_approvers_other ON identity_access_approvers (other)

CREATE TABLE identity_access_approver_groups (
    owner UUID NOT NULL,
    other UUID NOT NULL,
    CONSTRAINT pk_identity_access_approver_groups PRIMARY KEY (owner, other),
    CONSTRAINT fk_identity_access_approver_groups_owner FOREIGN KEY(owner) REFERENCES identity_access_offers (offer_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_access_approver_groups_other FOREIGN KEY(other) REFERENCES identity_groups (group_uuid) ON DELETE CASCADE
)

CREATE INDEX ix_identity_access_approver_groups_other ON identity_access_approver_groups (other)

CREATE TABLE identity_access_requests (
    request_uuid UUID NOT NULL,
    offer UUID NOT NULL,
    "user" INTEGER NOT NULL,
    reason TEXT NOT NULL,
    duration TEXT NOT NULL,
    state VARCHAR(100) NOT NULL,
    closes TIMESTAMP WITH TIME ZONE NOT NULL,
    decided_by INTEGER,
    decided TIMESTAMP WITH TIME ZONE,
    answer TEXT NOT NULL,
    expires TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_access_requests PRIMARY KEY (request_uuid),
    CONSTRAINT fk_identity_access_requests_offer FOREIGN KEY(offer) REFERENCES identity_access_offers (offer_uuid) ON DELETE CASCADE,
    CONSTRAINT fk_identity_access_requests_user FOREIGN KEY("user") REFERENCES identity_users (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_access_requests_decided_by FOREIGN KEY(decided_by) REFERENCES identity_users (id) ON DELETE SET NULL
)

CREATE INDEX ix_identity_access_requests_state ON identity_access_requests (state, closes)

CREATE INDEX ix_identity_access_requests_user ON identity_access_requests ("user")

CREATE INDEX ix_identity_access_requests_decided_by ON identity_access_requests (decided_by)

CREATE INDEX ix_identity_access_requests_offer ON identity_access_requests (offer)

CREATE TABLE identity_oauth_codes (
    code_hash VARCHAR(64) NOT NULL,
    grant_uuid UUID NOT NULL,
    redirect_uri TEXT NOT NULL,
    nonce TEXT NOT NULL,
    challenge VARCHAR(128) NOT NULL,
    challenge_method VARCHAR(10) NOT NULL,
    used_at TIMESTAMP WITH TIME ZONE,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_oauth_codes PRIMARY KEY (code_hash),
    CONSTRAINT fk_identity_oauth_codes_grant_uuid FOREIGN KEY(grant_uuid) REFERENCES identity_oauth_grants (grant_uuid) ON DELETE CASCADE
)

CREATE INDEX ix_identity_oauth_codes_expires_at ON identity_oauth_codes (expires_at)

CREATE INDEX ix_identity_oauth_codes_grant_uuid ON identity_oauth_codes (grant_uuid)

CREATE TABLE identity_oauth_tokens (
    key_hash VARCHAR(64) NOT NULL,
    kind VARCHAR(10) NOT NULL,
    grant_uuid UUID NOT NULL,
    scopes TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    used_at TIMESTAMP WITH TIME ZONE,
    last_used_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_identity_oauth_tokens PRIMARY KEY (key_hash),
    CONSTRAINT fk_identity_oauth_tokens_grant_uuid FOREIGN KEY(grant_uuid) REFERENCES identity_oauth_grants (grant_uuid) ON DELETE CASCADE
)

CREATE INDEX ix_identity_oauth_tokens_expires_at ON identity_oauth_tokens (expires_at)

CREATE INDEX ix_identity_oauth_tokens_grant_uuid ON identity_oauth_tokens (grant_uuid)

CREATE TABLE identity_oauth_devices (
    device_hash VARCHAR(64) NOT NULL,
    user_code_hash VARCHAR(64) NOT NULL,
    client_id VARCHAR(255) NOT NULL,
    provider_id INTEGER,
    app_id BIGINT,
    scopes TEXT NOT NULL,
    state VARCHAR(10) NOT NULL,
    grant_uuid UUID,
    client_ip VARCHAR(45) NOT NULL,
    interval INTEGER NOT NULL,
    polled_at TIMESTAMP WITH TIME ZONE,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_oauth_devices PRIMARY KEY (device_hash),
    CONSTRAINT uq_identity_oauth_devices_user_code_hash UNIQUE (user_code_hash),
    CONSTRAINT fk_identity_oauth_devices_provider_id FOREIGN KEY(provider_id) REFERENCES identity_providers (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_oauth_devices_app_id FOREIGN KEY(app_id) REFERENCES identity_oauth_apps (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_oauth_devices_grant_uuid FOREIGN KEY(grant_uuid) REFERENCES identity_oauth_grants (grant_uuid) ON DELETE CASCADE
)

CREATE INDEX ix_identity_oauth_devices_expires_at ON identity_oauth_devices (expires_at)

CREATE INDEX ix_identity_oauth_devices_app_id ON identity_oauth_devices (app_id)

CREATE INDEX ix_identity_oauth_devices_provider_id ON identity_oauth_devices (provider_id)

CREATE INDEX ix_identity_oauth_devices_grant_uuid ON identity_oauth_devices (grant_uuid)

CREATE TABLE identity_gateway_sessions (
    key_hash VARCHAR(64) NOT NULL,
    provider_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    grant_uuid UUID NOT NULL,
    session_uuid UUID NOT NULL,
    scopes TEXT NOT NULL,
    id_token TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_identity_gateway_sessions PRIMARY KEY (key_hash),
    CONSTRAINT fk_identity_gateway_sessions_provider_id FOREIGN KEY(provider_id) REFERENCES identity_providers (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_gateway_sessions_user_id FOREIGN KEY(user_id) REFERENCES identity_users (id) ON DELETE CASCADE,
    CONSTRAINT fk_identity_gateway_sessions_grant_uuid FOREIGN KEY(grant_uuid) REFERENCES identity_oauth_grants (grant_uuid) ON DELETE CASCADE
)

CREATE INDEX ix_identity_gateway_sessions_grant_uuid ON identity_gateway_sessions (grant_uuid)

CREATE INDEX ix_identity_gateway_sessions_expires_at ON identity_gateway_sessions (expires_at)

CREATE INDEX ix_identity_gateway_sessions_user_id ON identity_gateway_sessions (user_id)

CREATE INDEX ix_identity_gateway_sessions_session_uuid ON identity_gateway_sessions (session_uuid)

CREATE INDEX ix_identity_gateway_sessions_provider_id ON identity_gateway_sessions (provider_id)

CREATE TABLE social_push_subscriptions (
    id SERIAL NOT NULL,
    account_id BIGINT NOT NULL,
    oauth_hash VARCHAR(64),
    personal_hash VARCHAR(64),
    session_hash VARCHAR(64),
    access_token TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    p256dh VARCHAR(100) NOT NULL,
    auth TEXT NOT NULL,
    standard BOOLEAN NOT NULL,
    alerts JSONB NOT NULL,
    policy VARCHAR(10) NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_social_push_subscriptions PRIMARY KEY (id),
    CONSTRAINT fk_social_push_subscriptions_account_id FOREIGN KEY(account_id) REFERENCES social_accounts (id) ON DELETE CASCADE,
    CONSTRAINT uq_social_push_subscriptions_oauth_hash UNIQUE (oauth_hash),
    CONSTRAINT fk_social_push_subscriptions_oauth_hash FOREIGN KEY(oauth_hash) REFERENCES identity_oauth_tokens (key_hash) ON DELETE CASCADE,
    CONSTRAINT uq_social_push_subscriptions_personal_hash UNIQUE (personal_hash),
    CONSTRAINT fk_social_push_subscriptions_personal_hash FOREIGN KEY(personal_hash) REFERENCES identity_tokens (key_hash) ON DELETE CASCADE,
    CONSTRAINT uq_social_push_subscriptions_session_hash UNIQUE (session_hash),
    CONSTRAINT fk_social_push_subscriptions_session_hash FOREIGN KEY(session_hash) REFERENCES identity_sessions (key_hash) ON DELETE CASCADE
)

CREATE INDEX ix_social_push_subscriptions_account_id ON social_push_subscriptions (account_id)
