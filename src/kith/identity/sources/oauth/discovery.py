"""What an OpenID provider says of itself: its discovery document and its keys, fetched when a source is saved."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import msgspec

from kith.base.http import Outgoing, OutgoingError
from kith.base.key_sizes import is_moderate_jwk

WELL_KNOWN = "/.well-known/openid-configuration"
MOST_BYTES = 256 * 1024
MOST_KEYS = 50
SECONDS = 10.0


class NotUsable(Exception):  # noqa: N818 - what was fetched is
    """The document cannot be used; the message is for whoever saves the source."""


class Discovered(msgspec.Struct, frozen=True):
    issuer: str
    authorization_url: str
    access_token_url: str
    profile_url: str
    jwks_url: str


async def fetch_document(outgoing: Outgoing, url: str) -> Discovered:
    """The addresses in a discovery document, which must be that of the issuer it names (OpenID Discovery 4.3)."""
    told = await _fetch(outgoing, url)
    issuer = told.get("issuer")
    if not isinstance(issuer, str) or f"{issuer.rstrip('/')}{WELL_KNOWN}" != url:
        raise NotUsable("This is not the discovery document of the issuer that it names.")
    found = Discovered(
        issuer,
        _address(told, "authorization_endpoint"),
        _address(told, "token_endpoint"),
        _address(told, "userinfo_endpoint", required=False),
        _address(told, "jwks_uri"),
    )
    if max(map(len, msgspec.structs.astuple(found))) > 255:
        raise NotUsable("An address in this document is longer than 255 characters.")
    return found


async def fetch_keys(outgoing: Outgoing, url: str) -> dict[str, Any]:
    """The public keys at this address. Secret ones are not kept."""
    told = await _fetch(outgoing, url)
    keys = told.get("keys")
    if not isinstance(keys, list):
        raise NotUsable("There are no keys at this address.")
    usable = [one for one in keys[:MOST_KEYS] if isinstance(one, dict) and one.get("kty") in ("RSA", "EC", "OKP")]
    usable = [one for one in usable if is_moderate_jwk(one)]
    public = [{name: value for name, value in one.items() if name not in _PRIVATE} for one in usable]
    return {"keys": public}


_PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})


async def _fetch(outgoing: Outgoing, url: str) -> dict[str, Any]:
    try:
        answer = await outgoing.request(
            "GET", url, headers={"Accept": "application/json"}, max_bytes=MOST_BYTES, timeout=SECONDS, max_redirects=0
        )
        told = answer.json()
    except OutgoingError as error:
        raise NotUsable(f"This address could not be read ({error.reason}).") from error
    except ValueError as error:
        raise NotUsable("There is no JSON at this address.") from error
    if answer.status != 200 or not isinstance(told, dict):
        raise NotUsable(f"There is no such document at this address (status {answer.status}).")
    return told


def _address(told: dict[str, Any], name: str, *, required: bool = True) -> str:
    found = told.get(name)
    if found is None and not required:
        return ""
    if not isinstance(found, str) or not is_web_address(found):
        raise NotUsable(f"The document has no usable {name}.")
    return found


def is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        parts.port  # noqa: B018 - reading it is the check
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not any(ord(c) < 33 for c in text)
