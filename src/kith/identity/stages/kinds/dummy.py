"""Shows a page with a button: for trying out flows."""

from __future__ import annotations

from typing import Any

from kith.identity.flows.stages import STAGES, StageRecord
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Boolean
from kith.identity.stages.turn import PASSED, Challenge, Outcome, StageKind, Turn

FIELDS = (Boolean(name="throw_error", default=False, help="Fail instead."),)


class DummyStage(StageRecord, kw_only=True):
    throw_error: bool


RESOURCE = Resource(
    path="/stages/dummy/",
    name="DummyStage",
    record=DummyStage,
    key="stage_uuid",
    family=STAGES,
    kind="dummy",
    table=kind_table("identity_stages_dummy", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "throw_error"),
)


async def show(turn: Turn[DummyStage]) -> Outcome:
    return Challenge("dummy", {"name": turn.stage.name})


async def take(turn: Turn[DummyStage], _answer: dict[str, Any]) -> Outcome:
    if turn.stage.throw_error:
        raise RuntimeError("a dummy stage was told to fail")
    return PASSED


STAGE = StageKind(RESOURCE, show, take)
