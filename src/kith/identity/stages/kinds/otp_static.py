"""Sets up a list of recovery codes. They are stored once the person has accepted them."""

from __future__ import annotations

from typing import Any

from kith.identity.factors import service
from kith.identity.flows.stages import STAGES, StageRecord
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Integer
from kith.identity.stages import factor_setup, proofs
from kith.identity.stages.factor_setup import NOBODY, is_set_up, name_given
from kith.identity.stages.turn import PASSED, Challenge, Outcome, StageKind, Turn

FIELDS = (
    Integer(name="token_count", default=6, least=1, most=100),
    Integer(name="token_length", default=12, least=1, most=100),
    *factor_setup.FIELDS,
)


class OTPStaticStage(StageRecord, kw_only=True):
    token_count: int
    token_length: int
    configure_flow: str | None
    friendly_name: str


RESOURCE = Resource(
    path="/stages/otp_static/",
    name="OTPStaticStage",
    record=OTPStaticStage,
    key="stage_uuid",
    family=STAGES,
    kind="otpstatic",
    table=kind_table("identity_stages_otp_static", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "token_count", "token_length", "configure_flow", "friendly_name"),
)


async def show(turn: Turn[OTPStaticStage]) -> Outcome:
    user = await turn.pending_user()
    if user is None:
        return NOBODY
    if await is_set_up(turn, "static"):
        return PASSED
    if turn.context.new_codes is None:
        turn.context.new_codes = service.new_codes(turn.stage.token_count, turn.stage.token_length)
    return Challenge("otpstatic", {"pending_user": user.username, "codes": turn.context.new_codes})


async def take(turn: Turn[OTPStaticStage], answer: dict[str, Any]) -> Outcome:
    """Only codes that were shown before can be accepted."""
    user = await turn.pending_user()
    seen = turn.context.new_codes
    if user is None or not seen:
        return await show(turn)
    await service.add_codes(turn.work, user, seen, name_given(answer, "Recovery codes"))
    turn.context.new_codes = None
    await proofs.renew(turn)
    return PASSED


STAGE = StageKind(RESOURCE, show, take)
