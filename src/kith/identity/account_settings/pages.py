"""What the pages about one's own account need: sessions, factors, tokens, consents and audit events."""

from kith.identity.account_settings.consents import list_consents, withdraw_consent
from kith.identity.account_settings.factors import get_device, list_devices, remove_device, rename_device, set_up_flows
from kith.identity.account_settings.reauthentication import is_fresh, is_password
from kith.identity.account_settings.service import (
    choose,
    end_all_sessions,
    end_other_sessions,
    end_session,
    list_events,
    list_sessions,
    list_tokens,
    make_key,
    revoke_token,
)
from kith.identity.audit.tables import Event
from kith.identity.factors.tables import Factor

__all__ = [
    "Event",
    "Factor",
    "choose",
    "end_all_sessions",
    "end_other_sessions",
    "end_session",
    "get_device",
    "is_fresh",
    "is_password",
    "list_consents",
    "list_devices",
    "list_events",
    "list_sessions",
    "list_tokens",
    "make_key",
    "remove_device",
    "rename_device",
    "revoke_token",
    "set_up_flows",
    "withdraw_consent",
]
