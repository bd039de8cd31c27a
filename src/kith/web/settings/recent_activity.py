"""A person's own audit log, in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping

from kith.identity import for_pages as identity
from kith.web.admin.words.lookup import place_words
from kith.web.translation import Translator, translatable

_ACTIONS = {
    "login": translatable("You signed in"),
    "login_failed": translatable("A sign-in attempt failed"),
    "logout": translatable("You signed out, or a session was ended"),
    "password_set": translatable("The password was changed"),
    "user_lockdown": translatable("An account was locked"),
    "user_write": translatable("The account details were changed"),
    "flow_denied": translatable("Access to a page was denied"),
    "model_created": translatable("Something was created"),
    "model_updated": translatable("Something was changed"),
    "model_deleted": translatable("Something was deleted"),
    "authorize_application": translatable("You allowed an application to access your account"),
    "authorization_refused": translatable("An application was denied access to your account"),
    "revoke_token": translatable("An application's access to your account was revoked"),
    "policy_exception": translatable("A policy failed with an error"),
    "permission_denied": translatable("A request was denied"),
    "access_request_approved": translatable("You approved a request for access"),
    "access_request_refused": translatable("You refused a request for access"),
    "access_request_withdrawn": translatable("You withdrew a request for access"),
    "access_request_ended": translatable("You ended access that was given on request"),
    "impersonation_started": translatable("Somebody started viewing this server as you"),
    "impersonation_ended": translatable("Somebody stopped viewing this server as you"),
}
# What was done to something that has a name: by the person, and by somebody viewing as them.
_OWN_CHANGES = {
    "model_created": translatable("You created the {kind} “{name}”"),
    "model_updated": translatable("You changed the {kind} “{name}”"),
    "model_deleted": translatable("You deleted the {kind} “{name}”"),
}
_CHANGES = {
    "model_created": translatable("The {kind} “{name}” was created"),
    "model_updated": translatable("The {kind} “{name}” was changed"),
    "model_deleted": translatable("The {kind} “{name}” was deleted"),
}
_KINDS = {
    "app_password": translatable("app password"),
    "token": translatable("token"),
    "totp": translatable("authenticator app"),
    "static": translatable("recovery codes"),
    "webauthn": translatable("passkey"),
    "consent": translatable("consent"),
    "user": translatable("account"),
    "group": translatable("group"),
    "application": translatable("application"),
    "app": translatable("application"),
    "accessrequest": translatable("request for access"),
}


def sentence_about(translate: Translator, event: identity.account_settings.Event) -> str:
    """What happened, such as `You created the passkey “Phone”`."""
    name, kind = _name_of(event.context), _kind_of(event)
    if name and event.action in _CHANGES:
        sentences = _CHANGES if _part(event.context, "original_user", "username") else _OWN_CHANGES
        return translate(sentences[event.action], kind=translate(kind), name=name)
    known = _ACTIONS.get(event.action)
    return translate(known) if known else event.action.replace("_", " ").capitalize()


def details_of(translate: Translator, event: identity.account_settings.Event) -> list[str]:
    """What it was done to, why, and who else was involved."""
    context = event.context
    named = _name_of(context)
    about = ("" if named else translate(_kind_of(event))) if event.action in _CHANGES else named
    details = [about, str(context.get("reason") or "")]
    actor = _part(context, "original_user", "username")
    if actor:
        details.append(translate("by {name}", name=actor))
    viewed_as = _part(context, "on_behalf_of", "username")
    if viewed_as:
        details.append(translate("while viewing as {name}", name=viewed_as))
    return [one for one in details if one]


def _kind_of(event: identity.account_settings.Event) -> str:
    if event.context.get("intent") == "app_password":
        return _KINDS["app_password"]
    app, name = _part(event.context, "model", "app"), _part(event.context, "model", "model_name")
    known, words = _KINDS.get(name), place_words(f"{app}.{name}")
    return known or (words if "." not in words else name.replace("_", " "))


def _name_of(context: Mapping[str, object]) -> str:
    """What people know it by: what has no name of its own is written down with its key."""
    name = _part(context, "model", "name")
    return "" if name == _part(context, "model", "pk") else name


def _part(context: Mapping[str, object], name: str, part: str) -> str:
    found = context.get(name)
    return str(found.get(part) or "") if isinstance(found, dict) else ""
