"""How long a proof of who somebody is counts in a run: until what guards their account is changed elsewhere.

A run may wait for long between two steps. Whoever has begun one with a password, a link or the word of a source cannot
end it once the person has changed their password, their address or their sign-in methods, or was disabled.
"""

from __future__ import annotations

from typing import Any

from kith.base.work import Work
from kith.identity.flows.plan_context import PlanContext
from kith.identity.security_stamp import stamp_of
from kith.identity.stages.turn import Turn

CHANGED = "Your account was changed meanwhile. Please start again."


async def still_count(work: Work, context: PlanContext) -> bool:
    """Whether what was proved in this run counts; where nothing was, what guards the account now is noted."""
    user_id = context.user_id
    if user_id is None:
        return True
    now = (user_id, await stamp_of(work, user_id))
    if context.security_stamp is not None and (context.auth_method is not None or context.is_restored):
        return context.security_stamp == now
    context.security_stamp = now
    return True


async def note(work: Work, context: PlanContext) -> None:
    """Note what guards the account of the person whom a run has just named."""
    user_id = context.user_id
    if user_id is not None and (context.security_stamp is None or context.security_stamp[0] != user_id):
        context.security_stamp = (user_id, await stamp_of(work, user_id))


async def renew(turn: Turn[Any]) -> None:
    """Let the proof count further after a stage that has itself changed what guards the account."""
    user_id = turn.context.user_id
    if user_id is not None:
        turn.context.security_stamp = (user_id, await stamp_of(turn.work, user_id))
