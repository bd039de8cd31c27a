"""Discovery documents."""

from __future__ import annotations

from typing import Any

from kith.base.languages import LANGUAGES
from kith.base.work import Work
from kith.identity.providers.oauth2.authentication.clients import ASSERTION_ALGS
from kith.identity.providers.oauth2.authorize.request_objects import ALGS
from kith.identity.providers.oauth2.claims import claims
from kith.identity.providers.oauth2.claims.scope_mappings import allowed_scopes
from kith.identity.providers.oauth2.clients.client import DEVICE_CODE, TOKEN_EXCHANGE, Client
from kith.identity.providers.oauth2.clients.scopes import OPENID_DEFAULTS, SOCIAL
from kith.identity.providers.oauth2.keys import signing as keys
from kith.identity.providers.oauth2.keys.server_keys import OWN

DOCUMENTATION = "https://docs.joinmastodon.org/"
_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"]
_RESPONSE_TYPES = ["code", "id_token", "id_token token", "code token", "code id_token", "code id_token token"]
_GRANTS = [
    "authorization_code",
    "refresh_token",
    "implicit",
    "client_credentials",
    "password",
    DEVICE_CODE,
    TOKEN_EXCHANGE,
]


async def describe(work: Work, client: Client | None) -> dict[str, Any]:
    """OpenID Connect Discovery, for one application or for the whole server."""
    base = work.settings.base_url
    door = f"{base}/application/o"
    slug = client.application.slug if client is not None and client.application is not None else None
    own = f"{door}/{slug}" if slug else door
    told: dict[str, Any] = {
        "issuer": client.issuer(base) if client is not None else f"{base}/",
        "authorization_endpoint": f"{door}/authorize/",
        "token_endpoint": f"{door}/token/",
        "userinfo_endpoint": f"{door}/userinfo/",
        "end_session_endpoint": f"{own}/end-session/",
        "introspection_endpoint": f"{door}/introspect/",
        "revocation_endpoint": f"{door}/revoke/",
        "device_authorization_endpoint": f"{door}/device/",
        "pushed_authorization_request_endpoint": f"{door}/par/",
        "require_pushed_authorization_requests": False,
        "jwks_uri": f"{own}/jwks/",
        "response_types_supported": _response_types(client),
        "response_modes_supported": ["query", "fragment", "form_post"],
        "grant_types_supported": [one for one in _GRANTS if client is None or one in client.grant_types],
        "id_token_signing_alg_values_supported": await _algs(work, client),
        "subject_types_supported": ["public", "pairwise"],
        "userinfo_signing_alg_values_supported": await _algs_of_keys(work, client),
        "request_object_signing_alg_values_supported": ALGS,
        "token_endpoint_auth_methods_supported": _AUTH_METHODS,
        "token_endpoint_auth_signing_alg_values_supported": ASSERTION_ALGS,
        "introspection_endpoint_auth_methods_supported": _AUTH_METHODS[:3],
        "revocation_endpoint_auth_methods_supported": _AUTH_METHODS,
        "acr_values_supported": [claims.ACR, claims.ACR_MULTI],
        "scopes_supported": list(OPENID_DEFAULTS) if client is None else await allowed_scopes(work, client),
        "claims_supported": [*claims.TOLD, *claims.BUILT_IN],
        "claim_types_supported": ["normal"],
        "prompt_values_supported": ["none", "login", "consent"],
        "ui_locales_supported": list(LANGUAGES),
        "claims_parameter_supported": True,
        "request_parameter_supported": True,
        "request_uri_parameter_supported": True,
        "require_request_uri_registration": True,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "backchannel_logout_supported": True,
        "backchannel_logout_session_supported": True,
        "frontchannel_logout_supported": True,
        "frontchannel_logout_session_supported": True,
    }
    if client is not None and DEVICE_CODE not in client.grant_types:
        del told["device_authorization_endpoint"]
    if slug:
        told["registration_endpoint"] = f"{own}/register/"
    return told


def _response_types(client: Client | None) -> list[str]:
    return _RESPONSE_TYPES if client is None else sorted(client.response_types)


async def _algs(work: Work, client: Client | None) -> list[str]:
    """The signing algorithms, the client's own first. OpenID Connect Discovery requires RS256 in the list."""
    if client is None:
        return [*OWN, "HS256"]
    return list(dict.fromkeys((await keys.alg_of(work, client), "RS256")))


async def _algs_of_keys(work: Work, client: Client | None) -> list[str]:
    """Those of keys alone: what a client registers to be signed is never signed with its secret."""
    return [one for one in await _algs(work, client) if one != "HS256"]


def describe_social(work: Work) -> dict[str, Any]:
    """RFC 8414 for the whole server, for Mastodon's apps."""
    base = work.settings.base_url
    passwords = ["password"] if work.settings.password_grant else []
    return {
        "issuer": f"{base}/",
        "service_documentation": DOCUMENTATION,
        "authorization_endpoint": f"{base}/oauth/authorize",
        "token_endpoint": f"{base}/oauth/token",
        "userinfo_endpoint": f"{base}/oauth/userinfo",
        "revocation_endpoint": f"{base}/oauth/revoke",
        "app_registration_endpoint": f"{base}/api/v1/apps",
        "jwks_uri": f"{base}/application/o/jwks/",
        "scopes_supported": list(SOCIAL),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query", "fragment", "form_post"],
        "grant_types_supported": ["authorization_code", "client_credentials", *passwords],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
    }
