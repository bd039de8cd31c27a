"""Denies: the run ends with a message."""

from __future__ import annotations

from typing import Any

from kith.identity.flows.stages import STAGES, StageRecord
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Text
from kith.identity.stages.turn import Denied, Outcome, StageKind, Turn

FIELDS = (Text(name="deny_message", default="", most=2000),)


class DenyStage(StageRecord, kw_only=True):
    deny_message: str


RESOURCE = Resource(
    path="/stages/deny/",
    name="DenyStage",
    record=DenyStage,
    key="stage_uuid",
    family=STAGES,
    kind="deny",
    table=kind_table("identity_stages_deny", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "deny_message"),
)


async def show(turn: Turn[DenyStage]) -> Outcome:
    words = turn.context.deny_message or turn.stage.deny_message or "You cannot continue."
    return Denied(str(words), f"stage {turn.stage.name}")


async def take(turn: Turn[DenyStage], _answer: dict[str, Any]) -> Outcome:
    return await show(turn)


STAGE = StageKind(RESOURCE, show, take)
