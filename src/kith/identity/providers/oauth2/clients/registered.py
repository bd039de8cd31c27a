"""What a client that registered itself with a provider has said of itself, beyond what every client has."""

from __future__ import annotations

from typing import Any

import msgspec


class ClientMetadata(msgspec.Struct, kw_only=True, omit_defaults=True, frozen=True):
    """By the names of OpenID Connect Dynamic Client Registration; empty is what was not said. `sector` is derived."""

    response_types: list[str] = []
    application_type: str = ""
    contacts: list[str] = []
    logo_uri: str = ""
    policy_uri: str = ""
    tos_uri: str = ""
    initiate_login_uri: str = ""
    jwks_uri: str = ""
    token_endpoint_auth_signing_alg: str = ""
    id_token_signed_response_alg: str = ""
    userinfo_signed_response_alg: str = ""
    request_object_signing_alg: str = ""
    request_uris: list[str] = []
    subject_type: str = ""
    sector_identifier_uri: str = ""
    sector: str = ""
    default_max_age: int | None = None
    require_auth_time: bool = False
    post_logout_redirect_uris: list[str] = []
    backchannel_logout_uri: str = ""
    backchannel_logout_session_required: bool = False
    frontchannel_logout_uri: str = ""
    frontchannel_logout_session_required: bool = False


def read(stored: dict[str, Any]) -> ClientMetadata:
    return msgspec.convert(stored, ClientMetadata)


def stored(metadata: ClientMetadata) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(metadata)
    return found


def told(metadata: ClientMetadata) -> dict[str, Any]:
    """What the client is told of it."""
    return {name: value for name, value in stored(metadata).items() if name not in ("sector", "response_types")}
