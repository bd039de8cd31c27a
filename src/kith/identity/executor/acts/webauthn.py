"""Sets up a security key or a passkey."""

from __future__ import annotations

from typing import Any

import structlog

from kith.identity.factors import passkeys
from kith.identity.stages.factor_setup import NOBODY, is_set_up, name_given
from kith.identity.stages.turn import PASSED, Act, Challenge, Denied, Outcome, Turn

FAILED = "Registration failed. Please try again."
_log = structlog.get_logger()


async def show(turn: Turn) -> Outcome:
    user = await turn.pending_user()
    if user is None:
        return NOBODY
    if await is_set_up(turn, "webauthn"):
        return PASSED
    challenge = turn.context["_registering"] = passkeys.new_challenge()
    options = await passkeys.registration(turn.work, user, turn.stage, challenge)
    return Challenge("webauthn", {"pending_user": user.username, "registration": options})


async def take(turn: Turn, answer: dict[str, Any]) -> Outcome:
    user = await turn.pending_user()
    asked = turn.context.pop("_registering", None)
    sent = answer.get("response")
    if user is None or asked is None:
        return await show(turn)
    try:
        if not isinstance(sent, dict):
            raise passkeys.Refused("no answer of a device")
        await passkeys.register(turn.work, user, turn.stage, asked, sent, name_given(answer, "Passkey"))
    except passkeys.Refused as refused:
        _log.info("webauthn.refused", reason=str(refused), user=user.id)
        return await _again(turn)
    return PASSED


async def _again(turn: Turn) -> Outcome:
    turn.context["_registrations"] = turn.context.get("_registrations", 0) + 1
    most = turn.stage["max_attempts"]
    if most and turn.context["_registrations"] >= most:
        return Denied(FAILED, "too many attempts to set up a device")
    challenge = await show(turn)
    return challenge.complain("response", FAILED) if isinstance(challenge, Challenge) else challenge


ACT = Act("webauthn", show, take)
