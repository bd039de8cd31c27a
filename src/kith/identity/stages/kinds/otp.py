"""Sets up or asks for a one-time password, whichever is called for.

Who has an app or a list of codes is asked for a code; who has none sets up an app where the stage insists.
"""

from __future__ import annotations

from typing import Any

import msgspec

from kith.identity.factors import store
from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Boolean
from kith.identity.stages.factor_setup import NOBODY
from kith.identity.stages.kinds import otp_time, otp_validate
from kith.identity.stages.turn import PASSED, Act, Challenge, Outcome, Take, Turn

FIELDS = (Boolean(name="enforced", default=False, help="Who has no device must set one up."),)

RESOURCE = Resource(
    path="/stages/otp/",
    record="OTPStage",
    key="stage_uuid",
    family=STAGES,
    kind="otp",
    table=kind_table("identity_stages_otp", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "enforced"),
    removing=forget_stage,
)


_CODES = ("static", "totp")
_AS_SETUP = {"digits": 6}
_AS_QUESTION = {
    "device_classes": list(_CODES),
    "not_configured_action": "skip",
    "configuration_stages": [],
    "last_auth_threshold": "seconds=0",
    "totp_otp_throttling_factor": 1.0,
    "static_otp_throttling_factor": 1.0,
}


async def show(turn: Turn) -> Outcome:
    return await _led(turn, None)


async def take(turn: Turn, answer: dict[str, Any]) -> Outcome:
    return await _led(turn, answer)


async def _led(turn: Turn, answer: dict[str, Any] | None) -> Outcome:
    user = await turn.pending_user()
    if user is None:
        return NOBODY
    has_device = any(one.kind in _CODES for one in await store.of_user(turn.work.db, user.id))
    sets_up = turn.flow.designation == "stage_setup" or not has_device
    if not has_device and not turn.stage["enforced"] and turn.flow.designation != "stage_setup":
        return PASSED
    page, stage = (otp_time, _AS_SETUP) if sets_up else (otp_validate, _AS_QUESTION)
    own, turn.stage = turn.stage, {**stage, "pk": turn.stage["pk"], "name": turn.stage["name"]}
    try:
        take: Take = page.take
        outcome = await page.show(turn) if answer is None else await take(turn, answer)
    finally:
        turn.stage = own
    return msgspec.structs.replace(outcome, component=ACT.kind) if isinstance(outcome, Challenge) else outcome


ACT = Act("otp", show, take)
