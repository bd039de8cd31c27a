"""Keeps where somebody came from, at the end of a flow that a source has begun. No record of it exists."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from kith.base.work import Work
from kith.identity.flows.plan import Step
from kith.identity.flows.stages import STAGES, StageRecord
from kith.identity.messages import service as messages
from kith.identity.rest import Resource
from kith.identity.stages.sign_in_sources import SignInSources
from kith.identity.stages.turn import PASSED, Challenge, Denied, Outcome, StageKind, Turn

KIND = "sourceconnection"
GONE = "You cannot sign in this way any more."
_ID = "00000000-0000-0000-0000-000000000000"
_LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
_ONLY = StageRecord(pk=_ID, stage_uuid=_ID, name="source-connection", created=_LONG_AGO, last_updated=_LONG_AGO)
STEP = Step("", _ID, KIND, "", "all", again=False, at_plan=False, invalid_response_action="retry")


async def show(turn: Turn[StageRecord]) -> Outcome:
    coming, user = turn.context.connection, await turn.pending_user()
    if coming is None or user is None:
        return Denied("Sign-in failed.", "no source or no person at the end of a flow")
    if turn.held.session.user_id != user.id:
        return Denied("Sign-in failed.", "the flow of the source has no stage that signs in")
    if not turn.may_act:
        return Challenge(KIND, {"pending_user": turn.context.pending_user_identifier or ""})
    sources = turn.work.find(SignInSources)  # type: ignore[type-abstract]
    name = await sources.arrived(turn.work, user, coming, turn.held.session.session_uuid)
    if not name:
        return Denied(GONE, "the source or the connection has gone meanwhile")
    await messages.leave(turn.work, user.id, f"Successfully authenticated with {name}!", "success")
    turn.context.connection = None
    return PASSED


async def take(turn: Turn[StageRecord], _answer: dict[str, Any]) -> Outcome:
    return await show(turn)


class BuiltInStage(StageKind[StageRecord]):
    async def find(self, work: Work, stage_uuid: str) -> StageRecord | None:  # noqa: ARG002 - there is only one
        return _ONLY


STAGE = BuiltInStage(
    Resource(
        path="/stages/sourceconnection/",
        name="SourceConnectionStage",
        record=StageRecord,
        key="stage_uuid",
        table=STAGES.table,
        fields=STAGES.fields,
        kind=KIND,
    ),
    show,
    take,
)
