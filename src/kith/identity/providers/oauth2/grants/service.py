"""Grants, codes, access tokens and refresh tokens: issuing, redeeming and revoking them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import uuid
from datetime import datetime, timedelta
from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.clients.scopes import split
from kith.identity.providers.oauth2.errors import invalid_grant, invalid_scope
from kith.identity.providers.oauth2.grants import revoked_tokens
from kith.identity.providers.oauth2.tables import Code, Grant, OAuthToken
from kith.identity.tokens.facts import AccessEnded
from kith.identity.tokens.service import PREFIX as PERSONAL


class GrantRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a new grant is for."""

    scopes: list[str]
    user_id: int | None = None
    session_uuid: str | None = None
    auth_method: str = ""
    auth_time: datetime | None = None
    resource: str = ""
    claims: dict[str, Any] = {}
    token_uuid: str | None = None


class Issued(msgspec.Struct, frozen=True, kw_only=True):
    """New tokens; their keys are never shown again."""

    grant: Grant
    access: str
    scopes: list[str]
    created_at: datetime
    expires_in: int | None
    refresh: str | None = None
    nonce: str = ""


def hash_key(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def new_key() -> str:
    """43 random characters; it never begins like a personal token, which is in another table."""
    key = secrets.token_urlsafe(32)
    return key if not key.startswith(PERSONAL) else new_key()


def new_grant(work: Work, client: Client, asked: GrantRequest) -> Grant:
    """A grant that is not stored yet, so that policies and mappings can be evaluated before the first write."""
    return Grant(
        grant_uuid=str(uuid.uuid4()),
        client_id=client.client_id,
        provider_id=client.provider_id,
        app_id=client.app_id,
        user_id=asked.user_id,
        session_uuid=asked.session_uuid,
        scopes=" ".join(asked.scopes),
        resource=asked.resource,
        claims=asked.claims,
        auth_method=asked.auth_method,
        auth_time=asked.auth_time,
        created_at=work.now,
        token_uuid=asked.token_uuid,
    )


async def open_grant(work: Work, client: Client, asked: GrantRequest) -> Grant:
    grant = new_grant(work, client, asked)
    await store.insert_grant(work.db, grant)
    return grant


async def issue_code(
    work: Work, client: Client, grant: Grant, *, redirect_uri: str, nonce: str, challenge: str, method: str
) -> str:
    key = new_key()
    code = Code(
        code_hash=hash_key(key),
        grant_uuid=grant.grant_uuid,
        redirect_uri=redirect_uri,
        nonce=nonce,
        challenge=challenge,
        challenge_method=method,
        used_at=None,
        expires_at=work.now + timedelta(seconds=client.code_seconds),
    )
    await store.insert_code(work.db, code)
    return key


async def claim_code(work: Work, client: Client, key: str, redirect_uri: str, verifier: str) -> tuple[Grant, Code]:
    """Redeem a code. It works once; a second use revokes what the first was given."""
    held = await store.find_code(work.db, hash_key(key))
    await hold_grant(work, held.grant_uuid if held is not None else None)
    code = await store.claim_code(work.db, hash_key(key), work.now)
    if code is None:
        await _second_use(work, key)
        raise invalid_grant()
    grant = await store.find_grant(work.db, code.grant_uuid)
    if grant is None or grant.client_id != client.client_id:
        raise invalid_grant()
    if code.redirect_uri != redirect_uri or not _is_verified(code, verifier):
        raise invalid_grant()
    return grant, code


async def hold_grant(work: Work, grant_uuid: str | None) -> None:
    """Before what belongs to the grant is changed: whoever ends a grant holds it first, and its codes and tokens then.
    In another order the two would wait for each other, and the end would be refused."""
    await work.db.begin()
    if grant_uuid is not None:
        await store.hold_grant(work.db, grant_uuid)


async def _second_use(work: Work, key: str) -> None:
    """Revoke the grant in a work of its own, as the request is refused. An expired code revokes nothing."""
    code = await store.find_code(work.db, hash_key(key))
    if code is None or code.used_at is None:
        return
    await work.rollback()
    async with work.aside() as aside:
        grant = await store.find_grant(aside.db, code.grant_uuid)
        if grant is not None:
            await _suspect(aside, grant, "An authorization code was used a second time.")
            await end_grant(aside, grant)


def _is_verified(code: Code, verifier: str) -> bool:
    """PKCE: a challenge needs its verifier and vice versa."""
    if not code.challenge:
        return not verifier
    if not 43 <= len(verifier) <= 128 or not verifier.isascii():
        return False
    digest = hashlib.sha256(verifier.encode()).digest()
    return hmac.compare_digest(base64.urlsafe_b64encode(digest).rstrip(b"=").decode(), code.challenge)


async def issue(work: Work, client: Client, grant: Grant, scopes: list[str], *, refreshable: bool = False) -> Issued:
    """Tokens for a grant; a refresh token only if it was asked for and the client may have one."""
    access = new_key()
    ends = work.now + timedelta(seconds=client.access_seconds) if client.access_seconds else None
    await _keep(work, "access", access, grant, scopes, ends)
    refresh = None
    if refreshable and "refresh_token" in client.grant_types:
        refresh = new_key()
        until = work.now + timedelta(seconds=client.refresh_seconds) if client.refresh_seconds else None
        await _keep(work, "refresh", refresh, grant, scopes, until)
    return Issued(
        grant=grant,
        access=access,
        scopes=scopes,
        created_at=work.now,
        refresh=refresh,
        expires_in=int(client.access_seconds) if client.access_seconds else None,
    )


async def _keep(work: Work, kind: str, key: str, grant: Grant, scopes: list[str], ends: datetime | None) -> None:
    token = OAuthToken(
        key_hash=hash_key(key),
        kind=kind,
        grant_uuid=grant.grant_uuid,
        scopes=" ".join(scopes),
        created_at=work.now,
        expires_at=ends,
        used_at=None,
        last_used_at=None,
    )
    await store.insert_token(work.db, token)


async def refresh(work: Work, client: Client, key: str, asked: list[str], scopes: list[str]) -> Issued:
    """New tokens for a refresh token, with these scopes. It is used up; using it again revokes the grant.

    What was `asked` for, if anything, must not be more than it had; the scopes are what of that is still allowed.
    A confidential client may keep its refresh token while more than the threshold is left of it.
    """
    held = await store.find_token(work.db, hash_key(key))
    await hold_grant(work, held.grant_uuid if held is not None else None)
    lasting = work.now + timedelta(seconds=client.refresh_threshold) if client.refresh_threshold else None
    kept = await store.find_lasting_refresh(work.db, hash_key(key), lasting) if lasting is not None else None
    spent = kept or await store.spend_refresh(work.db, hash_key(key), work.now)
    if spent is None:
        await _reuse(work, client, key)
        raise invalid_grant()
    grant = await store.find_grant(work.db, spent.grant_uuid)
    if grant is None or grant.client_id != client.client_id:
        raise invalid_grant()
    had = split(spent.scopes)
    if any(scope not in had for scope in asked):
        raise invalid_scope()
    return await issue(work, client, grant, [one for one in scopes if one in had], refreshable=kept is None)


async def _reuse(work: Work, client: Client, key: str) -> None:
    token = await store.find_token(work.db, hash_key(key))
    if token is None or token.kind != "refresh" or token.used_at is None:
        return
    await work.rollback()
    async with work.aside() as aside:
        grant = await store.find_grant(aside.db, token.grant_uuid)
        if grant is not None and grant.client_id == client.client_id:
            await _suspect(aside, grant, "A refresh token was used again after it was replaced.")
            await end_grant(aside, grant)


async def _suspect(work: Work, grant: Grant, message: str) -> None:
    context = {"message": message, "client": grant.client_id, "grant": grant.grant_uuid}
    await audit.record(work, "suspicious_request", "providers.oauth2", user_id=grant.user_id, context=context)


async def revoke(work: Work, client: Client, key: str) -> bool:
    """Revoke a token of this client; a refresh token's grant as a whole. False if it is not the client's."""
    token = await store.find_token(work.db, hash_key(key))
    if token is None:
        return True
    grant = await store.find_grant(work.db, token.grant_uuid)
    if grant is None or grant.client_id != client.client_id:
        return False
    if token.kind == "refresh" or client.is_social:
        await end_grant(work, grant)
    else:
        await store.drop_token(work.db, token.key_hash)
        await revoked_tokens.remember(work, [token.key_hash], grant.user_id)
        work.announce(AccessEnded(key_hashes=(token.key_hash,), user_id=grant.user_id))
        await end_exchanged(work, grant)
    context = {"authorized_application": client.name, "client": client.client_id, "kind": token.kind}
    await audit.record(work, "revoke_token", "providers.oauth2", user_id=grant.user_id, context=context)
    return True


async def end_access(work: Work, grant: Grant) -> None:
    """Revoke the grant's access tokens; a refresh token can be used for new ones."""
    keys = await revoked_tokens.keys_of(work, grant.grant_uuid)
    for key_hash in keys:
        await store.drop_token(work.db, key_hash)
    if keys:
        await revoked_tokens.remember(work, keys, grant.user_id)
        work.announce(AccessEnded(key_hashes=tuple(keys), user_id=grant.user_id))
    await end_exchanged(work, grant)


async def end_grant(work: Work, grant: Grant) -> None:
    await _end(work, grant)
    await end_exchanged(work, grant)


async def end_exchanged(work: Work, grant: Grant) -> None:
    """End the grants that services were given for tokens of this one, and those given for tokens of these."""
    waiting = await store.grants_given_for(work.db, grant.grant_uuid)
    while waiting:
        one = waiting.pop()
        waiting += await store.grants_given_for(work.db, one.grant_uuid)
        await _end(work, one)


async def _end(work: Work, grant: Grant) -> None:
    keys = await revoked_tokens.keys_of(work, grant.grant_uuid)
    if await store.drop_grant(work.db, grant.grant_uuid):
        await revoked_tokens.remember(work, keys, grant.user_id)
        work.announce(AccessEnded(key_hashes=tuple(keys), user_id=grant.user_id))
