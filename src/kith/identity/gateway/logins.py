"""Who asks: by the gateway's cookie, or by an Authorization header that is for the gateway."""

from __future__ import annotations

import base64
import binascii
import hashlib

import msgspec
from sqlalchemy import bindparam, select

from kith.base.caches import ForAWhile
from kith.base.db import query
from kith.base.errors import Unauthenticated
from kith.base.exchange import Exchange
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.gateway import store
from kith.identity.gateway.gateways import Gateway
from kith.identity.gateway.states import is_key, key_hash
from kith.identity.providers.oauth2.authentication import bearers, resource_owners
from kith.identity.providers.oauth2.clients.client import GATEWAY_SCOPES
from kith.identity.providers.oauth2.clients.scopes import split
from kith.identity.providers.oauth2.errors import OAuthError
from kith.identity.tokens.service import hash_key, scopes_to_enter
from kith.identity.tokens.tables import tokens

__all__ = ["CHALLENGE", "PLACE", "GatewayLogin", "HeaderLogins", "carried_key", "find_login"]

PLACE = "identity_gateway_sessions.id_token"
TOKEN_USER = "kith/token"  # noqa: S105 - a user name that says: the password is an access token
MOST_HEADER = 4096
MOST_COOKIES = 16_384
CHALLENGE = {"WWW-Authenticate": 'Basic realm="Kith", charset="UTF-8"'}
WRONG = "The username or app password is wrong, or may not be used here."
NOT_TO_ENTER = "This app password is not for signing in: it has neither the `api` nor the `openid` scope."
_is_live = query(
    select(tokens.c.expires_at, tokens.c.scopes, tokens.c.intent).where(
        tokens.c.token_uuid == bindparam("token", type_=tokens.c.token_uuid.type)
    ),
    tuple,
)


class GatewayLogin(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who has proven who they are. `key_hash` names their session at the gateway, if it was a cookie;
    otherwise `token_hash` names the token or app password."""

    user_id: int
    scopes: tuple[str, ...]
    token: str = ""
    key_hash: str = ""
    token_hash: str = ""
    id_token: str = ""


class _AppPasswordUse(msgspec.Struct, frozen=True):
    user_id: int
    token_uuid: str


class HeaderLogins:
    """App passwords that were right, for a minute: trying one is limited and written down, using it is not."""

    def __init__(self) -> None:
        self.kept: ForAWhile[_AppPasswordUse] = ForAWhile("gateway_app_passwords", seconds=60.0, most=10_000)


async def find_login(exchange: Exchange, gateway: Gateway, *, by_header: bool = False) -> GatewayLogin | None:
    """The cookie counts first. A header that is for the gateway and proves nothing is an error."""
    key = carried_key(exchange, gateway)
    if key is not None:
        found = await _by_key(exchange.work, gateway, key)
        if found is not None:
            return found
    header = exchange.header(b"authorization")
    if not header or not by_header:
        return None
    return await _by_header(exchange, gateway, header)


def carried_key(exchange: Exchange, gateway: Gateway) -> str | None:
    """The browser's key for this gateway, whether it has signed in or not.

    Only the first Cookie header counts: what is decided is kept under that.
    """
    wanted, value = gateway.cookie.encode(), exchange.header(b"cookie")
    if len(value) <= MOST_COOKIES:
        for piece in value.split(b";"):
            found, _, held = piece.partition(b"=")
            key = held.strip().decode("latin-1")
            if found.strip() == wanted and is_key(key):
                return key
    return None


async def _by_key(work: Work, gateway: Gateway, key: str) -> GatewayLogin | None:
    row = await store.find_live(work.db, key_hash(key), work.now)
    if row is None or row.provider_id != gateway.id:
        return None
    token = work.find(Sealer).open(row.id_token, PLACE)
    return GatewayLogin(
        user_id=row.user_id, scopes=tuple(split(row.scopes)), token=token, key_hash=row.key_hash, id_token=token
    )


async def _by_header(exchange: Exchange, gateway: Gateway, header: bytes) -> GatewayLogin:
    scheme, _, rest = header.partition(b" ")
    if len(header) > MOST_HEADER:
        raise Unauthenticated(WRONG, headers=CHALLENGE)
    match scheme.lower():
        case b"bearer":
            return await _by_token(exchange.work, gateway, rest.strip().decode("latin-1"))
        case b"basic":
            name, password = _read_basic(rest)
            if name == TOKEN_USER:
                return await _by_token(exchange.work, gateway, password)
            return await _by_app_password(exchange, name, password)
    raise Unauthenticated(WRONG, headers=CHALLENGE)


async def _by_token(work: Work, gateway: Gateway, key: str) -> GatewayLogin:
    """An access token that was given out for this very gateway."""
    bearer = await bearers.find(work, key)
    if bearer is None or bearer.provider_id != gateway.id or bearer.user_id is None or bearer.app_id is not None:
        raise Unauthenticated("The access token is not valid here.", headers=CHALLENGE)
    if bearer.expires_at is not None and bearer.expires_at <= work.now:
        raise Unauthenticated("The access token has expired.", headers=CHALLENGE)
    return GatewayLogin(
        user_id=bearer.user_id, scopes=tuple(split(bearer.scopes)), token=key, token_hash=bearer.key_hash
    )


async def _by_app_password(exchange: Exchange, name: str, password: str) -> GatewayLogin:
    work, kept = exchange.work, exchange.find(HeaderLogins).kept
    key = hashlib.sha256(f"{name}\0{password}".encode("utf-8", "surrogatepass")).digest()
    used = kept.get(key)
    if used is None:
        try:
            owner = await resource_owners.by_app_password(exchange, {"username": name, "password": password})
        except OAuthError as error:
            raise Unauthenticated(WRONG, headers=CHALLENGE) from error
        assert owner.app_password is not None  # noqa: S101 - that is how they were found
        used = _AppPasswordUse(owner.user.id, owner.app_password.token_uuid)
        kept.put(key, used)
    live = await work.db.one(_is_live, token=used.token_uuid)
    if live is None or (live[0] is not None and live[0] <= work.now):
        raise Unauthenticated(WRONG, headers=CHALLENGE)
    scopes = scopes_to_enter(GATEWAY_SCOPES, live[1], live[2])
    if not scopes:
        raise Unauthenticated(NOT_TO_ENTER, headers=CHALLENGE)
    return GatewayLogin(user_id=used.user_id, scopes=tuple(scopes), token_hash=hash_key(password))


def _read_basic(encoded: bytes) -> tuple[str, str]:
    try:
        name, colon, password = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise Unauthenticated(WRONG, headers=CHALLENGE) from error
    if not colon:
        raise Unauthenticated(WRONG, headers=CHALLENGE)
    return name, password
