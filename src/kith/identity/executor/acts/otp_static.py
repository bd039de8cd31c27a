"""Hands out a list of codes, each good for one sign-in. They count from the moment they were seen and accepted."""

from __future__ import annotations

from typing import Any

from kith.identity.factors import service
from kith.identity.stages.factor_setup import NOBODY, is_set_up, name_given
from kith.identity.stages.turn import PASSED, Act, Challenge, Outcome, Turn


async def show(turn: Turn) -> Outcome:
    user = await turn.pending_user()
    if user is None:
        return NOBODY
    if await is_set_up(turn, "static"):
        return PASSED
    if "_codes" not in turn.context:
        turn.context["_codes"] = service.new_codes(turn.stage["token_count"], turn.stage["token_length"])
    return Challenge("otpstatic", {"pending_user": user.username, "codes": turn.context["_codes"]})


async def take(turn: Turn, answer: dict[str, Any]) -> Outcome:
    """Only what was shown before can be accepted."""
    user = await turn.pending_user()
    seen = turn.context.get("_codes")
    if user is None or not seen:
        return await show(turn)
    await service.add_codes(turn.work, user, seen, name_given(answer, "Recovery codes"))
    turn.context.pop("_codes")
    return PASSED


ACT = Act("otpstatic", show, take)
