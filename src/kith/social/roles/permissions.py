"""What a role may permit, as the bits that clients of the social API read."""

from __future__ import annotations

__all__ = ["ADMINISTRATOR", "ALL", "BITS", "HARMLESS", "names_of"]

NAMES = (
    "administrator", "view_devops", "view_audit_log", "view_dashboard", "manage_reports", "manage_federation",
    "manage_settings", "manage_blocks", "manage_taxonomies", "manage_appeals", "manage_users", "manage_invites",
    "manage_rules", "manage_announcements", "manage_custom_emojis", "manage_webhooks", "invite_users",
    "manage_roles", "manage_user_access", "delete_user_data", "view_feeds", "invite_bypass_approval",
    "manage_email_subscriptions",
)  # fmt: skip
BITS: dict[str, int] = {name: 1 << place for place, name in enumerate(NAMES)}
ALL = (1 << len(NAMES)) - 1
ADMINISTRATOR = BITS["administrator"]
HARMLESS = BITS["invite_users"] | BITS["invite_bypass_approval"]  # what everybody may be allowed


def names_of(permissions: int) -> list[str]:
    return [name for name, bit in BITS.items() if permissions & bit]
