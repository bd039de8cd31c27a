from __future__ import annotations

from typing import Any

import msgspec

from kith.identity import face as identity

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


def render_credentials(made: identity.Registered, vapid_key: str) -> CredentialApplication:
    app = made.app
    return CredentialApplication(
        id=str(app.id), name=app.name, website=app.website, scopes=app.scopes.split(), redirect_uri=app.redirect_uris,
        redirect_uris=app.redirect_uris.split(), vapid_key=vapid_key, client_id=app.client_id,
        client_secret=made.secret, client_secret_expires_at=0,
    )  # fmt: skip


def render_application(client: identity.Client, id: int, scopes: frozenset[str], vapid_key: str) -> Application:
    return Application(
        id=str(id), name=client.name, website=client.website,
        scopes=sorted(scopes) if client.scopes is None else list(client.scopes),
        redirect_uri="\n".join(client.redirect_uris), redirect_uris=list(client.redirect_uris), vapid_key=vapid_key,
    )  # fmt: skip


def render_personal(scopes: frozenset[str], vapid_key: str) -> Application:
    """A token that somebody made by hand belongs to no app, but asks like one."""
    return Application(
        id="0", name=PERSONAL, website=None, scopes=sorted(scopes), redirect_uri="", redirect_uris=[],
        vapid_key=vapid_key,
    )  # fmt: skip


def render_token(told: dict[str, Any]) -> Token:
    return Token(told["access_token"], BEARER, told["scope"], int(told["created_at"]))


def render_issued(issued: identity.Issued) -> Token:
    return Token(issued.access, BEARER, " ".join(issued.scopes), int(issued.created_at.timestamp()))


def render_userinfo(base_url: str, user: identity.User) -> UserInfo:
    return UserInfo(
        iss=f"{base_url}/", sub=f"{base_url}/users/{user.username}", name=user.name or user.username,
        preferred_username=user.username, profile=f"{base_url}/@{user.username}",
        picture=f"{base_url}/avatars/original/missing.png",
    )  # fmt: skip
