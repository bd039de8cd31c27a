"""Asks for a one-time code, or sets up an authenticator app for people who have no device, if it is enforced."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.identity.factors import store
from kith.identity.flows.stages import STAGES, StageRecord
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Boolean
from kith.identity.stages.factor_setup import NOBODY
from kith.identity.stages.kinds import otp_time, otp_validate
from kith.identity.stages.kinds.otp_time import OTPTimeStage
from kith.identity.stages.kinds.otp_validate import OTPValidateStage
from kith.identity.stages.turn import PASSED, Challenge, Outcome, StageKind, Turn

FIELDS = (Boolean(name="enforced", default=False, help="Who has no device must set one up."),)


class OTPStage(StageRecord, kw_only=True):
    enforced: bool


RESOURCE = Resource(
    path="/stages/otp/",
    name="OTPStage",
    record=OTPStage,
    key="stage_uuid",
    family=STAGES,
    kind="otp",
    table=kind_table("identity_stages_otp", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "enforced"),
)


_CODES = ("static", "totp")


def _setup(stage: OTPStage) -> OTPTimeStage:
    return OTPTimeStage(**_shared(stage), digits=6, configure_flow=None, friendly_name="")


def _question(stage: OTPStage) -> OTPValidateStage:
    return OTPValidateStage(
        **_shared(stage),
        not_configured_action="skip",
        device_classes=list(_CODES),
        last_auth_threshold="seconds=0",
        webauthn_user_verification="preferred",
        webauthn_hints=[],
        totp_otp_throttling_factor=1.0,
        static_otp_throttling_factor=1.0,
    )


def _shared(stage: OTPStage) -> dict[str, Any]:
    return {name: getattr(stage, name) for name in StageRecord.__struct_fields__}


async def show(turn: Turn[OTPStage]) -> Outcome:
    return await _led(turn, None)


async def take(turn: Turn[OTPStage], answer: dict[str, Any]) -> Outcome:
    return await _led(turn, answer)


async def _led(turn: Turn[OTPStage], answer: dict[str, Any] | None) -> Outcome:
    user = await turn.pending_user()
    if user is None:
        return NOBODY
    has_device = any(one.kind in _CODES for one in await store.of_user(turn.work.db, user.id))
    sets_up = turn.flow.designation == "stage_setup" or not has_device
    if not has_device and not turn.stage.enforced and turn.flow.designation != "stage_setup":
        return PASSED
    outcome: Outcome
    if sets_up:
        setup = turn.as_stage(_setup(turn.stage))
        outcome = await (otp_time.show(setup) if answer is None else otp_time.take(setup, answer))
    else:
        question = turn.as_stage(_question(turn.stage))
        outcome = await (otp_validate.show(question) if answer is None else otp_validate.take(question, answer))
    return msgspec.structs.replace(outcome, component=STAGE.kind) if isinstance(outcome, Challenge) else outcome


STAGE = StageKind(RESOURCE, show, take)
