"""Apps of the social half, which register themselves with a name, redirect URIs and scopes."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import urlsplit

import msgspec
from sqlalchemy import bindparam, select

from kith.base.db import query
from kith.base.errors import Unprocessable
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.clients.client import OUT_OF_BAND, hash_secret
from kith.identity.providers.oauth2.clients.scopes import DEFAULT_SOCIAL, are_social, split
from kith.identity.providers.oauth2.grants.service import new_key
from kith.identity.providers.oauth2.tables import App, apps

MOST_IN_NAME = 60
MOST_IN_URIS = 2000
GRANTS = "authorization_code client_credentials password"
_FORBIDDEN = frozenset({"data", "vbscript", "javascript"})
# Controls, and those that turn the direction of what stands around them: the name stands in a question to people.
_HIDING = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+\Z")


class NewApp(msgspec.Struct, kw_only=True):
    name: str
    redirect_uris: list[str]
    scopes: list[str] = []
    website: str = ""


class Registered(msgspec.Struct):
    """A new app with its secret, which is never shown again."""

    app: App
    secret: str


async def register(work: Work, new: NewApp) -> Registered:
    wrong = _complaints(new)
    if wrong:
        raise Unprocessable(f"Validation failed: {', '.join(wrong)}")
    secret = new_key()
    app = App(
        id=work.new_id(),
        client_id=new_key(),
        secret_hash=hash_secret(secret),
        kind="social",
        provider_id=None,
        name=new.name,
        website=new.website or None,
        redirect_uris="\n".join(new.redirect_uris),
        scopes=" ".join(new.scopes or split(DEFAULT_SOCIAL)),
        grant_types=GRANTS,
        auth_method="client_secret_post",
        jwks={},
        trusted=False,
        created_at=work.now,
    )
    await store.insert_app(work.db, app)
    model = {"app": "providers", "model_name": "app", "pk": str(app.id), "name": app.name}
    await audit.record(work, "model_created", "providers.oauth2", context={"model": model, "scopes": app.scopes})
    return Registered(app, secret)


def _complaints(new: NewApp) -> list[str]:
    """In the words of Mastodon's API."""
    wrong = []
    if not any(unicodedata.category(letter)[0] not in "CZ" for letter in new.name) or "\0" in new.name:
        wrong.append("Application name can't be blank")
    elif _HIDING.search(new.name):
        wrong.append("Application name is invalid")
    elif len(new.name) > MOST_IN_NAME:
        wrong.append(f"Application name is too long (maximum is {MOST_IN_NAME} characters)")
    wrong += [f"Redirect URI {words}" for words in _complain_uris(new.redirect_uris)]
    if not are_social(new.scopes):
        wrong.append("Scopes doesn't match configured on the server.")
    if len(new.website) > MOST_IN_URIS:
        wrong.append(f"Website is too long (maximum is {MOST_IN_URIS} characters)")
    elif new.website and not _is_page(new.website):
        wrong.append("Website is not a valid URL")
    return wrong


def _complain_uris(uris: list[str]) -> list[str]:
    if not uris:
        return ["can't be blank"]
    if len("\n".join(uris)) > MOST_IN_URIS:
        return [f"is too long (maximum is {MOST_IN_URIS} characters)"]
    return list(dict.fromkeys(words for uri in uris for words in _complain_uri(uri)))


def _complain_uri(uri: str) -> list[str]:
    if uri == OUT_OF_BAND:
        return []
    try:
        parts = urlsplit(uri)
        parts.port  # noqa: B018 - asked for its own complaint
    except ValueError:
        return ["must be a valid URI."]
    if parts.scheme.lower() in _FORBIDDEN:
        return ["is forbidden by the server."]
    if "#" in uri:
        return ["cannot contain a fragment."]
    if parts.scheme in ("http", "https") and "@" in parts.netloc:  # people are shown where they are sent
        return ["must be a valid URI."]
    has_place = bool(parts.hostname) if parts.scheme in ("http", "https") else bool(parts.netloc or parts.path)
    if not _URI.match(uri) or not has_place:
        return ["must be an absolute URI."]
    return []


def _is_page(text: str) -> bool:
    try:
        url = urlsplit(text)
    except ValueError:
        return False
    return url.scheme in ("http", "https") and bool(url.hostname) and re.search(r"[\s\x00]", text) is None


_shown = query(select(apps.c.name, apps.c.website).where(apps.c.id == bindparam("app")), tuple)


async def shown(work: Work, app_id: int | None) -> dict[str, str | None] | None:
    """The app of a status, as the API shows it."""
    if app_id is None:
        return None
    found = await work.db.one(_shown, app=app_id)
    return None if found is None else {"name": found[0], "website": found[1]}
