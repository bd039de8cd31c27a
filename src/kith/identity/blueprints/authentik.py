"""The names that authentik's blueprints use: its models are called as ours, and its fields written as we know them."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["LEFT_OUT", "NAMES", "attributes", "identifiers"]

NAMES: dict[str, str] = {
    "authentik_core.user": "core.user",
    "authentik_core.group": "core.group",
    "authentik_core.application": "core.application",
    "authentik_core.applicationentitlement": "core.applicationentitlement",
    "authentik_core.source": "sources.source",
    "authentik_core.provider": "providers.provider",
    "authentik_core.propertymapping": "propertymappings.propertymapping",
    "authentik_rbac.role": "rbac.role",
    "authentik_brands.brand": "core.brand",
    "authentik_tenants.tenant": "core.brand",
    "authentik_crypto.certificatekeypair": "crypto.certificatekeypair",
    "authentik_flows.flow": "flows.flow",
    "authentik_flows.stage": "stages.stage",
    "authentik_flows.flowstagebinding": "flows.flowstagebinding",
    "authentik_policies.policy": "policies.policy",
    "authentik_policies.policybinding": "policies.policybinding",
    "authentik_policies_dummy.dummypolicy": "policies.dummypolicy",
    "authentik_policies_event_matcher.eventmatcherpolicy": "policies.eventmatcherpolicy",
    "authentik_policies_expiry.passwordexpirypolicy": "policies.passwordexpirypolicy",
    "authentik_policies_expression.expressionpolicy": "policies.expressionpolicy",
    "authentik_policies_geoip.geoippolicy": "policies.geoippolicy",
    "authentik_policies_password.passwordpolicy": "policies.passwordpolicy",
    "authentik_policies_reputation.reputationpolicy": "policies.reputationpolicy",
    "authentik_providers_ldap.ldapprovider": "providers.ldapprovider",
    "authentik_providers_oauth2.oauth2provider": "providers.openidprovider",
    "authentik_providers_oauth2.scopemapping": "propertymappings.scopemapping",
    "authentik_providers_proxy.proxyprovider": "providers.applicationgatewayprovider",
    "authentik_providers_radius.radiusprovider": "providers.radiusprovider",
    "authentik_providers_saml.samlprovider": "providers.samlprovider",
    "authentik_providers_saml.samlpropertymapping": "propertymappings.samlpropertymapping",
    "authentik_providers_scim.scimprovider": "providers.scimprovider",
    "authentik_providers_scim.scimmapping": "propertymappings.scimmapping",
    "authentik_sources_ldap.ldapsource": "sources.ldapsource",
    "authentik_sources_ldap.ldapsourcepropertymapping": "propertymappings.ldappropertymapping",
    "authentik_sources_ldap.ldappropertymapping": "propertymappings.ldappropertymapping",
    "authentik_sources_oauth.oauthsource": "sources.oauthsource",
    "authentik_sources_oauth.oauthsourcepropertymapping": "propertymappings.oauthsourcepropertymapping",
    "authentik_sources_saml.samlsource": "sources.samlsource",
    "authentik_sources_saml.samlsourcepropertymapping": "propertymappings.samlsourcepropertymapping",
    "authentik_sources_scim.scimsource": "sources.scimsource",
    "authentik_events.notificationrule": "events.notificationrule",
    "authentik_events.notificationtransport": "events.notificationtransport",
    "authentik_events.notificationwebhookmapping": "propertymappings.notificationwebhookmapping",
    "authentik_stages_authenticator_static.authenticatorstaticstage": "stages.otpstaticstage",
    "authentik_stages_authenticator_totp.authenticatortotpstage": "stages.otptimestage",
    "authentik_stages_authenticator_validate.authenticatorvalidatestage": "stages.otpvalidatestage",
    "authentik_stages_authenticator_webauthn.authenticatorwebauthnstage": "stages.webauthnstage",
    "authentik_stages_captcha.captchastage": "stages.captchastage",
    "authentik_stages_consent.consentstage": "stages.consentstage",
    "authentik_stages_deny.denystage": "stages.denystage",
    "authentik_stages_dummy.dummystage": "stages.dummystage",
    "authentik_stages_email.emailstage": "stages.emailstage",
    "authentik_stages_identification.identificationstage": "stages.identificationstage",
    "authentik_stages_invitation.invitationstage": "stages.invitationstage",
    "authentik_stages_password.passwordstage": "stages.passwordstage",
    "authentik_stages_prompt.prompt": "stages.prompt",
    "authentik_stages_prompt.promptstage": "stages.promptstage",
    "authentik_stages_user_delete.userdeletestage": "stages.userdeletestage",
    "authentik_stages_user_login.userloginstage": "stages.userloginstage",
    "authentik_stages_user_logout.userlogoutstage": "stages.userlogoutstage",
    "authentik_stages_user_write.userwritestage": "stages.userwritestage",
    "authentik_blueprints.metaapplyblueprint": "managed.metaapplyblueprint",
}
# What has nothing like it here: its entries are left out, with a warning.
LEFT_OUT = frozenset(
    {
        "authentik_outposts.outpost",
        "authentik_outposts.dockerserviceconnection",
        "authentik_outposts.kubernetesserviceconnection",
        "authentik_enterprise.license",
        "authentik_providers_rac.racprovider",
        "authentik_providers_rac.endpoint",
        "authentik_rbac.initialpermissions",
    }
)
_MANAGED = "goauthentik.io/"


def identifiers(given: dict[str, Any]) -> dict[str, Any]:
    """Shipped mappings have the same names below another prefix."""
    managed = given.get("managed")
    if isinstance(managed, str) and managed.startswith(_MANAGED):
        return given | {"managed": f"kith.dev/{managed.removeprefix(_MANAGED)}"}
    return given


def attributes(model: str, given: dict[str, Any]) -> dict[str, Any]:
    change = _CHANGES.get(model)
    return given if change is None else change(dict(given))


def _oauth2(given: dict[str, Any]) -> dict[str, Any]:
    """An OpenID client here; its redirect addresses are lines of text, or were a list of them."""
    given.setdefault("response_types", ["code"])
    addresses = given.pop("redirect_uris", None)
    if isinstance(addresses, list):
        listed = [one if isinstance(one, dict) else {"url": str(one)} for one in addresses]
        is_regex = any(one.get("matching_mode") == "regex" for one in listed)
        given["_redirect_uris"] = "\n".join(_address(one, is_regex=is_regex) for one in listed)
        if is_regex:
            given["redirect_uri_matching"] = "regex"
    elif addresses is not None:
        given["_redirect_uris"] = addresses
    return given


def _address(one: dict[str, Any], *, is_regex: bool) -> str:
    """Here all of them are patterns or none is: among patterns, a plain address stands for itself alone."""
    url = str(one.get("url", ""))
    return re.escape(url) if is_regex and one.get("matching_mode") != "regex" else url


def _totp(given: dict[str, Any]) -> dict[str, Any]:
    if isinstance(given.get("digits"), str) and given["digits"].isdigit():
        given["digits"] = int(given["digits"])
    return given


def _login(given: dict[str, Any]) -> dict[str, Any]:
    """A duration there, seconds here."""
    text = given.get("session_duration")
    if isinstance(text, str) and "=" in text:
        units = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400, "weeks": 604_800}
        parts = [part.partition("=") for part in text.split(";")]
        given["session_duration"] = sum(
            units.get(unit.strip(), 0) * int(number) for unit, _, number in parts if number.strip().isdigit()
        )
    return given


def _identification(given: dict[str, Any]) -> dict[str, Any]:
    given.setdefault("template", "login")
    return given


def _prompt(given: dict[str, Any]) -> dict[str, Any]:
    """One is needed here; what the field is called says nothing wrong."""
    if not given.get("placeholder"):
        given["placeholder"] = given.get("label") or given.get("field_key") or given.get("name") or "-"
    return given


_CHANGES = {
    "authentik_providers_oauth2.oauth2provider": _oauth2,
    "authentik_stages_authenticator_totp.authenticatortotpstage": _totp,
    "authentik_stages_user_login.userloginstage": _login,
    "authentik_stages_identification.identificationstage": _identification,
    "authentik_stages_prompt.prompt": _prompt,
}
