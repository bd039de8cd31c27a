"""Sets up a security key or a passkey."""

from __future__ import annotations

from typing import Any

from kith.base.counted_log import log_counted
from kith.identity.factors import passkeys
from kith.identity.flows.stages import STAGES, StageRecord
from kith.identity.rest import RecordDraft, Resource, kind_table
from kith.identity.rest.fields import Choice, Choices, Integer, read_uuid
from kith.identity.stages import factor_setup, proofs
from kith.identity.stages.factor_setup import NOBODY, is_set_up, name_given
from kith.identity.stages.turn import PASSED, Challenge, Denied, Outcome, StageKind, Turn

_HOW_MUCH = ("required", "preferred", "discouraged")

FIELDS = (
    *factor_setup.FIELDS,
    Choice(name="user_verification", default="preferred", choices=_HOW_MUCH),
    Choice(name="resident_key_requirement", default="preferred", choices=_HOW_MUCH),
    Choice(name="authenticator_attachment", null=True, choices=("platform", "cross-platform")),
    Choices(name="hints", choices=("security-key", "client-device", "hybrid")),
    Choices(name="device_type_restrictions", help="AAGUIDs; any device when there are none."),
    Integer(name="max_attempts", default=0, least=0, help="0: no limit."),
)


class WebAuthnStage(StageRecord, kw_only=True):
    configure_flow: str | None
    friendly_name: str
    user_verification: str
    resident_key_requirement: str
    authenticator_attachment: str | None
    hints: list[str]
    device_type_restrictions: list[str]
    max_attempts: int


async def check(draft: RecordDraft[WebAuthnStage]) -> None:
    if not draft.sets("device_type_restrictions"):
        return
    given = {text: read_uuid(text) for text in draft.now.device_type_restrictions}
    if None in given.values():
        draft.complain("device_type_restrictions", "Must be a valid UUID.")
    draft.now.device_type_restrictions = [aaguid for aaguid in dict.fromkeys(given.values()) if aaguid]


RESOURCE = Resource(
    path="/stages/webauthn/",
    name="WebAuthnStage",
    record=WebAuthnStage,
    key="stage_uuid",
    family=STAGES,
    kind="webauthn",
    table=kind_table("identity_stages_webauthn", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "configure_flow", "user_verification", "resident_key_requirement", "authenticator_attachment"),
    prepare=check,
)


FAILED = "Registration failed. Please try again."


async def show(turn: Turn[WebAuthnStage]) -> Outcome:
    user = await turn.pending_user()
    if user is None:
        return NOBODY
    if await is_set_up(turn, "webauthn"):
        return PASSED
    challenge = turn.context.registration_challenge = passkeys.new_challenge()
    options = await passkeys.registration(turn.work, user, turn.stage, challenge)
    return Challenge("webauthn", {"pending_user": user.username, "registration": options})


async def take(turn: Turn[WebAuthnStage], answer: dict[str, Any]) -> Outcome:
    user = await turn.pending_user()
    asked, turn.context.registration_challenge = turn.context.registration_challenge, None
    sent = answer.get("response")
    if user is None or asked is None:
        return await show(turn)
    try:
        if not isinstance(sent, dict):
            raise passkeys.PasskeyRejected("no answer of a device")
        await passkeys.register(turn.work, user, turn.stage, asked, sent, name_given(answer, "Passkey"))
    except passkeys.PasskeyRejected as refused:
        log_counted("info", "webauthn.refused", type(refused).__name__, reason=str(refused)[:300], user=user.id)
        return await _again(turn)
    await proofs.renew(turn)
    return PASSED


async def _again(turn: Turn[WebAuthnStage]) -> Outcome:
    turn.context.failed_registrations = (turn.context.failed_registrations or 0) + 1
    most = turn.stage.max_attempts
    if most and turn.context.failed_registrations >= most:
        return Denied(FAILED, "too many attempts to set up a device")
    challenge = await show(turn)
    return challenge.complain("response", FAILED) if isinstance(challenge, Challenge) else challenge


STAGE = StageKind(RESOURCE, show, take)
