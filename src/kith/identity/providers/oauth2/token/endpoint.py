"""The token endpoint: what a client gets for a code, a refresh token, a password, a device, a token, or for itself.

Whatever takes long (policies, mappings, passwords, making a key) is done before the first write.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

import msgspec

from kith.base.exchange import Exchange
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.policies import reputation_scores
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.access.checks import AccessDenied, AccessRequest, check_policies, model_of
from kith.identity.providers.oauth2.authentication import bearers, resource_owners
from kith.identity.providers.oauth2.authentication.clients import client_of
from kith.identity.providers.oauth2.authentication.resource_owners import ResourceOwner
from kith.identity.providers.oauth2.claims import claims
from kith.identity.providers.oauth2.claims.scope_mappings import granted_scopes, within_allowed
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import DEVICE_CODE, TOKEN_EXCHANGE, Client
from kith.identity.providers.oauth2.clients.scopes import split
from kith.identity.providers.oauth2.device import codes as device
from kith.identity.providers.oauth2.errors import (
    UNSUPPORTED_GRANT,
    OAuthError,
    invalid_grant,
    invalid_request,
    invalid_scope,
    missing,
)
from kith.identity.providers.oauth2.grants import service, visits
from kith.identity.providers.oauth2.grants.service import GrantRequest, Issued, hash_key
from kith.identity.providers.oauth2.keys import signing as keys
from kith.identity.providers.oauth2.tables import Grant
from kith.identity.scopes import IDENTITY, common
from kith.identity.tokens import store as app_passwords
from kith.identity.tokens.service import scopes_of, scopes_to_enter
from kith.identity.tokens.tables import ApiToken
from kith.identity.users.able_people import find_able
from kith.identity.users.tables import User

ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105 - a name
_VERIFIER = re.compile(r"[A-Za-z0-9\-._~]{43,128}\Z")
# Errors that a polling device gets are not recorded as failures.
_WAITING = frozenset({"authorization_pending", "slow_down"})


class TokenRequest(msgspec.Struct, frozen=True):
    """A request of an authenticated client to the token endpoint."""

    exchange: Exchange
    client: Client
    sent: dict[str, str]

    @property
    def work(self) -> Work:
        return self.exchange.work

    def need(self, name: str) -> str:
        if name not in self.sent:
            raise missing(name)
        return self.sent[name]


Answered = dict[str, Any]


async def answer_token(exchange: Exchange, sent: dict[str, str], *, social: bool) -> Answered:
    """The token response. `social`: at Mastodon's endpoint, whose response has `created_at`."""
    kind = sent.get("grant_type")
    if kind is None:
        raise missing("grant_type")
    if kind not in _GRANTS:
        raise OAuthError("unsupported_grant_type", UNSUPPORTED_GRANT)
    client = await client_of(exchange, sent)
    if client.is_social and kind not in client.grant_types:  # no app has it, so nobody could let this one
        raise OAuthError("unsupported_grant_type", UNSUPPORTED_GRANT)
    if kind not in client.grant_types or (kind == "password" and not _may_use_passwords(exchange.work, client)):
        raise OAuthError("unauthorized_client", "This client may not use this grant type.")
    try:
        answered = await _GRANTS[kind](TokenRequest(exchange, client, sent))
        if social or client.is_social:
            answered["created_at"] = int(exchange.work.now.timestamp())
    except OAuthError as error:
        if error.error not in _WAITING and error.refusal is None:
            await exchange.work.rollback()
            await _write_down(exchange.work, client, kind, error)
        raise
    return answered


def _may_use_passwords(work: Work, client: Client) -> bool:
    """Whether the password grant is allowed: for Mastodon's apps by a setting, for others with app passwords."""
    return not client.is_social or work.settings.password_grant


# What each grant does


async def _by_code(call: TokenRequest) -> Answered:
    key, redirect_uri, verifier = call.need("code"), call.need("redirect_uri"), call.sent.get("code_verifier", "")
    if verifier and not _VERIFIER.match(verifier):
        raise invalid_grant()
    work, client = call.work, call.client
    code = await store.find_code(work.db, hash_key(key))
    grant = await store.find_grant(work.db, code.grant_uuid) if code is not None else None
    about: dict[str, Any] | None = None
    scopes: list[str] = []
    if code is not None and code.used_at is None and grant is not None and grant.client_id == client.client_id:
        _check_resource(call.sent.get("resource", ""), grant)
        scopes = await _still_allowed(client, split(grant.scopes), work)
        await _refuse_who_lost_access(call, grant, scopes)
        about = await _prepare(call, grant, scopes)
    grant, code = await service.claim_code(work, client, key, redirect_uri, verifier)
    issued = await service.issue(work, client, grant, scopes, refreshable=_may_refresh(client, scopes))
    return await _told(call, issued, about, nonce=code.nonce)


async def _by_refresh(call: TokenRequest) -> Answered:
    key, asked = call.need("refresh_token"), split(call.sent.get("scope", ""))
    work, client = call.work, call.client
    token = await store.find_token(work.db, hash_key(key))
    grant = await store.find_grant(work.db, token.grant_uuid) if token is not None else None
    about: dict[str, Any] | None = None
    scopes: list[str] = []
    if token is not None and token.kind == "refresh" and token.used_at is None and grant is not None:
        had = split(token.scopes)
        if asked and "offline_access" in had and "offline_access" not in asked:
            raise invalid_scope("The scope must still contain offline_access.")
        if grant.client_id == client.client_id:
            _check_resource(call.sent.get("resource", ""), grant)
            client = await _while_app_password_lasts(call, grant)
            if grant.user_id is not None:
                await _refuse_stranger(call, await find_able(work, grant.user_id), had, of=client.client_id)
            if any(scope not in had for scope in asked):
                raise invalid_scope()
            scopes = await _still_allowed(client, asked or had, work)
            if _may_refresh(client, had) and not _may_refresh(client, scopes):
                raise invalid_grant("This client may not keep its access any more.")
            about = await _prepare(call, grant, scopes)
    issued = await service.refresh(work, client, key, asked, scopes)
    return await _told(call, issued, about)


async def _by_itself(call: TokenRequest) -> Answered:
    """The client credentials grant: for the client itself, or for somebody whose app password it has."""
    work, client = call.work, call.client
    if client.is_public:
        raise OAuthError("unauthorized_client", "A public client cannot prove that it is itself.")
    if not client.is_social and "username" in call.sent:
        return await _for_person(call, await resource_owners.by_app_password(call.exchange, call.sent), "token")
    scopes = await _scopes(call)
    if not client.is_social:
        # Both scopes need a user, and there is none.
        scopes = [scope for scope in scopes if scope not in ("openid", "offline_access")]
    await _ask_policies(call, None, scopes, into=client)
    grant = await service.open_grant(work, client, GrantRequest(scopes=scopes, resource=_resource(call)))
    await _record(work, client, grant, "client_credentials")
    return await _told(call, await service.issue(work, client, grant, scopes), None)


async def _by_password(call: TokenRequest) -> Answered:
    if not call.client.is_social:
        return await _for_person(call, await resource_owners.by_app_password(call.exchange, call.sent), "token")
    owner = await resource_owners.by_password(call.exchange, call.sent)
    answered = await _for_person(call, owner, "password")
    await reputation_scores.change(call.work, identifier=owner.user.username, ip=call.exchange.address, by=1)
    return answered


async def _for_person(call: TokenRequest, owner: ResourceOwner, method: str) -> Answered:
    """What is given for an app password is no more than it allows, ends with it, and lasts no longer than it does."""
    work, client, user, app_password = call.work, call.client, owner.user, owner.app_password
    scopes = _allowed(client, await _scopes(call), app_password)
    await _refuse_stranger(call, user, scopes)
    asked = GrantRequest(
        scopes=scopes,
        user_id=user.id,
        auth_method=method,
        auth_time=work.now,
        resource=_resource(call),
        token_uuid=app_password.token_uuid if app_password is not None else None,
    )
    client = _until(client, app_password.expires_at if app_password is not None else None, work)
    grant = service.new_grant(work, client, asked)
    about = await _prepare(call, grant, scopes)
    await resource_owners.hold(work, owner)
    await store.insert_grant(work.db, grant)
    await visits.note(work, client, grant, user)
    await _record(work, client, grant, call.sent["grant_type"], username=user.username)
    with_refresh = call.sent["grant_type"] == "password" and not client.is_social and _may_refresh(client, scopes)
    return await _told(call, await service.issue(work, client, grant, scopes, refreshable=with_refresh), about)


async def _by_device(call: TokenRequest) -> Answered:
    key, work, client = call.need("device_code"), call.work, call.client
    grant = await device.find_approved(work, client, key)
    scopes = await _still_allowed(client, split(grant.scopes), work)
    await _refuse_who_lost_access(call, grant, scopes)
    about = await _prepare(call, grant, scopes)
    await service.hold_grant(work, grant.grant_uuid)
    await device.claim(work, key)
    issued = await service.issue(work, client, grant, scopes, refreshable=_may_refresh(client, scopes))
    return await _told(call, issued, about)


async def _by_token(call: TokenRequest) -> Answered:
    """RFC 8693, for our own access tokens: from one service to the next, never wider and never longer.

    What is given ends with the grant of the token that was exchanged.
    """
    work, client = call.work, call.client
    if call.need("subject_token_type") != ACCESS_TOKEN or "actor_token" in call.sent:
        raise invalid_request("Only access tokens of this server can be exchanged, and nobody can act for another.")
    if call.sent.get("requested_token_type", ACCESS_TOKEN) != ACCESS_TOKEN:
        raise invalid_request("Only access tokens can be had in exchange.")
    bearer = await bearers.find(work, call.need("subject_token"))
    holder = await clients.find(work, bearer.client_id) if bearer is not None and bearer.client_id else None
    if bearer is None or bearer.user_id is None or bearer.provider_id is None or _has_ended(bearer.expires_at, work):
        raise invalid_grant("The subject_token is not valid.")
    if holder is None or holder.is_suspended:
        raise invalid_grant("The subject_token is not valid.")
    if client.client_id != bearer.client_id and client.client_id not in (bearer.resource or "").split():
        raise invalid_grant("The subject_token was not made for this client.")
    had = split(bearer.scopes)
    asked = split(call.sent.get("scope", "")) or had
    if any(scope not in had for scope in asked):
        raise invalid_scope()
    scopes = [one for one in await within_allowed(work, client, asked) if one != "offline_access"]
    user, at = await find_able(work, bearer.user_id), bearer.client_id or ""
    await _refuse_stranger(call, user, scopes, of=at)
    for audience in await _audiences(call):
        await _refuse_stranger(call, user, scopes, of=at, into=audience)
    targets = " ".join(filter(None, (_resource(call), call.sent.get("audience", ""))))
    asked_for = GrantRequest(
        scopes=scopes,
        user_id=bearer.user_id,
        session_uuid=bearer.session_uuid,
        auth_method="token",
        resource=targets,
        token_uuid=bearer.grant_uuid,
    )
    await work.db.begin()
    if bearer.grant_uuid is None or not await store.hold_grant(work.db, bearer.grant_uuid):
        raise invalid_grant("The subject_token is not valid.")
    grant = await service.open_grant(work, client, asked_for)
    await _record(work, client, grant, "token exchange", username=bearer.username or "")
    issued = await service.issue(work, _until(client, bearer.expires_at, work), grant, scopes)
    return {**_plain(issued), "issued_token_type": ACCESS_TOKEN}


_GRANTS: dict[str, Callable[[TokenRequest], Awaitable[Answered]]] = {
    "authorization_code": _by_code,
    "refresh_token": _by_refresh,
    "client_credentials": _by_itself,
    "password": _by_password,
    DEVICE_CODE: _by_device,
    TOKEN_EXCHANGE: _by_token,
}


# What they share


async def _prepare(call: TokenRequest, grant: Grant, scopes: list[str]) -> dict[str, Any] | None:
    """Check that the person may still act, and prepare the ID token; None if there is none."""
    work, client = call.work, call.client
    if grant.user_id is not None and await find_able(work, grant.user_id) is None:
        raise invalid_grant()
    if client.is_social or "openid" not in scopes:
        return None
    await keys.ready(work, client)
    return await claims.user_claims(work, client, grant, scopes, for_id_token=True)


async def _still_allowed(client: Client, granted: list[str], work: Work) -> list[str]:
    """Those of these scopes that the client may have now: it, or its provider, may have been narrowed since.

    An app of the social half has what it registered for good.
    """
    if client.is_social or not granted:
        return granted
    scopes = await within_allowed(work, client, granted)
    if not scopes or ("openid" in granted and "openid" not in scopes):
        raise invalid_grant("Nothing of what was granted is allowed any more.")
    return scopes


async def _audiences(call: TokenRequest) -> list[Client]:
    """The clients that a token is asked for, by their ids."""
    found = [await clients.find(call.work, one) for one in split(call.sent.get("audience", ""))]
    known = [one for one in found if one is not None and not one.is_social and not one.is_suspended]
    if len(known) < len(found):
        raise OAuthError("invalid_target", "An audience must be the client_id of an application here.")
    return known


async def _refuse_who_lost_access(call: TokenRequest, grant: Grant, scopes: list[str]) -> None:
    """Ask the policies once more about whoever agreed a moment ago, where they were then: they may have lost access."""
    if grant.user_id is None:
        return
    person = await find_able(call.work, grant.user_id)
    if person is None:
        raise invalid_grant()
    address = await visits.last_seen(call.work, person.id, call.client.client_id)
    await _ask_policies(call, person, scopes, into=call.client, address=address)


async def _refuse_stranger(
    call: TokenRequest, user: User | None, scopes: list[str], *, of: str = "", into: Client | None = None
) -> None:
    """Refuse for a person who may not act, or whom the application's policies deny.

    `of` is the client at which they signed in, if they are not there now. `into`: the application is another client's.
    """
    if user is None:
        raise invalid_grant()
    is_elsewhere = of and not call.client.is_public  # a server that renews a person's token
    address = await visits.last_seen(call.work, user.id, of) if is_elsewhere else None
    await _ask_policies(call, user, scopes, into=into or call.client, address=address)


async def _ask_policies(
    call: TokenRequest, user: User | None, scopes: list[str], *, into: Client, address: str | None = None
) -> None:
    """Evaluate the policies of a client's application; without a user for the client itself."""
    request = AccessRequest(scopes=scopes, grant_type=call.sent["grant_type"])
    try:
        await check_policies(call.work, into, user, request, address=address)
    except AccessDenied as refused:
        raise OAuthError("access_denied", str(refused), status=403, refusal=refused.code) from refused


async def _scopes(call: TokenRequest) -> list[str]:
    found = await granted_scopes(call.work, call.client, call.sent.get("scope", ""))
    if found is None:
        raise invalid_scope()
    return found


def _allowed(client: Client, scopes: list[str], app_password: ApiToken | None) -> list[str]:
    """Those that the app password allows; one for the identity API stands for its owner and allows all.

    A token of a gateway lets in, whatever its scopes.
    """
    if app_password is None:
        return scopes
    held = scopes_of(app_password.scopes, app_password.intent)
    if IDENTITY in held:
        return scopes
    is_gateway = client.kind == "applicationgateway"
    allowed = scopes_to_enter(scopes, app_password.scopes, app_password.intent) if is_gateway else common(scopes, held)
    if not allowed:
        raise invalid_scope("The app password does not allow this scope.")
    return allowed


def _may_refresh(client: Client, scopes: list[str]) -> bool:
    """Whether a refresh token is issued: for OpenID clients with `offline_access`, for plain OAuth always."""
    return not client.is_social and ("offline_access" in scopes or "openid" not in scopes)


def _has_ended(moment: datetime | None, work: Work) -> bool:
    return moment is not None and moment <= work.now


async def _while_app_password_lasts(call: TokenRequest, grant: Grant) -> Client:
    """The client, for tokens that end with the app password the grant was given for."""
    if grant.token_uuid is None:
        return call.client
    app_password = await app_passwords.find(call.work.db, grant.token_uuid)
    if app_password is None or _has_ended(app_password.expires_at, call.work):
        raise invalid_grant()
    return _until(call.client, app_password.expires_at, call.work)


def _until(client: Client, ends: datetime | None, work: Work) -> Client:
    """The client, for tokens that end at this moment at the latest."""
    if ends is None:
        return client
    left = max((ends - work.now).total_seconds(), 1)
    return msgspec.structs.replace(
        client,
        access_seconds=min(left, client.access_seconds or left),
        refresh_seconds=min(left, client.refresh_seconds or left),
    )


def _resource(call: TokenRequest) -> str:
    """RFC 8707: absolute URIs, stored with the grant and shown by introspection."""
    named = call.sent.get("resource", "").split()
    if any(not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:[^#\s]+\Z", one) or len(one) > 2000 for one in named):
        raise OAuthError("invalid_target", "A resource must be an absolute URI without a fragment.")
    return " ".join(named)


def _check_resource(asked: str, grant: Grant) -> None:
    if any(one not in grant.resource.split() for one in asked.split()):
        raise OAuthError("invalid_target", "This resource was not part of the authorization.")


async def _told(call: TokenRequest, issued: Issued, about: dict[str, Any] | None, *, nonce: str = "") -> Answered:
    answered = _plain(issued)
    if issued.refresh is not None:
        answered["refresh_token"] = issued.refresh
    if about is not None:
        answered["id_token"] = await claims.id_token(
            call.work, call.client, issued.grant, scopes=issued.scopes, nonce=nonce, access=issued.access, about=about
        )
    return answered


def _plain(issued: Issued) -> Answered:
    told: Answered = {"access_token": issued.access, "token_type": "Bearer", "scope": " ".join(issued.scopes)}
    return told if issued.expires_in is None else told | {"expires_in": issued.expires_in}


async def _record(work: Work, client: Client, grant: Grant, how: str, *, username: str = "") -> None:
    context = {
        "authorized_application": model_of(client),
        "client": client.client_id,
        "grant_type": how,
        "scopes": grant.scopes,
    }
    await audit.record(
        work, "authorize_application", "providers.oauth2", user_id=grant.user_id, username=username, context=context
    )


async def _write_down(work: Work, client: Client, kind: str, error: OAuthError) -> None:
    context = {
        "message": f"{error.error}: {error.description}",
        "client": client.client_id,
        "name": client.name,
        "grant_type": kind,
    }
    async with work.aside() as aside:
        await audit.record(aside, "authorization_refused", "providers.oauth2", context=context)
