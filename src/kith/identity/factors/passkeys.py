"""Passkeys and security keys: what a browser is asked to do, and whether it did."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import webauthn
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url, generate_challenge, options_to_json_dict
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorAttachment,
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    PublicKeyCredentialHint,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from kith.base.db import Taken
from kith.base.work import Work
from kith.identity.factors import service, store
from kith.identity.factors.tables import Factor, Passkey
from kith.identity.users.tables import User

_TRANSPORTS = {"usb", "nfc", "ble", "internal", "hybrid", "smart-card", "cable"}


class Refused(Exception):  # noqa: N818 - it is an answer
    """What the browser sent proves nothing; why is for the log alone."""


def new_challenge() -> str:
    return bytes_to_base64url(generate_challenge())


def _host(work: Work) -> str:
    return urlsplit(work.settings.base_url).hostname or ""


def _origin(work: Work) -> str:
    parts = urlsplit(work.settings.base_url)
    return f"{parts.scheme}://{parts.netloc}"


async def registration(work: Work, user: User, stage: dict[str, Any], challenge: str) -> dict[str, Any]:
    devices = await store.of_user(work.db, user.id)
    known = await store.passkeys_of(work.db, [one.device_uuid for one in devices if one.kind == "webauthn"])
    attachment = stage["authenticator_attachment"]
    options = webauthn.generate_registration_options(
        rp_id=_host(work),
        rp_name=work.settings.title,
        user_name=user.username,
        user_id=user.uuid.encode(),
        user_display_name=user.name or user.username,
        challenge=base64url_to_bytes(challenge),
        authenticator_selection=AuthenticatorSelectionCriteria(
            authenticator_attachment=AuthenticatorAttachment(attachment) if attachment else None,
            resident_key=ResidentKeyRequirement(stage["resident_key_requirement"]),
            user_verification=UserVerificationRequirement(stage["user_verification"]),
        ),
        exclude_credentials=_described(known),
        hints=[PublicKeyCredentialHint(hint) for hint in stage["hints"]] or None,
    )
    return dict(options_to_json_dict(options))


async def register(
    work: Work, user: User, stage: dict[str, Any], challenge: str, sent: dict[str, Any], name: str
) -> Factor:
    try:
        made = webauthn.verify_registration_response(
            credential=sent,
            expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=_host(work),
            expected_origin=_origin(work),
            require_user_verification=stage["user_verification"] == "required",
        )
    except (WebAuthnException, ValueError, TypeError, KeyError, AttributeError) as error:
        raise Refused(str(error)) from error
    allowed = stage["device_type_restrictions"]
    if allowed and made.aaguid not in allowed:
        raise Refused(f"a device of the kind {made.aaguid} is not allowed")
    response = sent.get("response")
    told = response.get("transports") if isinstance(response, dict) else None
    transports = [one for one in told if isinstance(one, str) and one in _TRANSPORTS] if isinstance(told, list) else []
    credential = bytes_to_base64url(made.credential_id)
    if len(credential) > 1400 or await store.find_passkey(work.db, credential) is not None:
        raise Refused("this device is known already")
    try:
        async with work.db.savepoint():
            factor = await service.add(work, user, "webauthn", name)
            await store.insert_passkey(
                work.db,
                Passkey(
                    device_uuid=factor.device_uuid, credential_id=credential,
                    public_key=base64.b64encode(made.credential_public_key).decode(), sign_count=made.sign_count,
                    transports=transports, aaguid=made.aaguid,
                ),
            )  # fmt: skip
    except Taken as error:
        raise Refused("this device is known already") from error
    return factor


async def request(work: Work, devices: Sequence[Factor], challenge: str, *, verification: str) -> dict[str, Any]:
    """Ask for one of `devices`; without any, for whichever passkey the browser has for this place."""
    known = await store.passkeys_of(work.db, [one.device_uuid for one in devices]) if devices else []
    options = webauthn.generate_authentication_options(
        rp_id=_host(work),
        challenge=base64url_to_bytes(challenge),
        allow_credentials=_described(known) or None,
        user_verification=UserVerificationRequirement(verification),
    )
    return dict(options_to_json_dict(options))


async def verify(
    work: Work, challenge: str, sent: Any, *, verified: bool, among: Sequence[Factor] | None = None
) -> Factor:
    """The device that signed; its owner is who is there. `among` names the only ones that may have."""
    credential = str(sent.get("id", "")) if isinstance(sent, dict) else ""
    passkey = await store.find_passkey(work.db, credential) if _is_sound(credential) else None
    if passkey is None or (among is not None and passkey.device_uuid not in {one.device_uuid for one in among}):
        raise Refused("nobody has this device")
    factor = await store.find(work.db, passkey.device_uuid)
    if factor is None or not factor.confirmed:
        raise Refused("nobody has this device")
    try:
        proof = webauthn.verify_authentication_response(
            credential=sent,
            expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=_host(work),
            expected_origin=_origin(work),
            credential_public_key=base64.b64decode(passkey.public_key),
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=verified,
        )
    except (WebAuthnException, ValueError, TypeError, KeyError, AttributeError, binascii.Error) as error:
        raise Refused(str(error)) from error
    if not await store.use_passkey(work.db, passkey.device_uuid, proof.new_sign_count):
        raise Refused("the device's count did not grow")
    await service.used(work, factor)
    return factor


def _is_sound(credential: str) -> bool:
    return 0 < len(credential) <= 1400 and credential.isascii() and credential.isprintable()


def _described(known: Sequence[Passkey]) -> list[PublicKeyCredentialDescriptor]:
    return [PublicKeyCredentialDescriptor(id=base64url_to_bytes(one.credential_id)) for one in known]
