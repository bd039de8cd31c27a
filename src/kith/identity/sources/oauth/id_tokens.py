"""What an OpenID provider has signed for us: read only if the signature, and all that it says, is right."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any, TypeGuard

import msgspec

from kith.base.key_sizes import is_moderate_jwk

SLACK_SECONDS = 60
MOST_SECONDS = 1e11  # a few thousand years
MOST_CHARACTERS = 32_768
MOST_TRIED = 8  # keys, where the token does not name one
# With keys that anybody may know. A shared secret or no signature is never enough, whatever a token's header says.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
_TYPES = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
_DIGESTS = {"256": "sha256", "384": "sha384", "512": "sha512"}


class Untrusted(Exception):  # noqa: N818 - the token is
    """The token is not to be believed; the message says why, for staff."""


class UnknownKey(Untrusted):
    """It was signed with a key that we do not know, yet."""


def verified(token: str, jwks: Mapping[str, Any]) -> dict[str, Any]:
    """The claims of a token that was signed with one of these keys."""
    from joserfc import jwt  # noqa: PLC0415 - loaded when first used
    from joserfc.errors import JoseError  # noqa: PLC0415
    from joserfc.jwk import KeySet  # noqa: PLC0415

    header = _header(token)
    algorithm, kid = header.get("alg"), header.get("kid")
    if algorithm not in ALGORITHMS:
        raise Untrusted("the algorithm is not accepted")
    fit = [one for one in jwks.get("keys", []) if _is_fit(one, algorithm, kid)]
    if not fit:
        raise UnknownKey("no key is known by which it could be checked")
    for key in fit[:MOST_TRIED]:
        bare = {name: value for name, value in key.items() if name not in ("use", "key_ops", "alg", "x5c")}
        try:
            chosen = KeySet.import_key_set({"keys": [bare]}).keys[0]
            return dict(jwt.decode(token, chosen, algorithms=[algorithm]).claims)
        except (JoseError, ValueError, TypeError, KeyError, RecursionError):
            continue
    raise Untrusted("the signature is wrong")


def check_id_token(
    claims: Mapping[str, Any], *, issuer: str, client_id: str, nonce: str, access_token: str, alg: str, now: float
) -> None:
    """OpenID Connect Core 3.1.3.7; raises `Untrusted`."""
    check_common(claims, issuer=issuer, client_id=client_id, now=now)
    ends = claims.get("exp")
    if not is_number(ends) or now - SLACK_SECONDS >= ends:
        raise Untrusted("it has expired, or does not say when it will")
    if not isinstance(claims.get("sub"), str) or not claims["sub"]:
        raise Untrusted("it does not say whom it is about")
    told = claims.get("nonce")
    if not isinstance(told, str) or not hmac.compare_digest(told.encode("utf-8", "surrogatepass"), nonce.encode()):
        raise Untrusted("it was made for another sign-in")
    half = claims.get("at_hash")
    if half is not None and access_token and half != half_hash(alg, access_token):
        raise Untrusted("it belongs to another access token")


def check_common(claims: Mapping[str, Any], *, issuer: str, client_id: str, now: float) -> None:
    if not issuer or claims.get("iss") != issuer:
        raise Untrusted("another issuer made it")
    audience = claims.get("aud")
    named = audience if isinstance(audience, list) else [audience]
    if client_id not in named:
        raise Untrusted("it is for another client")
    if (len(named) > 1 or "azp" in claims) and claims.get("azp") != client_id:
        raise Untrusted("it was made for another client")
    made = claims.get("iat")
    if not is_number(made) or made > now + SLACK_SECONDS:
        raise Untrusted("it is from the future, or does not say when it was made")
    starts = claims.get("nbf")
    if starts is not None and (not is_number(starts) or starts > now + SLACK_SECONDS):
        raise Untrusted("it is not valid yet")


def half_hash(alg: str, text: str) -> str:
    digest = hashlib.new(_DIGESTS.get(alg[-3:], "sha512"), text.encode()).digest()
    return base64.urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=").decode()


def algorithm_of(token: str) -> str:
    return str(_header(token).get("alg", ""))


def _header(token: str) -> dict[str, Any]:
    parts = token.split(".")
    if len(parts) != 3 or len(token) > MOST_CHARACTERS or not token.isascii():
        raise Untrusted("not a signed token")
    try:
        header = msgspec.json.decode(base64.urlsafe_b64decode(parts[0] + "=" * (-len(parts[0]) % 4)))
    except (ValueError, msgspec.DecodeError, RecursionError) as error:
        raise Untrusted("not a signed token") from error
    if not isinstance(header, dict) or "crit" in header:
        raise Untrusted("not a signed token")
    return header


def _is_fit(key: Mapping[str, Any], algorithm: str, kid: object) -> bool:
    """A key is used for its own kind of algorithm only, and for its own one if it names it."""
    if key.get("kty") != _TYPES[algorithm[:2]] or key.get("use", "sig") != "sig":
        return False
    if key.get("alg") not in (None, algorithm) or not is_moderate_jwk(key):
        return False
    return kid is None or key.get("kid") in (None, kid)


def is_number(value: object) -> TypeGuard[float]:
    """A moment that a clock can show. JSON as Python reads it has infinities, and something that is less than nothing
    and not more either."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MOST_SECONDS
