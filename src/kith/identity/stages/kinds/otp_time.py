"""Sets up an authenticator app. Its secret is kept in the plan until a code confirms it."""

from __future__ import annotations

from typing import Any

from kith.identity.factors import service
from kith.identity.flows.stages import STAGES, StageRecord
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Choice
from kith.identity.stages import factor_setup, proofs
from kith.identity.stages.factor_setup import NOBODY, is_set_up, name_given
from kith.identity.stages.turn import PASSED, Challenge, Outcome, StageKind, Turn

FIELDS = (Choice(name="digits", required=True, choices=(6, 8)), *factor_setup.FIELDS)


class OTPTimeStage(StageRecord, kw_only=True):
    digits: int
    configure_flow: str | None
    friendly_name: str


RESOURCE = Resource(
    path="/stages/otp_time/",
    name="OTPTimeStage",
    record=OTPTimeStage,
    key="stage_uuid",
    family=STAGES,
    kind="otptime",
    table=kind_table("identity_stages_otp_time", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "digits", "configure_flow", "friendly_name"),
)


WRONG = "Code does not match"


async def show(turn: Turn[OTPTimeStage]) -> Outcome:
    user = await turn.pending_user()
    if user is None:
        return NOBODY
    if await is_set_up(turn, "totp"):
        return PASSED
    secret = turn.context.new_totp_secret or service.new_secret()
    turn.context.new_totp_secret = secret
    url = service.config_url(turn.work, user, secret, turn.stage.digits)
    return Challenge(
        "otptime",
        {
            "pending_user": user.username,
            "config_url": url,
            "secret": secret,
            "qr_code": service.picture(url),
            "digits": turn.stage.digits,
        },
    )


async def take(turn: Turn[OTPTimeStage], answer: dict[str, Any]) -> Outcome:
    challenge = await show(turn)
    user = await turn.pending_user()
    secret, digits = turn.context.new_totp_secret, turn.stage.digits
    if not isinstance(challenge, Challenge) or user is None or secret is None:
        return challenge
    given = answer.get("code")
    if not isinstance(given, (str, int)) or isinstance(given, bool) or not str(given).strip():
        return challenge.complain("code", "This field may not be blank.", "blank")
    step = service.matching_step(secret, digits, "".join(str(given).split()), turn.work.now)
    if step is None:
        return challenge.complain("code", WRONG)
    await service.add_totp(turn.work, user, secret, digits, step, name_given(answer, "Authenticator app"))
    turn.context.new_totp_secret = None
    await proofs.renew(turn)
    return PASSED


STAGE = StageKind(RESOURCE, show, take)
