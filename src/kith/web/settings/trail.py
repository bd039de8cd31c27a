"""What was written down about a person, in words for them."""

from __future__ import annotations

from kith.identity import for_pages as identity
from kith.web.words import Speaker, later

_ACTIONS = {
    "login": later("Signed in"),
    "login_failed": later("A sign-in failed"),
    "logout": later("Signed out, or a session was ended"),
    "password_set": later("Password changed"),
    "user_write": later("Account details written"),
    "flow_denied": later("A step was refused"),
    "model_created": later("Something was made"),
    "model_updated": later("Something was changed"),
    "model_deleted": later("Something was deleted"),
    "authorize_application": later("An application was let in"),
    "authorization_refused": later("An application was not let in"),
    "revoke_token": later("An application was shut out"),
    "policy_exception": later("A policy could not decide"),
    "permission_denied": later("Something was not allowed"),
    "impersonation_started": later("Somebody began to see this server as you"),
    "impersonation_ended": later("Somebody stopped seeing this server as you"),
}


def action_of(say: Speaker, event: identity.account_settings.Event) -> str:
    known = _ACTIONS.get(event.action)
    return say(known) if known else event.action.replace("_", " ").capitalize()


def about(say: Speaker, event: identity.account_settings.Event) -> list[str]:
    """What it was done to, by whom if not by its owner, and why."""
    context = event.context
    told = [str(_inner(context, "model", "name")), str(context.get("reason") or "")]
    behind = _inner(context, "original_user", "username")
    if behind:
        told.append(say("by {name}", name=behind))
    for_whom = _inner(context, "on_behalf_of", "username")
    if for_whom:
        told.append(say("while you were {name}", name=for_whom))
    return [words for words in told if words]


def _inner(context: dict[str, object], name: str, part: str) -> object:
    found = context.get(name)
    return found.get(part) or "" if isinstance(found, dict) else ""
