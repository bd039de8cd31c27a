"""Plans between two requests: stored beside the session, sealed because they may hold secrets."""

from __future__ import annotations

import msgspec

from kith.base.counted_log import log_counted
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.audit.service import MASK, masked
from kith.identity.flows.plan import FlowPlan, PassedStep, Step
from kith.identity.flows.plan_context import PlanContext
from kith.identity.sessions import store

PLACE = "identity_flow_runs.plan"
MOST_PAST = 20
MOST_PAST_BYTES = 4 << 10


async def load(work: Work, session_uuid: str, flow_uuid: str) -> FlowPlan | None:
    """None also for a plan that cannot be read, as an older release may have left it: a new one is made then."""
    sealed = await store.find_run(work.db, session_uuid, flow_uuid)
    if sealed is None:
        return None
    try:
        return msgspec.json.decode(work.find(Sealer).open(sealed, PLACE), type=FlowPlan)
    except (msgspec.DecodeError, ValueError):
        log_counted("warning", "flows.plan_unreadable", flow=flow_uuid)
        return None


async def save(work: Work, session_uuid: str, plan: FlowPlan) -> None:
    sealed = work.find(Sealer).seal(msgspec.json.encode(plan).decode(), PLACE)
    await store.save_run(work.db, plan.run_uuid, session_uuid, plan.flow_uuid, sealed, work.now)


async def close(work: Work, session_uuid: str, plan: FlowPlan, how: str) -> None:
    """Keep only how the run ended, for the inspector."""
    await save(
        work, session_uuid, msgspec.structs.replace(plan, steps=[], context=PlanContext(), query={}, given=[], over=how)
    )


def passed(plan: FlowPlan) -> None:
    """Move the first step to those that are passed."""
    step: Step = plan.steps.pop(0)
    knew = masked(plan.context.public())
    if isinstance(knew.get("prompt_data"), dict):
        knew["prompt_data"] = dict.fromkeys(knew["prompt_data"], MASK)
    if len(msgspec.json.encode(knew)) > MOST_PAST_BYTES:
        knew = {}
    plan.past = [*plan.past[1 - MOST_PAST :], PassedStep(step.fsb_uuid, step.stage_uuid, step.kind, knew)]
