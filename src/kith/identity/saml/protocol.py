"""Messages of the protocol as plain data. It loads no library."""

from __future__ import annotations

import msgspec

from kith.identity.saml.names import POST, SUCCESS


class AuthnRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a service asks for. Everything here was said by the service; nothing of it is checked yet."""

    id: str = ""
    issuer: str = ""
    destination: str = ""
    acs_url: str = ""
    binding: str = ""
    name_format: str = ""
    subject: str = ""
    is_passive: bool = False
    force_authn: bool = False
    contexts: list[str] = []
    comparison: str = "exact"
    relay_state: str = ""

    @property
    def wants_post(self) -> bool:
        return self.binding == POST


class LogoutRequest(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    issuer: str
    destination: str = ""
    name_id: str
    name_format: str = ""
    session_indexes: list[str] = []
    not_on_or_after: str = ""
    issued_at: str = ""


class LogoutResponse(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    issuer: str
    destination: str = ""
    in_response_to: str = ""
    status: str = SUCCESS
    second_status: str = ""


class TrustedAssertion(msgspec.Struct, frozen=True, kw_only=True):
    """What an identity provider has asserted. It is made only from an element whose signature was right."""

    id: str
    issuer: str
    in_response_to: str = ""
    name_id: str
    name_format: str = ""
    session_index: str = ""
    attributes: dict[str, list[str]] = {}
    valid_until: float
