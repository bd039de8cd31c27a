"""The WebAuthn exchange with a browser.

Loaded with the first passkey, because its libraries take some megabytes and a tenth of a second.
"""

from __future__ import annotations

import binascii
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import webauthn
from webauthn.authentication.verify_authentication_response import VerifiedAuthentication
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url, options_to_json_dict
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorAttachment,
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    PublicKeyCredentialHint,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)
from webauthn.registration.verify_registration_response import VerifiedRegistration

from kith.identity.factors.attestations import check_data, without_statement
from kith.identity.factors.passkeys import RegistrationOptions
from kith.identity.users.tables import User


class Ceremony:
    """`challenge` and the ids of credentials are base64url text throughout."""

    # What the library raises for invalid input.
    BAD = (WebAuthnException, ValueError, TypeError, KeyError, AttributeError, binascii.Error)

    def __init__(self, title: str, base_url: str, origin: str) -> None:
        """`origin` is where the browser is. Passkeys are for the base URL's host, and for all names below it.

        At a name elsewhere they are for that name alone: browsers accept nothing else.
        """
        home, host = urlsplit(base_url).hostname or "", urlsplit(origin).hostname or ""
        self._title = title
        self._host = home if host.endswith(f".{home}") else host
        self._origin = origin

    def ask_to_register(
        self, user: User, stage: RegistrationOptions, challenge: str, known: Sequence[str]
    ) -> dict[str, Any]:
        attachment = stage.authenticator_attachment
        options = webauthn.generate_registration_options(
            rp_id=self._host,
            rp_name=self._title,
            user_name=user.username,
            user_id=user.uuid.encode(),
            user_display_name=user.name or user.username,
            challenge=base64url_to_bytes(challenge),
            authenticator_selection=AuthenticatorSelectionCriteria(
                authenticator_attachment=AuthenticatorAttachment(attachment) if attachment else None,
                resident_key=ResidentKeyRequirement(stage.resident_key_requirement),
                user_verification=UserVerificationRequirement(stage.user_verification),
            ),
            exclude_credentials=_described(known),
            hints=[PublicKeyCredentialHint(hint) for hint in stage.hints] or None,
        )
        return dict(options_to_json_dict(options))

    def registered(self, challenge: str, sent: dict[str, Any], *, verified: bool) -> VerifiedRegistration:
        """May raise any of `BAD`."""
        response = dict(sent["response"])
        plain = without_statement(base64url_to_bytes(response["attestationObject"]))
        response["attestationObject"] = bytes_to_base64url(plain)
        return webauthn.verify_registration_response(
            credential={**sent, "response": response},
            expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=self._host,
            expected_origin=self._origin,
            require_user_verification=verified,
        )

    def ask_to_sign(self, challenge: str, known: Sequence[str], verification: str) -> dict[str, Any]:
        options = webauthn.generate_authentication_options(
            rp_id=self._host,
            challenge=base64url_to_bytes(challenge),
            allow_credentials=_described(known) or None,
            user_verification=UserVerificationRequirement(verification),
        )
        return dict(options_to_json_dict(options))

    def signed(
        self, challenge: str, sent: dict[str, Any], *, public_key: bytes, count: int, verified: bool
    ) -> VerifiedAuthentication:
        """May raise any of `BAD`."""
        check_data(base64url_to_bytes(sent["response"]["authenticatorData"]))
        return webauthn.verify_authentication_response(
            credential=sent,
            expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=self._host,
            expected_origin=self._origin,
            credential_public_key=public_key,
            credential_current_sign_count=count,
            require_user_verification=verified,
        )


def _described(known: Sequence[str]) -> list[PublicKeyCredentialDescriptor]:
    return [PublicKeyCredentialDescriptor(id=base64url_to_bytes(one)) for one in known]
