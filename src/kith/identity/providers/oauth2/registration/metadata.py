"""What a client may say of itself when it registers: read, checked, and made into its record (RFC 7591).

Metadata that is not understood is ignored and not told. What is wrong in itself is refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec
from sqlalchemy import select

from kith.base.db import query
from kith.base.exchange import Exchange
from kith.base.key_sizes import is_moderate_jwk, is_public_jwk
from kith.base.params import parse_json
from kith.base.unicode import normal_form
from kith.base.work import Work
from kith.identity import jose
from kith.identity.applications.tables import applications
from kith.identity.providers.oauth2.authorize.request_objects import UNSIGNED
from kith.identity.providers.oauth2.claims.scope_mappings import allowed_scopes
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.clients.fetching import NotFetched, fetch
from kith.identity.providers.oauth2.clients.registered import ClientMetadata
from kith.identity.providers.oauth2.clients.scopes import split
from kith.identity.providers.oauth2.errors import OAuthError
from kith.identity.providers.oauth2.forms import holds_nul
from kith.identity.providers.oauth2.keys import client_keys
from kith.identity.providers.oauth2.keys import signing as keys
from kith.identity.providers.redirect_uris import complain_redirect

MOST_BYTES = 16 * 1024
MOST_KEYS = 10
MOST_URIS, MOST_IN_URI, MOST_IN_NAME, MOST_CONTACTS, MOST_IN_CONTACT = 10, 2000, 100, 10, 320
METHODS = ("client_secret_basic", "client_secret_post", "private_key_jwt", "none")
_ADDRESSES = (
    "client_uri", "logo_uri", "policy_uri", "tos_uri", "initiate_login_uri", "jwks_uri", "sector_identifier_uri",
    "backchannel_logout_uri", "frontchannel_logout_uri",
)  # fmt: skip
_MOST_SECONDS = 1 << 31
_names = query(select(applications.c.name), str)


class Registration(ClientMetadata, kw_only=True, frozen=True):
    """Everything of a registration that is read."""

    redirect_uris: list[str]
    token_endpoint_auth_method: str = "client_secret_basic"  # noqa: S105 - the name of a way
    grant_types: tuple[str, ...] = ()
    client_name: str = ""
    client_uri: str = ""
    scope: str = ""
    jwks: dict[str, Any] = msgspec.field(default_factory=dict)
    client_id: str = ""
    client_secret: str = ""


class CheckedRegistration(msgspec.Struct, frozen=True):
    """A registration that this provider takes, with what it has chosen where nothing was said."""

    name: str
    website: str | None
    redirect_uris: list[str]
    scopes: list[str]
    grant_types: list[str]
    auth_method: str
    jwks: dict[str, Any]
    metadata: ClientMetadata


async def read_registration(exchange: Exchange, *, forbidden: Sequence[str] = ()) -> Registration:
    """Null counts as not sent, as RFC 7592 has it."""
    kind = exchange.header(b"content-type").partition(b";")[0].strip().lower()
    if kind != b"application/json":
        raise OAuthError("invalid_client_metadata", "The body must be a JSON object.", status=415)
    raw = {name: value for name, value in parse_json(await exchange.body(MOST_BYTES)).items() if value is not None}
    if holds_nul(raw):
        raise wrong_metadata("The character NUL cannot be registered.")
    raw.pop("sector", None)  # a name of our own
    for name in forbidden:
        if name in raw:
            raise OAuthError("invalid_request", f"{name} must not be sent.")
    if "redirect_uris" not in raw:
        raise wrong_uri("redirect_uris is required.")
    try:
        return msgspec.convert(raw, Registration)
    except msgspec.ValidationError as error:
        wrong = wrong_uri if "$.redirect_uris" in str(error) else wrong_metadata
        raise wrong(f"{error}.") from error


async def check_registration(work: Work, base: Client, sent: Registration) -> CheckedRegistration:
    """What the client asks for, as this provider grants it. Call it before the first write: documents are fetched."""
    _check_redirects(sent)
    for name in _ADDRESSES:
        _check_address(name, getattr(sent, name))
    _check_lists(sent)
    _check_keys(sent)
    _check_logout(sent)
    await _check_name(work, sent.client_name)
    allowed = await allowed_scopes(work, base)
    asked = split(sent.scope)
    if any(scope not in allowed for scope in asked):
        raise wrong_metadata("A scope is not known here.")
    types, grant_types = _types(base, sent)
    await _check_algs(work, base, sent)
    metadata = {name: getattr(sent, name) for name in ClientMetadata.__struct_fields__}
    return CheckedRegistration(
        name=sent.client_name or "Unnamed client",
        website=sent.client_uri or None,
        redirect_uris=sent.redirect_uris,
        scopes=asked or allowed,
        grant_types=grant_types,
        auth_method=sent.token_endpoint_auth_method,
        jwks=sent.jwks,
        metadata=ClientMetadata(**metadata | {"response_types": types, "sector": await _sector(work, sent)}),
    )


def _check_redirects(sent: Registration) -> None:
    if not 1 <= len(sent.redirect_uris) <= MOST_URIS:
        raise wrong_uri(f"Between 1 and {MOST_URIS} redirect URIs are needed.")
    for uri in sent.redirect_uris:
        words = complain_redirect(uri) if len(uri) <= MOST_IN_URI else "A redirect URI is too long."
        if words is not None:
            raise wrong_uri(words)


def _check_address(name: str, uri: str) -> None:
    """A page or a document on the web: https, or this computer itself."""
    if not uri:
        return
    if len(uri) > MOST_IN_URI or not uri.startswith(("https://", "http://")) or complain_redirect(uri) is not None:
        raise wrong_metadata(f"{name} must be an https address.")


def _check_lists(sent: Registration) -> None:
    if len(sent.contacts) > MOST_CONTACTS or any(not _is_plain(one, MOST_IN_CONTACT) for one in sent.contacts):
        raise wrong_metadata(f"contacts must hold at most {MOST_CONTACTS} addresses.")
    for name in ("request_uris", "post_logout_redirect_uris"):
        uris = getattr(sent, name)
        if len(uris) > MOST_URIS:
            raise wrong_metadata(f"{name} must hold at most {MOST_URIS} addresses.")
    for uri in sent.request_uris:
        place, _, fragment = uri.partition("#")
        _check_address("request_uris", place or "-")
        if len(fragment) > MOST_IN_NAME or not fragment.isascii() or not fragment.isprintable():
            raise wrong_metadata("The fragment of a request_uri must be a hash.")
    for uri in sent.post_logout_redirect_uris:
        if len(uri) > MOST_IN_URI or complain_redirect(uri) is not None:
            raise wrong_metadata("post_logout_redirect_uris must hold absolute URIs without fragments.")
    if sent.application_type not in ("", "web", "native"):
        raise wrong_metadata("application_type must be web or native.")
    if sent.default_max_age is not None and not 0 <= sent.default_max_age < _MOST_SECONDS:
        raise wrong_metadata("default_max_age must be a number of seconds.")


def _check_keys(sent: Registration) -> None:
    if sent.token_endpoint_auth_method not in METHODS:
        raise wrong_metadata("This token_endpoint_auth_method is not supported.")
    if sent.jwks and sent.jwks_uri:
        raise wrong_metadata("Keys are registered by jwks or by jwks_uri, not by both.")
    is_signing = sent.token_endpoint_auth_method == "private_key_jwt" or (  # noqa: S105 - the name of a way
        sent.request_object_signing_alg not in ("", UNSIGNED)
    )
    if sent.jwks or (is_signing and not sent.jwks_uri):
        _check_jwks(sent.jwks)


def _check_jwks(jwks: dict[str, Any]) -> None:
    sent = jwks.get("keys")
    if not isinstance(sent, list) or len(sent) > MOST_KEYS or not all(isinstance(one, dict) for one in sent):
        raise wrong_metadata(f"jwks must hold between 1 and {MOST_KEYS} keys.")
    if not all(is_public_jwk(one) for one in sent):
        raise wrong_metadata("jwks must hold public keys only.")
    if not all(is_moderate_jwk(one) for one in sent):
        raise wrong_metadata("jwks holds a key that is too large.")
    try:
        known = jose.KeySet.import_key_set(jwks).keys  # type: ignore[arg-type]
    except (jose.JoseError, ValueError, TypeError, KeyError) as error:
        raise wrong_metadata("jwks holds no usable key.") from error
    if not known or any(isinstance(one, jose.OctKey) or one.is_private for one in known):
        raise wrong_metadata("jwks must hold public keys only.")


def _check_logout(sent: Registration) -> None:
    """The address that is loaded in browsers must be on a site of the client's own."""
    if sent.frontchannel_logout_uri and origin(sent.frontchannel_logout_uri) not in map(origin, sent.redirect_uris):
        raise wrong_metadata("frontchannel_logout_uri must be on the site of a redirect URI.")


async def _check_name(work: Work, name: str) -> None:
    """The consent page shows the name, so it must not be empty or taken."""
    if not _is_plain(name, MOST_IN_NAME):
        raise wrong_metadata(f"client_name must have at most {MOST_IN_NAME} printable characters.")
    taken = {_plain(work.settings.title), *(_plain(one) for one in await work.db.all(_names))}
    if name and _plain(name) in taken:
        raise wrong_metadata("This client_name is the name of something else here.")


def _is_plain(text: str, most: int) -> bool:
    return len(text) <= most and not any(unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co") for letter in text)


def _plain(name: str) -> str:
    return re.sub(r"\W+", "", normal_form("NFKC", name).casefold())


def _types(base: Client, sent: Registration) -> tuple[list[str], list[str]]:
    """Response types and grant types, which must go together. Without grant types those that are needed count."""
    types = list(dict.fromkeys(" ".join(sorted(one.split())) for one in sent.response_types or ["code"]))
    if any(one not in base.response_types for one in types):
        raise wrong_metadata("A response type cannot be used here.")
    needed = ["authorization_code"] if any("code" in one.split() for one in types) else []
    needed += ["implicit"] if any(one != "code" for one in types) else []
    grant_types = [one for one in dict.fromkeys(sent.grant_types or needed) if one in base.grant_types]
    if not grant_types:
        raise wrong_metadata("None of these grant types can be used here.")
    if sent.response_types and any(one not in grant_types for one in needed):
        raise wrong_metadata(f"These response types need the grant types {', '.join(needed)}.")
    return types, grant_types


async def _check_algs(work: Work, base: Client, sent: Registration) -> None:
    """What is told is signed as the provider does, or with RS256. A secret signs nothing: we only have its hash."""
    own = await keys.alg_of(work, msgspec.structs.replace(base, secret=None))
    for name in ("id_token_signed_response_alg", "userinfo_signed_response_alg"):
        if getattr(sent, name) not in ("", own, "RS256"):
            raise wrong_metadata(f"{name} must be one of {', '.join(dict.fromkeys((own, 'RS256')))}.")
    if sent.token_endpoint_auth_signing_alg not in ("", *client_keys.ALGS):
        raise wrong_metadata("This token_endpoint_auth_signing_alg is not supported.")
    if sent.request_object_signing_alg not in ("", UNSIGNED, *client_keys.ALGS):
        raise wrong_metadata("This request_object_signing_alg is not supported.")


async def _sector(work: Work, sent: Registration) -> str:
    """The host that people have one subject for; empty for public subjects.

    A sector's document names all redirect URIs of its clients, so that nobody else can claim to belong to it.
    """
    if sent.subject_type not in ("", "public", "pairwise"):
        raise wrong_metadata("subject_type must be public or pairwise.")
    if sent.sector_identifier_uri:
        try:
            listed = msgspec.json.decode(await fetch(work, sent.sector_identifier_uri), type=list[str])
        except (NotFetched, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise wrong_metadata("sector_identifier_uri does not lead to a list of redirect URIs.") from error
        if any(uri not in listed for uri in sent.redirect_uris):
            raise wrong_metadata("A redirect URI is not in the list at sector_identifier_uri.")
    if sent.subject_type != "pairwise":
        return ""
    if sent.sector_identifier_uri:
        return (urlsplit(sent.sector_identifier_uri).hostname or "").lower()
    hosts = {(urlsplit(uri).hostname or "").lower() for uri in sent.redirect_uris}
    if len(hosts) > 1 or "" in hosts:
        raise wrong_metadata("Pairwise subjects need redirect URIs on one host, or a sector_identifier_uri.")
    return hosts.pop()


def origin(uri: str) -> str:
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc}".lower()


def wrong_metadata(words: str) -> OAuthError:
    return OAuthError("invalid_client_metadata", words[:300])


def wrong_uri(words: str) -> OAuthError:
    return OAuthError("invalid_redirect_uri", words[:300])
