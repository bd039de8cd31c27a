"""Sets up an authenticator app. Its secret stays in the plan until a code has proved that the app has it."""

from __future__ import annotations

from typing import Any

from kith.identity.factors import service
from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Choice
from kith.identity.stages import factor_setup
from kith.identity.stages.factor_setup import NOBODY, is_set_up, name_given
from kith.identity.stages.turn import PASSED, Act, Challenge, Outcome, Turn

FIELDS = (Choice(name="digits", required=True, choices=(6, 8)), *factor_setup.FIELDS)

RESOURCE = Resource(
    path="/stages/otp_time/",
    record="OTPTimeStage",
    key="stage_uuid",
    family=STAGES,
    kind="otptime",
    table=kind_table("identity_stages_otp_time", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "digits", "configure_flow", "friendly_name"),
    removing=forget_stage,
)


WRONG = "Code does not match"


async def show(turn: Turn) -> Outcome:
    user = await turn.pending_user()
    if user is None:
        return NOBODY
    if await is_set_up(turn, "totp"):
        return PASSED
    secret: str = turn.context.setdefault("_totp_secret", service.new_secret())
    url = service.config_url(turn.work, user, secret, int(turn.stage["digits"]))
    return Challenge(
        "otptime",
        {
            "pending_user": user.username,
            "config_url": url,
            "secret": secret,
            "qr_code": service.picture(url),
            "digits": int(turn.stage["digits"]),
        },
    )


async def take(turn: Turn, answer: dict[str, Any]) -> Outcome:
    challenge = await show(turn)
    user = await turn.pending_user()
    if not isinstance(challenge, Challenge) or user is None:
        return challenge
    given = answer.get("code")
    if not isinstance(given, (str, int)) or isinstance(given, bool) or not str(given).strip():
        return challenge.complain("code", "This field may not be blank.", "blank")
    secret, digits = turn.context["_totp_secret"], int(turn.stage["digits"])
    step = service.matching_step(secret, digits, "".join(str(given).split()), turn.work.now)
    if step is None:
        return challenge.complain("code", WRONG)
    await service.add_totp(turn.work, user, secret, digits, step, name_given(answer, "Authenticator app"))
    turn.context.pop("_totp_secret")
    return PASSED


ACT = Act("otptime", show, take)
