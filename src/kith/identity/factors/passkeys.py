"""Passkeys and security keys: registering one, and verifying its signature."""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from kith.base.db import Taken
from kith.base.work import Work
from kith.identity.factors import service, store
from kith.identity.factors.tables import Factor, Passkey
from kith.identity.server_names import origin_of
from kith.identity.users import store as users
from kith.identity.users.tables import User

if TYPE_CHECKING:
    from kith.identity.factors.ceremonies import Ceremony

_TRANSPORTS = {"usb", "nfc", "ble", "internal", "hybrid", "smart-card", "cable"}


class RegistrationOptions(Protocol):
    """What a stage requires of a passkey that is registered."""

    @property
    def user_verification(self) -> str: ...
    @property
    def resident_key_requirement(self) -> str: ...
    @property
    def authenticator_attachment(self) -> str | None: ...
    @property
    def hints(self) -> list[str]: ...
    @property
    def device_type_restrictions(self) -> list[str]: ...


class PasskeyRejected(Exception):  # noqa: N818 - it is an answer
    """What the browser sent is not accepted; the reason is only for the log."""


def new_challenge() -> str:
    return secrets.token_urlsafe(64)


async def _ceremony(work: Work) -> Ceremony:
    return await asyncio.to_thread(_load, work)


def _load(work: Work) -> Ceremony:
    from kith.identity.factors.ceremonies import Ceremony  # noqa: PLC0415 - loaded when first used

    return Ceremony(work.settings.title, work.settings.base_url, origin_of(work))


async def registration(work: Work, user: User, stage: RegistrationOptions, challenge: str) -> dict[str, Any]:
    devices = await store.of_user(work.db, user.id)
    known = await store.passkeys_of(work.db, [one.device_uuid for one in devices if one.kind == "webauthn"])
    ceremony = await _ceremony(work)
    return ceremony.ask_to_register(user, stage, challenge, [one.credential_id for one in known])


async def register(
    work: Work, user: User, stage: RegistrationOptions, challenge: str, sent: dict[str, Any], name: str
) -> Factor:
    ceremony = await _ceremony(work)
    try:
        made = ceremony.registered(challenge, sent, verified=stage.user_verification == "required")
    except ceremony.BAD as error:
        raise PasskeyRejected(str(error)) from error
    allowed = stage.device_type_restrictions
    if allowed and made.aaguid not in allowed:
        raise PasskeyRejected(f"a device of the kind {made.aaguid} is not allowed")
    response = sent.get("response")
    told = response.get("transports") if isinstance(response, dict) else None
    transports = [one for one in told if isinstance(one, str) and one in _TRANSPORTS] if isinstance(told, list) else []
    credential = base64.urlsafe_b64encode(made.credential_id).rstrip(b"=").decode()
    if len(credential) > 1400 or await store.find_passkey(work.db, credential) is not None:
        raise PasskeyRejected("this device is known already")
    try:
        async with work.db.savepoint():
            factor = await service.add(work, user, "webauthn", name)
            await store.insert_passkey(
                work.db,
                Passkey(
                    device_uuid=factor.device_uuid,
                    credential_id=credential,
                    public_key=base64.b64encode(made.credential_public_key).decode(),
                    sign_count=made.sign_count,
                    transports=transports,
                    aaguid=made.aaguid,
                ),
            )
    except Taken as error:
        raise PasskeyRejected("this device is known already") from error
    return factor


async def request(
    work: Work, devices: Sequence[Factor], challenge: str, *, verification: str, hints: Sequence[str] = ()
) -> dict[str, Any]:
    """The options for asking for one of `devices`; without any, for whichever passkey the browser has."""
    known = await store.passkeys_of(work.db, [one.device_uuid for one in devices]) if devices else []
    ceremony = await _ceremony(work)
    options = ceremony.ask_to_sign(challenge, [one.credential_id for one in known], verification)
    return options | ({"hints": list(hints)} if hints else {})


async def verify(
    work: Work, challenge: str, sent: Any, *, verified: bool, among: Sequence[Factor] | None = None
) -> Factor:
    """The device that signed, if it is one of `among` (None: any). Its owner is authenticated by that."""
    credential = str(sent.get("id", "")) if isinstance(sent, dict) else ""
    passkey = await store.find_passkey(work.db, credential) if _is_sound(credential) else None
    if passkey is None or (among is not None and passkey.device_uuid not in {one.device_uuid for one in among}):
        raise PasskeyRejected("nobody has this device")
    factor = await store.find(work.db, passkey.device_uuid)
    if factor is None or not factor.confirmed:
        raise PasskeyRejected("nobody has this device")
    ceremony = await _ceremony(work)
    try:
        proof = ceremony.signed(
            challenge,
            sent,
            public_key=base64.b64decode(passkey.public_key),
            count=passkey.sign_count,
            verified=verified,
        )
    except ceremony.BAD as error:
        raise PasskeyRejected(str(error)) from error
    if not await store.use_passkey(work.db, passkey.device_uuid, proof.new_sign_count):
        raise PasskeyRejected("the device's count did not grow")
    await service.used(work, factor)
    return factor


async def owner_of(work: Work, sent: Any) -> User | None:
    """The owner of the device that the answer names. This proves nothing."""
    credential = str(sent.get("id", "")) if isinstance(sent, dict) else ""
    passkey = await store.find_passkey(work.db, credential) if _is_sound(credential) else None
    factor = await store.find(work.db, passkey.device_uuid) if passkey is not None else None
    return await users.find_by_id(work.db, factor.user_id) if factor is not None else None


def _is_sound(credential: str) -> bool:
    return 0 < len(credential) <= 1400 and credential.isascii() and credential.isprintable()
