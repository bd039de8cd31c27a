"""What is known of services that many people have an account with, as data.

A record of such a kind needs only a client's id and secret; addresses that it names come before these.
"""

from __future__ import annotations

import msgspec


class ServicePreset(msgspec.Struct, frozen=True, kw_only=True):
    """`is_openid`: it answers with an ID token, which is then compulsory. The names say where a profile has what.

    `verified`: the member that says whether the address is confirmed; empty where only confirmed ones are told.
    """

    authorization_url: str = ""
    access_token_url: str = ""
    profile_url: str = ""
    jwks_url: str = ""
    issuer: str = ""
    emails_url: str = ""
    scope: str = ""
    is_openid: bool = False
    id: tuple[str, ...] = ("sub", "id")
    username: tuple[str, ...] = ("preferred_username", "nickname", "username", "login")
    name: tuple[str, ...] = ("name", "display_name")
    email: tuple[str, ...] = ("email",)
    verified: str | None = "email_verified"


OPENID = ServicePreset(is_openid=True, scope="openid profile email")
PLAIN = ServicePreset(scope="", verified=None)

PRESETS: dict[str, ServicePreset] = {
    "openid-connect": OPENID,
    "okta": OPENID,
    "apple": ServicePreset(
        authorization_url="https://appleid.apple.com/auth/authorize",
        access_token_url="https://appleid.apple.com/auth/token",  # noqa: S106 - an address
        jwks_url="https://appleid.apple.com/auth/keys",
        issuer="https://appleid.apple.com",
        is_openid=True,
        scope="openid",
    ),
    "google": ServicePreset(
        authorization_url="https://accounts.google.com/o/oauth2/v2/auth",
        access_token_url="https://oauth2.googleapis.com/token",  # noqa: S106 - an address
        profile_url="https://openidconnect.googleapis.com/v1/userinfo",
        jwks_url="https://www.googleapis.com/oauth2/v3/certs",
        issuer="https://accounts.google.com",
        is_openid=True,
        scope="openid profile email",
        username=(),
    ),
    # The common address has no issuer of its own, so people are known by what Graph says, and its addresses are
    # not confirmed ones. With the discovery document of one directory it is an OpenID provider like any other.
    "azure-ad": ServicePreset(
        authorization_url="https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
        access_token_url="https://login.microsoftonline.com/common/oauth2/v2.0/token",  # noqa: S106 - an address
        profile_url="https://graph.microsoft.com/v1.0/me",
        scope="openid profile email User.Read",
        id=("id", "sub"),
        username=("userPrincipalName", "preferred_username"),
        name=("displayName", "name"),
        email=("mail", "email"),
        verified=None,
    ),
    "github": ServicePreset(
        authorization_url="https://github.com/login/oauth/authorize",
        access_token_url="https://github.com/login/oauth/access_token",  # noqa: S106 - an address
        profile_url="https://api.github.com/user",
        emails_url="https://api.github.com/user/emails",
        scope="read:user user:email",
        id=("id",),
        username=("login",),
        verified=None,
    ),
    "gitlab": ServicePreset(
        authorization_url="https://gitlab.com/oauth/authorize",
        access_token_url="https://gitlab.com/oauth/token",  # noqa: S106 - an address
        profile_url="https://gitlab.com/oauth/userinfo",
        jwks_url="https://gitlab.com/oauth/discovery/keys",
        issuer="https://gitlab.com",
        is_openid=True,
        scope="openid profile email",
    ),
    "discord": ServicePreset(
        authorization_url="https://discord.com/oauth2/authorize",
        access_token_url="https://discord.com/api/oauth2/token",  # noqa: S106 - an address
        profile_url="https://discord.com/api/users/@me",
        scope="identify email",
        id=("id",),
        username=("username",),
        name=("global_name", "username"),
        verified="verified",
    ),
    "facebook": ServicePreset(
        authorization_url="https://www.facebook.com/v19.0/dialog/oauth",
        access_token_url="https://graph.facebook.com/v19.0/oauth/access_token",  # noqa: S106 - an address
        profile_url="https://graph.facebook.com/v19.0/me?fields=id,name,email",
        scope="email",
        id=("id",),
        username=(),
        verified=None,
    ),
    "reddit": ServicePreset(
        authorization_url="https://www.reddit.com/api/v1/authorize",
        access_token_url="https://www.reddit.com/api/v1/access_token",  # noqa: S106 - an address
        profile_url="https://oauth.reddit.com/api/v1/me",
        scope="identity",
        id=("id",),
        username=("name",),
        email=(),
        verified=None,
    ),
    "twitch": ServicePreset(
        authorization_url="https://id.twitch.tv/oauth2/authorize",
        access_token_url="https://id.twitch.tv/oauth2/token",  # noqa: S106 - an address
        profile_url="https://id.twitch.tv/oauth2/userinfo",
        jwks_url="https://id.twitch.tv/oauth2/keys",
        issuer="https://id.twitch.tv/oauth2",
        is_openid=True,
        scope="openid",
    ),
    "slack": ServicePreset(
        authorization_url="https://slack.com/openid/connect/authorize",
        access_token_url="https://slack.com/api/openid.connect.token",  # noqa: S106 - an address
        profile_url="https://slack.com/api/openid.connect.userInfo",
        jwks_url="https://slack.com/openid/connect/keys",
        issuer="https://slack.com",
        is_openid=True,
        scope="openid profile email",
    ),
    # Any server that speaks Mastodon's API: its addresses follow from its name.
    "mastodon": ServicePreset(scope="read:accounts", id=("id",), username=("username",), email=(), verified=None),
}


def preset_of(provider_type: str) -> ServicePreset:
    return PRESETS.get(provider_type, PLAIN)
