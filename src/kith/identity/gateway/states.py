"""The state of a sign-in under way: a signed word that comes back with the answer, bound to one browser."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from datetime import datetime
from typing import Any

import msgspec

from kith.identity import jose
from kith.identity.gateway.gateways import Gateway

__all__ = [
    "BadState",
    "SignInState",
    "challenge_of",
    "is_key",
    "key_hash",
    "new_key",
    "read_state",
    "sign",
    "verifier_of",
]

LASTS_SECONDS = 3600
MOST_STATE = 12_000
_KEY = re.compile(r"[A-Za-z0-9_-]{43}")


class BadState(Exception):  # noqa: N818 - the state is
    """Not a state of this gateway, or one that is too old."""


class SignInState(msgspec.Struct, frozen=True, kw_only=True):
    """`sid` is the hash of the browser's key, `state` makes it one of a kind, `redirect` is where to go on."""

    iss: str
    sid: str
    state: str
    redirect: str
    iat: int
    tries: int = 0


def new_key() -> str:
    return secrets.token_urlsafe(32)


def is_key(text: str) -> bool:
    return _KEY.fullmatch(text) is not None


def key_hash(key: str) -> str:
    return hashlib.sha256(key.encode("latin-1", "replace")).hexdigest()


def sign(gateway: Gateway, key: str, redirect: str, now: datetime, *, tries: int = 0) -> tuple[str, SignInState]:
    state = SignInState(
        iss=gateway.client_id,
        sid=key_hash(key),
        state=secrets.token_urlsafe(32),
        redirect=redirect,
        iat=int(now.timestamp()),
        tries=tries,
    )
    return jose.jwt.encode({"alg": "HS256"}, msgspec.to_builtins(state), _secret(gateway), algorithms=["HS256"]), state


def read_state(gateway: Gateway, text: str, now: datetime) -> SignInState:
    """What we signed for this gateway. Whether it is this browser's is for the caller to compare."""
    if not text or len(text) > MOST_STATE or not text.isascii():
        raise BadState("no state")
    try:
        claims: dict[str, Any] = dict(jose.jwt.decode(text, _secret(gateway), algorithms=["HS256"]).claims)
        state = msgspec.convert(claims, SignInState)
    except (jose.JoseError, ValueError, TypeError) as error:
        raise BadState("not signed by us") from error
    if state.iss != gateway.client_id:
        raise BadState("of another gateway")
    if not 0 <= int(now.timestamp()) - state.iat + 60 <= LASTS_SECONDS + 60:
        raise BadState("too old")
    return state


def verifier_of(gateway: Gateway, state: SignInState) -> str:
    """PKCE: known to whoever has the gateway's secret, kept nowhere."""
    digest = hmac.new(gateway.cookie_secret.encode(), f"pkce:{state.state}".encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def challenge_of(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _secret(gateway: Gateway) -> jose.OctKey:
    return jose.OctKey.import_key(gateway.cookie_secret.encode())
