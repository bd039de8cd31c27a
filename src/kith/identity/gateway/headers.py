"""Headers on their way through the gateway: what is taken out, what is put in, and what is told of a person."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from typing import Any

from kith import __version__
from kith.identity.gateway.gateways import Gateway
from kith.identity.users.identifying_attributes import HEADERS

__all__ = [
    "NOBODY",
    "OUTPOST_NAME",
    "Pairs",
    "additional",
    "basic_for",
    "for_upstream",
    "from_upstream",
    "identity_headers",
    "plain_name",
]

Pairs = tuple[tuple[bytes, bytes], ...]

OUTPOST_NAME = "Kith gateway"
MOST_VALUE = 4096
MOST_ADDITIONAL = 32
_HOP = frozenset(
    (
        b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te",
        b"trailer", b"transfer-encoding", b"upgrade", b"http2-settings",
    )
)  # fmt: skip
# Said by the gateway itself, or about a connection that ends here. `expect` was answered by our own server.
_OWN = _HOP | frozenset(
    (
        b"host", b"content-length", b"expect", b"forwarded", b"x-forwarded-for", b"x-forwarded-host",
        b"x-forwarded-proto", b"x-forwarded-port", b"x-forwarded-uri", b"x-forwarded-method", b"x-original-url",
        b"x-real-ip", b"x-rewrite-url", b"x-client-ip", b"x-cluster-client-ip", b"true-client-ip", b"cf-connecting-ip",
        b"fastly-client-ip", b"x-url-scheme", b"front-end-https",
    )
)  # fmt: skip
# Whatever else a proxy tells an application of the request or of who asks.
_OF_PROXIES = (b"x-forwarded-", b"x-original-")
_NEVER_ADDED = _OWN | {b"cookie", b"set-cookie"}
_COOKIES = re.compile(rb"(__Host-|__Secure-)?kith_")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^`|~-]{1,100}")
_SIGN = re.compile(rb"[^a-z0-9]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


def plain_name(name: bytes) -> bytes:
    """A name in lower case, as it is read: many servers take an underscore, and some any sign, for a hyphen."""
    return _SIGN.sub(b"-", name)


def is_spoofed(name: bytes) -> bool:
    """A header that only the gateway may send."""
    return plain_name(name).startswith(b"x-kith-")


def for_upstream(
    headers: Iterable[tuple[bytes, bytes]], *, without_login: bool, taken: frozenset[bytes] = frozenset()
) -> list[tuple[bytes, bytes]]:
    """What a browser sent, as the application may see it. Names are in lower case already.

    `without_login`: the Authorization header was for the gateway. `taken` are plain names that only the gateway sends.
    """
    headers = list(headers)
    named = {word.strip().lower() for name, value in headers if name == b"connection" for word in value.split(b",")}
    kept = []
    for name, value in headers:
        plain = plain_name(name)
        if name in _OWN or plain in _OWN or plain in taken or name in named:
            continue
        if is_spoofed(name) or plain.startswith(_OF_PROXIES):
            continue
        if name == b"authorization" and without_login:
            continue
        left = _other_cookies(value) if name == b"cookie" else value
        if left or name != b"cookie":
            kept.append((name, left))
    return kept


def _other_cookies(value: bytes) -> bytes:
    """Without our own: they would let the application act as the person elsewhere."""
    pieces = [piece.strip() for piece in value.split(b";")]
    return b"; ".join(one for one in pieces if one and not _COOKIES.match(one.partition(b"=")[0].strip()))


def from_upstream(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """What the application answered, without what concerns its connection with the gateway."""
    headers = list(headers)
    named = {word.strip().lower() for name, value in headers if name == b"connection" for word in value.split(b",")}
    return [one for one in headers if one[0] not in _HOP and one[0] not in named]


def identity_headers(gateway: Gateway, claims: Mapping[str, Any], token: str, base_url: str) -> Pairs:
    """What the application is told of a person. All of them are always there, so that none can be made up."""
    told = {
        b"x-kith-username": _text(claims.get("preferred_username")),
        b"x-kith-email": _text(claims.get("email")),
        b"x-kith-name": _text(claims.get("name")),
        b"x-kith-uid": _text(claims.get("sub")),
        b"x-kith-groups": _joined(claims.get("groups")),
        b"x-kith-entitlements": _joined(claims.get("entitlements")),
        b"x-kith-jwt": _text(token, most=16_384),
        b"x-kith-meta-app": _text(gateway.slug),
        b"x-kith-meta-provider": _text(gateway.name),
        b"x-kith-meta-outpost": OUTPOST_NAME.encode(),
        b"x-kith-meta-version": __version__.encode(),
        b"x-kith-meta-jwks": f"{base_url}/application/o/{gateway.slug}/jwks/".encode(),
    }
    return tuple(told.items())


NOBODY: Pairs = tuple(
    (f"x-kith-{name}".encode(), b"") for name in ("username", "email", "name", "uid", "groups", "entitlements", "jwt")
)


def additional(attributes: Mapping[str, Any]) -> Pairs:
    """`additionalHeaders` of a person or a group; none of them can take the place of one of ours."""
    wanted = attributes.get(HEADERS)
    if not isinstance(wanted, Mapping):
        return ()
    found = []
    for name, value in list(wanted.items())[:MOST_ADDITIONAL]:
        lowered = str(name).lower().encode("utf-8", "replace")
        plain = plain_name(lowered)
        if _TOKEN.fullmatch(str(name)) and plain not in _NEVER_ADDED and not is_spoofed(lowered):
            found.append((lowered, _text(value)))
    return tuple(found)


def basic_for(gateway: Gateway, attributes: Mapping[str, Any], email: str) -> Pairs:
    """The application's own Basic login, from attributes of the person; only when there is a password."""
    password = attributes.get(gateway.basic_password) if gateway.sends_basic else None
    if not isinstance(password, str) or not password:
        return ()
    user = attributes.get(gateway.basic_user)
    name = user if isinstance(user, str) and user else email
    return ((b"authorization", b"Basic " + base64.b64encode(f"{name}:{password}".encode())),)


def _text(value: Any, *, most: int = MOST_VALUE) -> bytes:
    """A header's value: one line, of bounded length."""
    text = "" if value is None else str(value)
    return _CONTROL.sub(" ", text[:most]).strip().encode("utf-8", "replace")


def _joined(values: Any) -> bytes:
    """Names joined with `|`; one within a name would be read as two names."""
    if not isinstance(values, (list, tuple)):
        return _text(values)
    return _text("|".join(str(one).replace("|", " ") for one in values), most=16_384)
