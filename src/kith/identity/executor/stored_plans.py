"""Plans between two requests: stored beside the session, sealed because they may hold secrets."""

from __future__ import annotations

import msgspec

from kith.base.counted_log import log_counted
from kith.base.db import Taken
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.audit.service import MASK, masked
from kith.identity.flows.plan import FlowPlan, PassedStep, Step
from kith.identity.flows.plan_context import PlanContext
from kith.identity.sessions import store

PLACE = "identity_flow_runs.plan"
MOST_PAST = 20
MOST_PAST_BYTES = 4 << 10


class RunChanged(Exception):  # noqa: N818 - what happened, not a fault
    """The run is not as it was read: another request has answered meanwhile. Nothing of this step counts."""


class StoredPlan(msgspec.Struct, frozen=True):
    """`sealed` is the row's text, another with each time that it is saved."""

    plan: FlowPlan
    sealed: str


async def load(work: Work, session_uuid: str, flow_uuid: str) -> StoredPlan | None:
    """None also for a plan that cannot be read, as an older release may have left it: a new one is made then."""
    sealed = await store.find_run(work.db, session_uuid, flow_uuid)
    if sealed is None:
        return None
    try:
        return StoredPlan(msgspec.json.decode(work.find(Sealer).open(sealed, PLACE), type=FlowPlan), sealed)
    except (msgspec.DecodeError, ValueError):
        log_counted("warning", "flows.plan_unreadable", flow=flow_uuid)
        return None


async def save(work: Work, session_uuid: str, plan: FlowPlan, was: StoredPlan | None) -> None:
    """In place of `was`. Of two requests that answer one run at once one is heard: what both would do is done once."""
    await drop(work, session_uuid, plan.flow_uuid, was)
    sealed = work.find(Sealer).seal(msgspec.json.encode(plan).decode(), PLACE)
    try:
        await store.save_run(work.db, plan.run_uuid, session_uuid, plan.flow_uuid, sealed, work.now)
    except Taken as error:
        raise RunChanged from error


async def drop(work: Work, session_uuid: str, flow_uuid: str, was: StoredPlan | None) -> None:
    if was is None:
        await store.drop_run(work.db, session_uuid, flow_uuid)
    elif not await store.drop_run_as(work.db, session_uuid, flow_uuid, was.sealed):
        raise RunChanged


async def close(work: Work, session_uuid: str, plan: FlowPlan, was: StoredPlan | None, how: str) -> None:
    """Keep only how the run ended, for the inspector."""
    ended = msgspec.structs.replace(plan, steps=[], context=PlanContext(), query={}, given=[], over=how)
    await save(work, session_uuid, ended, was)


def passed(plan: FlowPlan) -> None:
    """Move the first step to those that are passed."""
    step: Step = plan.steps.pop(0)
    knew = masked(plan.context.public())
    if isinstance(knew.get("prompt_data"), dict):
        knew["prompt_data"] = dict.fromkeys(knew["prompt_data"], MASK)
    if len(msgspec.json.encode(knew)) > MOST_PAST_BYTES:
        knew = {}
    plan.past = [*plan.past[1 - MOST_PAST :], PassedStep(step.fsb_uuid, step.stage_uuid, step.kind, knew)]
