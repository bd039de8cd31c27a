"""Which tests check a room, where neither their names nor their imports say so.

A room is what `kith.<layer>.<name>` names. `scripts/test --quick` runs these tests when the room has changed.
"""

from __future__ import annotations

__all__ = ["EVERYWHERE", "LONGEST", "TESTED_BY", "of_other_files"]

# What takes longest, longest first. A quick run has it only where it was changed itself.
LONGEST = (
    "identity/test_schemathesis.py",
    "crash/test_kills.py",
    "web/test_browser.py",
    "web/test_journeys.py",
    "social/test_bad_input.py",
    "crash/test_posting.py",
)

# A little of every layer: for what all of it rests on, such as the requirements or the tests' own servers.
EVERYWHERE = (
    "base/test_edge.py",
    "base/test_work.py",
    "cli/test_users.py",
    "identity/test_setup.py",
    "social/test_error_language.py",
    "web/test_page_language.py",
)

TESTED_BY: dict[str, tuple[str, ...]] = {
    "kith": EVERYWHERE,
    "kith.app": EVERYWHERE,
    "kith.schema": ("identity/test_upgrade.py", "test_statements.py"),
    "kith.migrations": ("identity/test_upgrade.py",),
    "kith.migrations.env": ("identity/test_upgrade.py",),
    "kith.migrations.runner": ("identity/test_upgrade.py",),
    "kith.migrations.versions": ("identity/test_upgrade.py",),
    # base
    "kith.base": EVERYWHERE,
    "kith.base.command_news": ("cli/test_moderation.py",),
    "kith.base.confine": ("social/test_workshop.py",),
    "kith.base.cookies": ("identity/test_sessions.py",),
    "kith.base.csrf": ("web/test_page_language.py", "web/test_flows.py"),
    "kith.base.late": ("cli/test_loading.py", "base/test_jobs.py"),
    "kith.base.log": ("base/test_edge.py",),
    "kith.base.logger": ("base/test_edge.py",),
    "kith.base.mailing": ("base/test_mail.py",),
    "kith.base.metrics": ("base/test_edge.py", "base/test_readiness.py"),
    "kith.base.patterns": ("test_costs.py", "identity/test_policies.py"),
    "kith.base.relay": ("base/test_news.py",),
    "kith.base.room": ("base/test_work.py",),
    "kith.base.rooms": ("base/test_openapi.py", "base/test_router.py"),
    "kith.base.unicode": ("identity/test_addresses.py", "social/test_text.py"),
    "kith.base.vapid": ("base/test_keys.py", "social/test_instance.py"),
    # federation
    "kith.federation.signatures": (
        "federation/test_signature_vectors.py",
        "federation/test_signature_refusals.py",
    ),
    "kith.federation.keys": ("federation/test_actor_keys.py", "federation/test_remote_keys.py"),
    # cli
    "kith.cli": ("cli/test_help.py", "cli/test_words.py"),
    "kith.cli.accounts": ("cli/test_moderation.py",),
    "kith.cli.announcements": ("social/test_announcements.py",),
    "kith.cli.domains": ("cli/test_moderation.py",),
    "kith.cli.franking": ("social/test_encryption.py",),
    "kith.cli.reports": ("cli/test_moderation.py",),
    "kith.cli.roles": ("cli/test_moderation.py", "social/test_roles.py"),
    "kith.cli.emoji": ("cli/test_help.py", "social/test_instance.py"),
    "kith.cli.failures": ("cli/test_words.py",),
    "kith.cli.flows": ("cli/test_help.py", "identity/test_flows_run.py"),
    "kith.cli.inputs": ("cli/test_words.py", "cli/test_users.py"),
    "kith.cli.instance": ("cli/test_help.py", "social/test_instance.py"),
    "kith.cli.migrate": ("identity/test_upgrade.py",),
    "kith.cli.recovery": ("identity/test_signups.py",),
    "kith.cli.running": ("cli/test_words.py", "cli/test_loading.py"),
    "kith.cli.showing": ("cli/test_words.py",),
    "kith.cli.watching": ("cli/test_watchdog.py",),
    "kith.cli.work": ("cli/test_watchdog.py", "base/test_jobs.py"),
    # identity
    "kith.identity": ("identity/test_setup.py", "identity/test_basic.py"),
    "kith.identity.caller": ("identity/test_basic.py", "identity/test_rights.py"),
    "kith.identity.account_settings": ("web/test_security.py",),
    "kith.identity.admission": ("identity/test_sessions.py", "social/test_guards.py"),
    "kith.identity.caller_authentication": ("identity/test_basic.py", "identity/test_rights.py"),
    "kith.identity.group_grants": ("identity/test_rights.py", "identity/test_privilege_escalation.py"),
    "kith.identity.presence": ("social/test_notification_emails.py",),
    "kith.identity.protected_configuration": ("identity/test_rights.py",),
    "kith.identity.reauthentication": ("identity/test_reauthentication.py",),
    "kith.identity.security_mails": ("web/test_security.py", "identity/test_new_passwords.py"),
    "kith.identity.errors": ("identity/test_bodies.py", "identity/test_refused_requests.py"),
    "kith.identity.executor": ("identity/test_flows_run.py", "identity/test_inspector.py"),
    "kith.identity.factors": ("identity/test_stages.py", "web/test_security.py"),
    "kith.identity.for_pages": ("web/test_flows.py", "web/test_security.py"),
    "kith.identity.for_social": ("social/test_guards.py", "social/test_accounts.py"),
    "kith.identity.for_staff": ("social/test_moderation.py", "social/test_admin_accounts.py"),
    "kith.identity.groups": ("identity/test_collections.py", "identity/test_privilege_escalation.py"),
    "kith.identity.hints": ("identity/test_addresses.py", "identity/test_guessing.py"),
    "kith.identity.impersonation": ("web/test_impersonation.py",),
    "kith.identity.invites": ("social/test_admin_house.py",),
    "kith.identity.links": ("identity/test_flows_run.py", "identity/test_signups.py"),
    "kith.identity.mappings": ("identity/test_oauth_claims.py",),
    "kith.identity.messages": ("web/test_security.py", "web/test_flows.py"),
    "kith.identity.providers": (
        "identity/test_authorize.py",
        "identity/test_oauth_attacks.py",
        "identity/test_oauth_claims.py",
        "identity/test_oauth_promises.py",
        "identity/test_oauth_token.py",
    ),
    "kith.identity.recovery": ("identity/test_signups.py", "web/test_flows.py"),
    "kith.identity.registration": ("social/test_signup_api.py",),
    "kith.identity.rest": ("identity/test_collections.py", "identity/test_bodies.py"),
    "kith.identity.roles": ("identity/test_rights.py", "identity/test_privilege_escalation.py"),
    "kith.identity.room": ("identity/test_setup.py",),
    "kith.identity.sealing": ("identity/test_crypto.py", "identity/test_flows_run.py"),
    "kith.identity.staff_view": ("social/test_admin_accounts.py",),
    "kith.identity.staff": ("web/test_staff.py",),
    "kith.identity.tokens": ("identity/test_basic.py", "cli/test_tokens.py"),
    "kith.identity.users": ("identity/test_addresses.py", "identity/test_collections.py"),
    # social
    "kith.social": EVERYWHERE,
    "kith.social.accounts": ("social/test_access.py", "social/test_shapes.py"),
    "kith.social.async_refreshes": ("social/test_annual_reports.py", "social/test_timelines.py"),
    "kith.social.emails": ("social/test_signup_api.py",),
    "kith.social.featured": ("social/test_tags.py", "social/test_accounts.py"),
    "kith.social.moments": ("social/test_shapes.py",),
    "kith.social.pages": ("social/test_paging.py", "social/test_shapes.py"),
    "kith.social.profile": ("social/test_accounts.py",),
    "kith.social.relationships": ("social/test_access.py", "social/test_timelines.py"),
    "kith.social.registration": ("social/test_signup_api.py", "social/test_registration.py"),
    "kith.social.statuses": ("social/test_access.py", "social/test_quotes.py", "social/test_shapes.py"),
    "kith.social.account_standing": ("social/test_guards.py", "social/test_access.py"),
    "kith.social.versions": ("social/test_statuses.py", "social/test_accounts.py"),
    # federation
    "kith.federation.vocabulary": (
        "federation/test_incoming_fields.py",
        "federation/test_incoming_hostile.py",
        "federation/test_incoming_samples.py",
    ),
    "kith.federation.fetching": (
        "federation/test_fetching.py",
        "federation/test_lookup.py",
        "federation/test_webfinger_client.py",
    ),
    "kith.social.representations": ("federation/test_documents.py",),
    "kith.social.well_known": ("federation/test_discovery.py",),
    # federation
    "kith.federation": ("federation/test_documents.py", "federation/test_discovery.py"),
    "kith.federation.discovery": ("federation/test_discovery.py",),
    "kith.federation.documents": ("federation/test_documents.py",),
    "kith.federation.room": ("federation/test_documents.py",),
    # web
    "kith.web": ("web/test_page_language.py", "web/test_flows.py"),
    "kith.web.api": ("identity/test_setup.py", "base/test_edge.py"),
    "kith.web.api_docs": ("base/test_openapi.py", "identity/test_collections.py"),
    "kith.web.annual_reports": ("social/test_annual_reports.py",),
    "kith.web.authorized": ("identity/test_authorize.py",),
    "kith.web.confirmation": ("web/test_signups.py", "identity/test_signups.py"),
    "kith.web.device": ("identity/test_authorize.py", "identity/test_oauth_device.py"),
    "kith.web.browser_names": ("web/test_security.py",),
    "kith.web.errors": ("base/test_edge.py", "web/test_staff.py"),
    "kith.web.health": ("base/test_readiness.py",),
    "kith.web.invites": ("social/test_admin_house.py",),
    "kith.web.known_paths": ("base/test_edge.py", "social/test_requests.py"),
    "kith.web.logout": ("identity/test_oauth_logout.py",),
    "kith.web.pages": ("web/test_page_language.py", "web/test_flows.py"),
    "kith.web.recovery": ("identity/test_signups.py",),
    "kith.web.room": ("web/test_page_language.py",),
    "kith.web.settings": ("web/test_security.py", "web/test_impersonation.py"),
    "kith.web.start": ("web/test_flows.py",),
    "kith.web.profiles": ("web/test_profiles.py",),
    "kith.web.shown_posts": ("web/test_profiles.py",),
    "kith.web.unsubscribe": ("social/test_notification_emails.py",),
    "kith.web.translation": ("web/test_page_language.py", "test_messages.py"),
    "kith.web.webfinger": ("identity/test_oauth_claims.py", "federation/test_discovery.py"),
}

# Files that are no Python modules, by how their paths begin.
_OTHER_FILES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("src/kith/web/templates/settings/", ("test_messages.py", "web/test_security.py")),
    ("src/kith/web/templates/staff/", ("test_messages.py", "web/test_staff.py")),
    ("src/kith/web/templates/authorize/", ("test_messages.py", "identity/test_authorize.py")),
    ("src/kith/web/", ("test_messages.py", "web/test_flows.py", "web/test_page_language.py")),
    ("src/kith/locale/", ("test_messages.py", "web/test_page_language.py", "social/test_error_language.py")),
    ("src/", EVERYWHERE),
    ("tests/town/", EVERYWHERE),
    ("tests/conftest.py", EVERYWHERE),
    ("pyproject.toml", EVERYWHERE),
    ("requirements", EVERYWHERE),
    ("scripts/", ("cli/test_help.py", "test_documents.py")),
    ("docs/", ("test_documents.py",)),
    ("README.md", ("test_documents.py",)),
    ("ARCHITECTURE.md", ("test_documents.py",)),
)


def of_other_files(path: str) -> tuple[str, ...]:
    return next((tests for begin, tests in _OTHER_FILES if path.startswith(begin)), ())
