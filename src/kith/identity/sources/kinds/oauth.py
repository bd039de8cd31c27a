"""Another service people sign in with, over OAuth or OpenID Connect."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.http import Outgoing
from kith.base.work import Work
from kith.identity.flows.resources import bound_policies
from kith.identity.rest import RecordDraft, Resource, kind_table
from kith.identity.rest.fields import URL, Choice, Computed, Object, Secret, Text
from kith.identity.sources import property_mappings
from kith.identity.sources.family import LINKS, SOURCES, SourceRecord
from kith.identity.sources.oauth.addresses import may_ask
from kith.identity.sources.oauth.discovery import NotUsable, fetch_document, fetch_keys
from kith.identity.sources.oauth.presets import preset_of
from kith.identity.sources.reach import remember_setter

KINDS = (
    "azure-ad", "discord", "facebook", "github", "google", "openid-connect", "reddit", "twitter",
    "apple", "gitlab", "mailcow", "okta", "patreon", "slack", "twitch", "wechat", "mastodon",
)  # fmt: skip
_ALSO = {"azuread": "azure-ad", "azure_ad": "azure-ad", "entraid": "azure-ad"} | {
    "openidconnect": "openid-connect",
    "openid_connect": "openid-connect",
}

FEDIVERSE = "mastodon"
ANY_SERVER = "Every server of the fediverse could say who somebody is here: choose a mode that links nobody by a name."
_KIND = "provider_type"  # it decides what else is needed
FIELDS = (
    Choice(name="provider_type", required=True, choices=KINDS, also=_ALSO),
    URL(name="request_token_url", default="", most=255, help="Only OAuth 1 has one."),
    URL(
        name="authorization_url",
        required_unless=_KIND,
        default="",
        most=255,
        help="Some kinds need none.",
    ),
    URL(name="access_token_url", required_unless=_KIND, default="", most=255, help="As authorization_url."),
    URL(name="profile_url", required_unless=_KIND, default="", most=255, help="As authorization_url."),
    Text(name="consumer_key", required_unless=_KIND, default="", help="The client's id there; mastodon needs none."),
    Secret(
        name="consumer_secret",
        required_unless=_KIND,
        default="",
        blank=False,
        sent_to=("access_token_url", "request_token_url", "oidc_well_known_url", "provider_type"),
    ),
    Choice(name="pkce", default="S256", choices=("none", "plain", "S256")),
    Text(
        name="additional_scopes",
        default="",
        help="Asked for besides the usual ones, separated by blanks; a * in front: instead of them.",
    ),
    URL(name="oidc_well_known_url", default="", most=500, help="Read when saving; it fills in the addresses and keys."),
    URL(name="oidc_jwks_url", default="", most=500, help="Read when saving."),
    Object(name="oidc_jwks", private=True),
    Text(name="oidc_issuer", default="", most=500, read_only=True, help="Who must have issued its tokens."),
    Choice(name="authorization_code_auth_method", default="basic_auth", choices=("basic_auth", "post_body")),
    Choice(name="group_matching_mode", default="identifier", choices=("identifier", "name_link", "name_deny")),
    *property_mappings.fields("oauthsource"),
    Computed(name="callback_url", form={"type": "string", "format": "uri"}),
    Computed(name="backchannel_logout_url", form={"type": "string", "format": "uri"}),
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
    oidc_issuer: str
    authorization_code_auth_method: str
    group_matching_mode: str
    user_property_mappings: list[str] = msgspec.field(default_factory=list)
    group_property_mappings: list[str] = msgspec.field(default_factory=list)
    callback_url: str = ""
    backchannel_logout_url: str = ""


oauth_sources = kind_table("identity_sources_oauth", SOURCES, FIELDS)
_ADDRESSES = ("authorization_url", "access_token_url", "profile_url")
_ASKED = ("access_token_url", "profile_url", "oidc_jwks_url", "oidc_well_known_url")


async def fetch(draft: RecordDraft[OAuthSource]) -> None:
    """Read what the service says of itself, which fills in its addresses and keys."""
    _check_schemes(draft)
    if draft.is_new:
        draft.columns["oidc_issuer"] = ""
    if draft.work.db.is_writing:
        return  # one of several changes in a transaction, which waits for nobody: what is sent must be complete
    outgoing, values = draft.work.find(Outgoing), draft.values
    try:
        place = "oidc_well_known_url"
        if values.get(place):
            found = await fetch_document(outgoing, values[place])
            values["authorization_url"], values["access_token_url"] = found.authorization_url, found.access_token_url
            values["profile_url"], values["oidc_jwks_url"] = found.profile_url, found.jwks_url
            draft.columns["oidc_issuer"] = found.issuer
            values["oidc_jwks"] = await fetch_keys(outgoing, found.jwks_url)
            return
        if draft.sets(place):
            draft.columns["oidc_issuer"] = ""
        place = "oidc_jwks_url"
        if draft.sets(place) and values[place]:
            values["oidc_jwks"] = await fetch_keys(outgoing, values[place])
    except NotUsable as error:
        draft.complain(place, str(error))
        draft.raise_complaints()


def _check_schemes(draft: RecordDraft[OAuthSource]) -> None:
    for name in _ASKED:
        if draft.sets(name) and draft.values[name] and not may_ask(draft.work.settings, draft.values[name]):
            draft.complain(name, "Plain http is only spoken to hosts in KITH_PRIVATE_HOSTS. Enter an https address.")
    draft.raise_complaints()


async def check(draft: RecordDraft[OAuthSource]) -> None:
    remember_setter(draft)
    now = draft.now
    if now.provider_type == FEDIVERSE:
        for name in ("user_matching_mode", "group_matching_mode"):
            if draft.value(name).endswith(LINKS):
                draft.complain(name, ANY_SERVER)
        return
    preset = preset_of(now.provider_type)
    missing = [name for name in _ADDRESSES if not draft.value(name) and not getattr(preset, name)]
    if preset.is_openid and "profile_url" in missing:
        missing.remove("profile_url")
    missing += [name for name in ("consumer_key", "consumer_secret") if not draft.value(name)]
    for name in missing:
        draft.complain(name, "This field is required.", "required")


async def decorate(work: Work, records: list[OAuthSource]) -> None:
    for record in records:
        record.callback_url = f"{work.settings.base_url}/source/oauth/callback/{record.slug}/"
        record.backchannel_logout_url = f"{work.settings.base_url}/source/oauth/logout/{record.slug}/"
    await bound_policies(work, records)


RESOURCE = Resource(
    path="/sources/oauth/",
    name="OAuthSource",
    record=OAuthSource,
    key="pbm_uuid",
    family=SOURCES,
    kind="oauth",
    table=oauth_sources,
    fields=FIELDS,
    target=True,
    search=("name", "slug"),
    exact=("name", "slug", "enabled", "provider_type", "consumer_key", "pkce"),
    ahead=fetch,
    prepare=check,
    decorate=decorate,
)
