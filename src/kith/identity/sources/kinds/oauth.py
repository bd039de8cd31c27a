"""Another service people sign in with, over OAuth or OpenID Connect."""

from __future__ import annotations

from typing import Any

from kith.base.work import Work
from kith.identity.flows.resources import bound_policies
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import URL, Choice, Computed, Object, Secret, Text
from kith.identity.sources.family import SOURCES, SourceRecord

KINDS = (
    "azure-ad", "discord", "facebook", "github", "google", "openid-connect", "reddit", "twitter",
    "apple", "gitlab", "mailcow", "okta", "patreon", "slack", "twitch", "wechat",
)  # fmt: skip
_ALSO = {"azuread": "azure-ad", "azure_ad": "azure-ad", "entraid": "azure-ad"} | {
    "openidconnect": "openid-connect",
    "openid_connect": "openid-connect",
}

FIELDS = (
    Choice(name="provider_type", required=True, choices=KINDS, also=_ALSO),
    URL(name="request_token_url", default="", most=255, help="Only OAuth 1 has one."),
    URL(name="authorization_url", required=True, most=255),
    URL(name="access_token_url", required=True, most=255),
    URL(name="profile_url", required=True, most=255),
    Text(name="consumer_key", required=True),
    Secret(name="consumer_secret", required=True, sent_to=("access_token_url", "request_token_url")),
    Choice(name="pkce", default="S256", choices=("none", "plain", "S256")),
    Text(
        name="additional_scopes",
        default="",
        help="Asked for besides the usual ones, separated by blanks; a * in front: instead of them.",
    ),
    URL(name="oidc_well_known_url", default="", most=500, help="Kept as it is; nothing is fetched when saving."),
    URL(name="oidc_jwks_url", default="", most=500, help="Kept as it is; nothing is fetched when saving."),
    Object(name="oidc_jwks"),
    Choice(name="authorization_code_auth_method", default="basic_auth", choices=("basic_auth", "post_body")),
    Choice(name="group_matching_mode", default="identifier", choices=("identifier", "name_link", "name_deny")),
    Computed(name="callback_url", form={"type": "string", "format": "uri"}),
)


class OAuthSource(SourceRecord, kw_only=True):
    provider_type: str
    request_token_url: str
    authorization_url: str
    access_token_url: str
    profile_url: str
    consumer_key: str
    pkce: str
    additional_scopes: str
    oidc_well_known_url: str
    oidc_jwks_url: str
    oidc_jwks: dict[str, Any]
    authorization_code_auth_method: str
    group_matching_mode: str
    callback_url: str = ""


async def decorate(work: Work, records: list[OAuthSource]) -> None:
    for record in records:
        record.callback_url = f"{work.settings.base_url}/source/oauth/callback/{record.slug}/"
    await bound_policies(work, records)


RESOURCE = Resource(
    path="/sources/oauth/",
    name="OAuthSource",
    record=OAuthSource,
    key="pbm_uuid",
    family=SOURCES,
    kind="oauth",
    table=kind_table("identity_sources_oauth", SOURCES, FIELDS),
    fields=FIELDS,
    target=True,
    search=("name", "slug"),
    exact=("name", "slug", "enabled", "provider_type", "consumer_key", "pkce"),
    decorate=decorate,
)
