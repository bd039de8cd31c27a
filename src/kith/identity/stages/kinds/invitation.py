"""Checks an invitation.

An invitation for one person is used when the account is made, in the same transaction. Opening the link does not use
it, because mail programs do so to show a preview.
"""

from __future__ import annotations

import uuid
from typing import Any

from kith.identity.flows.stages import STAGES, StageRecord
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Boolean
from kith.identity.stages.invitation_checks import find, use
from kith.identity.stages.turn import PASSED, Challenge, Denied, Outcome, StageKind, Turn

FIELDS = (Boolean(name="continue_flow_without_invitation", default=False),)


class InvitationStage(StageRecord, kw_only=True):
    continue_flow_without_invitation: bool


RESOURCE = Resource(
    path="/stages/invitation/",
    name="InvitationStage",
    record=InvitationStage,
    key="stage_uuid",
    family=STAGES,
    kind="invitation",
    table=kind_table("identity_stages_invitation", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "continue_flow_without_invitation"),
)


REFUSED = "Invalid invite/invite not found"


async def show(turn: Turn[InvitationStage]) -> Outcome:
    invitation = await find(turn.work, _given(turn), turn.flow.flow_uuid)
    if invitation is None:
        closed = turn.flow.designation == "enrollment" and turn.work.settings.registrations == "closed"
        if turn.stage.continue_flow_without_invitation and not closed:
            return PASSED
        return Denied(REFUSED, "no invitation, or it is over, or for another flow")
    is_used_here = not any(step.kind == "userwrite" for step in turn.plan.steps)
    if is_used_here and not turn.may_act:
        return Challenge("invitation", {})
    fixed = dict(invitation.fixed_data)
    turn.context.invitation_in_effect = True
    turn.context.invitation_uuid = invitation.invite_uuid
    turn.context.invited_by = invitation.created_by
    turn.context.invitation_data = fixed
    turn.context.prompt_data = {**turn.context.answers, **fixed}
    if is_used_here and not await use(turn):
        return Denied(REFUSED, "somebody else was faster")
    return PASSED


def _given(turn: Turn[InvitationStage]) -> str | None:
    data: dict[str, Any] = turn.context.answers
    given = turn.plan.query.get("itoken") or turn.plan.query.get("token") or data.get("token")
    try:
        return str(uuid.UUID(str(given))) if given else None
    except ValueError:
        return None


async def take(turn: Turn[InvitationStage], _answer: dict[str, Any]) -> Outcome:
    return await show(turn)


STAGE = StageKind(RESOURCE, show, take)
