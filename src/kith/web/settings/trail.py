"""What was written down about a person, in words for them."""

from __future__ import annotations

from kith.identity import for_pages as identity
from kith.web.translation import Translator, translatable

_ACTIONS = {
    "login": translatable("Signed in"),
    "login_failed": translatable("A sign-in failed"),
    "logout": translatable("Signed out, or a session was ended"),
    "password_set": translatable("Password changed"),
    "user_write": translatable("Account details written"),
    "flow_denied": translatable("A step was refused"),
    "model_created": translatable("Something was made"),
    "model_updated": translatable("Something was changed"),
    "model_deleted": translatable("Something was deleted"),
    "authorize_application": translatable("An application was let in"),
    "authorization_refused": translatable("An application was not let in"),
    "revoke_token": translatable("An application was shut out"),
    "policy_exception": translatable("A policy could not decide"),
    "permission_denied": translatable("Something was not allowed"),
    "impersonation_started": translatable("Somebody began to see this server as you"),
    "impersonation_ended": translatable("Somebody stopped seeing this server as you"),
}


def action_of(translate: Translator, event: identity.account_settings.Event) -> str:
    known = _ACTIONS.get(event.action)
    return translate(known) if known else event.action.replace("_", " ").capitalize()


def about(translate: Translator, event: identity.account_settings.Event) -> list[str]:
    """What it was done to, by whom if not by its owner, and why."""
    context = event.context
    told = [str(_inner(context, "model", "name")), str(context.get("reason") or "")]
    behind = _inner(context, "original_user", "username")
    if behind:
        told.append(translate("by {name}", name=behind))
    for_whom = _inner(context, "on_behalf_of", "username")
    if for_whom:
        told.append(translate("while you were {name}", name=for_whom))
    return [words for words in told if words]


def _inner(context: dict[str, object], name: str, part: str) -> object:
    found = context.get(name)
    return found.get(part) or "" if isinstance(found, dict) else ""
