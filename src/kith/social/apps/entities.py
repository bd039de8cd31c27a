from __future__ import annotations

from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts.shapes import avatar_url
from kith.social.accounts.tables import Account

PERSONAL = "Personal access token"
BEARER = "Bearer"


class Application(msgspec.Struct):
    id: str
    name: str
    website: str | None
    scopes: list[str]
    redirect_uri: str
    redirect_uris: list[str]
    vapid_key: str


class CredentialApplication(Application):
    client_id: str
    client_secret: str
    client_secret_expires_at: int


class Token(msgspec.Struct):
    access_token: str
    token_type: str
    scope: str
    created_at: int


class UserInfo(msgspec.Struct):
    iss: str
    sub: str
    name: str
    preferred_username: str
    profile: str
    picture: str


def render_credentials(made: identity.apps.Registered, vapid_key: str) -> CredentialApplication:
    app = made.app
    return CredentialApplication(
        id=str(app.id),
        name=app.name,
        website=app.website,
        scopes=app.scopes.split(),
        redirect_uri=app.redirect_uris,
        redirect_uris=app.redirect_uris.split(),
        vapid_key=vapid_key,
        client_id=app.client_id,
        client_secret=made.secret,
        client_secret_expires_at=0,
    )


def render_application(client: identity.Client, id: int, scopes: frozenset[str], vapid_key: str) -> Application:
    return Application(
        id=str(id),
        name=client.name,
        website=client.website,
        scopes=sorted(scopes) if client.scopes is None else list(client.scopes),
        redirect_uri="\n".join(client.redirect_uris),
        redirect_uris=list(client.redirect_uris),
        vapid_key=vapid_key,
    )


def render_personal(scopes: frozenset[str], vapid_key: str) -> Application:
    """A token that somebody made by hand belongs to no app, but asks like one."""
    return Application(
        id="0",
        name=PERSONAL,
        website=None,
        scopes=sorted(scopes),
        redirect_uri="",
        redirect_uris=[],
        vapid_key=vapid_key,
    )


def render_token(told: dict[str, Any]) -> Token:
    return Token(told["access_token"], BEARER, told["scope"], int(told["created_at"]))


def render_issued(issued: identity.Issued) -> Token:
    return Token(issued.access, BEARER, " ".join(issued.scopes), int(issued.created_at.timestamp()))


def render_userinfo(work: Work, account: Account) -> UserInfo:
    return UserInfo(
        iss=f"{work.settings.base_url}/",
        sub=account.uri,
        name=account.display_name or account.username,
        preferred_username=account.username,
        profile=account.url or account.uri,
        picture=avatar_url(work.settings, account),
    )
