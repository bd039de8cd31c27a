"""Ends the flow with a no, and says why."""

from __future__ import annotations

from typing import Any

from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Text
from kith.identity.stages.turn import Act, Denied, Outcome, Turn

FIELDS = (Text(name="deny_message", default="", most=2000),)

RESOURCE = Resource(
    path="/stages/deny/",
    record="DenyStage",
    key="stage_uuid",
    family=STAGES,
    kind="deny",
    table=kind_table("identity_stages_deny", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "deny_message"),
    removing=forget_stage,
)


async def show(turn: Turn) -> Outcome:
    words = turn.context.get("deny_message") or turn.stage.get("deny_message") or "You cannot continue."
    return Denied(str(words), f"stage {turn.stage['name']}")


async def take(turn: Turn, _answer: dict[str, Any]) -> Outcome:
    return await show(turn)


ACT = Act("deny", show, take)
