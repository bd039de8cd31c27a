"""The claims of a person, for ID tokens and the UserInfo endpoint."""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from collections.abc import Iterable
from typing import Any

from kith.base.keys import Keys
from kith.base.work import Work
from kith.identity.applications.entitlements import granted_names
from kith.identity.expressions import subjects
from kith.identity.expressions.subjects import PolicySubject
from kith.identity.providers.oauth2.claims import scope_mappings
from kith.identity.providers.oauth2.claims.profile import NAMES as PROFILE_NAMES
from kith.identity.providers.oauth2.claims.profile import profile_claims
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.clients.scopes import ENTITLEMENTS
from kith.identity.providers.oauth2.keys import signing as keys
from kith.identity.providers.oauth2.tables import Grant
from kith.identity.users.tables import User

_PLACES = ("id_token", "userinfo")
_ALLOWED = "scopes"  # beside them: by which scopes people were told of them
ACR = "urn:kith:acr:default"
ACR_MULTI = "urn:kith:acr:mfa"
DEFAULT_SECONDS = 3600.0
# `amr` values (RFC 8176) by the method of signing in.
_AMR = {
    "password": ["pwd"],
    "auth_mfa": ["pwd", "otp", "mfa"],
    "auth_webauthn_pwl": ["hwk", "user", "mfa"],
}
# Claims about the token itself, which mappings cannot set.
PROTOCOL = frozenset({
    "iss", "sub", "aud", "azp", "exp", "iat", "nbf", "jti", "auth_time", "acr", "amr", "nonce", "c_hash", "at_hash",
    "sid",
})  # fmt: skip
TOLD = ("iss", "sub", "aud", "azp", "exp", "iat", "jti", "auth_time", "acr", "amr", "nonce", "c_hash", "at_hash", "sid")
BUILT_IN = (
    "name",
    "given_name",
    "family_name",
    "preferred_username",
    "nickname",
    *PROFILE_NAMES,
    "groups",
    "email",
    "email_verified",
    "entitlements",
    "roles",
)
# The scope for each claim that can be asked for by name.
_SCOPE_OF = dict.fromkeys(BUILT_IN, "profile") | {
    "groups": "groups",
    "email": "email",
    "email_verified": "email",
    "entitlements": ENTITLEMENTS,
    "roles": ENTITLEMENTS,
}


def subject(work: Work, client: Client, user: User) -> str:
    """`sub`: never changes for this client; by default the person's `uid`, which SAML and gateways tell, too.

    A client with pairwise subjects knows people by what clients of other sectors cannot make of what they know.
    """
    if client.registered.sector:
        told = json.dumps(["oauth2.pairwise", client.registered.sector, user.uuid]).encode()
        return hmac.new(work.find(Keys).encryption, told, "sha256").hexdigest()
    match client.sub_mode:
        case "user_id":
            return str(user.id)
        case "user_uuid":
            return user.uuid
        case "user_username":
            return user.username
        case "user_email" if user.owns_email:
            return user.email
        case "user_upn" if isinstance(user.attributes.get("upn"), str) and user.attributes["upn"]:
            return str(user.attributes["upn"])
    return user.uid


def session_id(session_uuid: str, client: Client | None = None) -> str:
    """`sid`: the same for all clients of a session, but of those with pairwise subjects, whom it would tell too much.

    It gives no access to the session.
    """
    if client is not None and client.registered.sector:
        return hashlib.sha256(f"{session_uuid} {client.registered.sector}".encode()).hexdigest()
    return hashlib.sha256(session_uuid.encode()).hexdigest()


def kept_with_grant(
    client: Client, asked: dict[str, Any], session_uuid: str, *, scopes: Iterable[str]
) -> dict[str, Any]:
    """What is kept of the claims asked for: with the scopes that they were allowed by, and no others later, and with
    the `sid` where it is the client's alone."""
    asked = {name: value for name, value in asked.items() if name not in ("sid", _ALLOWED)}
    asked |= {_ALLOWED: list(scopes)} if any(_named(asked, place) for place in _PLACES) else {}
    return asked | {"sid": session_id(session_uuid, client)} if client.registered.sector else asked


def sid_of(grant: Grant) -> str | None:
    """The `sid` that the client of this grant knows; it stays when the session is renewed."""
    kept = grant.claims.get("sid")
    if isinstance(kept, str):
        return kept
    return session_id(grant.session_uuid) if grant.session_uuid else None


async def user_claims(
    work: Work, client: Client, grant: Grant, scopes: list[str], *, for_id_token: bool
) -> dict[str, Any]:
    """`sub` and the claims of the scopes. Mappings can be slow: call it before the work's first write.

    A short ID token has only the claims that the request named. Claims named beyond the scopes are added if this
    client may have their scope, and might when people were asked.
    """
    person = await subjects.find(work, grant.user_id) if grant.user_id is not None else None
    if person is None:
        return {}
    told, place = await brought(work, client, person, scopes), "id_token" if for_id_token else "userinfo"
    if for_id_token and not client.claims_in_id_token:
        named = _named(grant.claims, "id_token")
        told = {name: value for name, value in told.items() if name in named}
    asked = {name: wish for name, wish in _named(grant.claims, place).items() if name not in told}
    allowed = grant.claims.get(_ALLOWED, ())
    more = [scope for scope in await scopes_for(work, client, asked) if scope not in scopes and scope in allowed]
    found = await brought(work, client, person, more) if more else {}
    told |= {name: found[name] for name, wish in asked.items() if name in found and _fits(found[name], wish)}
    return {"sub": subject(work, client, person.user), **told}


async def brought(work: Work, client: Client, person: PolicySubject, scopes: list[str]) -> dict[str, Any]:
    """The claims of these scopes. A custom mapping for `profile` decides alone about what the scope brings."""
    told, covered = await scope_mappings.evaluate(work, client, person, scopes)
    plain = [scope for scope in scopes if scope not in covered]
    told = _built_in(person, plain) | told
    if ENTITLEMENTS in plain and client.application is not None:
        names = await granted_names(work, client.application.pbm_uuid, person)
        told = {"entitlements": names, "roles": names} | told
    if "profile" in scopes and not await scope_mappings.has_own_profile(work, client):
        told = await profile_claims(work, person.user) | told
    return {name: value for name, value in told.items() if name not in PROTOCOL and value is not None}


# Claims that are asked for by name (OpenID Connect Core 5.5)


async def scopes_for(work: Work, client: Client, names: Iterable[str]) -> list[str]:
    """The scopes that give these claims, as far as this client may have them."""
    wanted = dict.fromkeys(_SCOPE_OF[name] for name in names if name in _SCOPE_OF)
    return await scope_mappings.within_allowed(work, client, list(wanted))


async def scopes_asked(work: Work, client: Client, asked: dict[str, Any]) -> list[str]:
    """The scopes for the claims that a request names; people are asked to consent to them like to any other."""
    return await scopes_for(work, client, (name for place in _PLACES for name in _named(asked, place)))


def needed(asked: dict[str, Any], name: str, *, essential: bool) -> list[str]:
    """The values of which one must be true of the person; empty if any will do."""
    wish = _named(asked, "id_token").get(name) or {}
    return [one for one in _values(wish) if isinstance(one, str)] if wish.get("essential") or not essential else []


def _fits(value: Any, wish: dict[str, Any] | None) -> bool:
    values = _values(wish or {})
    return not values or value in values


def _values(wish: dict[str, Any]) -> list[Any]:
    if "value" in wish:
        return [wish["value"]]
    values = wish.get("values")
    return values if isinstance(values, list) else []


def _built_in(person: PolicySubject, scopes: list[str]) -> dict[str, Any]:
    user, told = person.user, dict[str, Any]()
    groups = [group["name"] for group in person.groups if group["group_uuid"] in person.direct]
    if "profile" in scopes:
        first, _, rest = user.name.strip().partition(" ")
        told |= {
            "name": user.name or None,
            "given_name": first or None,
            "family_name": rest.strip() or None,
            "preferred_username": user.username,
            "nickname": user.username,
            "groups": groups,
        }
    if "groups" in scopes:
        told["groups"] = groups
    if "email" in scopes and user.owns_email:
        told |= {"email": user.email, "email_verified": user.is_email_verified}
    return told


def _named(asked: dict[str, Any], place: str) -> dict[str, dict[str, Any] | None]:
    """The claims that the `claims` parameter names for this place."""
    found = asked.get(place)
    return found if isinstance(found, dict) else {}


async def id_token(
    work: Work,
    client: Client,
    grant: Grant,
    *,
    scopes: list[str],
    nonce: str = "",
    access: str | None = None,
    code: str | None = None,
    about: dict[str, Any] | None = None,
) -> str:
    """A signed ID token. `about` is the result of `user_claims`, if it was called before the first write."""
    if about is None:
        about = await user_claims(work, client, grant, scopes, for_id_token=True)
    alg = await keys.alg_of(work, client)
    now = int(work.now.timestamp())
    told = {
        **about,
        "iss": client.issuer(work.settings.base_url),
        "aud": client.client_id,
        "azp": client.client_id,
        "exp": now + int(client.access_seconds or DEFAULT_SECONDS),
        "iat": now,
        "jti": str(uuid.uuid4()),
        "auth_time": int(grant.auth_time.timestamp()) if grant.auth_time is not None else None,
        "acr": acr_of(grant.auth_method),
        "amr": _AMR.get(grant.auth_method),
        "nonce": nonce or None,
        "at_hash": keys.half_hash(alg, access) if access else None,
        "c_hash": keys.half_hash(alg, code) if code else None,
        "sid": sid_of(grant),
    }
    return await keys.sign(work, client, {name: value for name, value in told.items() if value is not None})


def acr_of(auth_method: str) -> str:
    return ACR_MULTI if "mfa" in _AMR.get(auth_method, ()) else ACR
