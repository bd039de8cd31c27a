"""/flows/inspector/{slug}/: how far one's own walk through a flow has come, and how anybody's would go.

The rehearsal asks the same questions as a real walk and does nothing else: it is undone in any case.
"""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy import select

from kith.base.db import any_of, query
from kith.base.errors import Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.work import Work
from kith.identity.caller import Caller
from kith.identity.executor import stored_plans
from kith.identity.executor.failures import sanitised
from kith.identity.executor.flow_access import ask_flow, ask_step, level_missing, may_sign_up
from kith.identity.expressions.people import Person
from kith.identity.flows.plan import Flow, Past, Plan, Step, find_flow, steps_of, told
from kith.identity.flows.stages import stages
from kith.identity.policies.api import read_subject
from kith.identity.policies.explaining import explain
from kith.identity.policies.request import PolicyRequest, Verdict
from kith.identity.rest import Action
from kith.identity.rest.answers import show
from kith.identity.rest.body import read_object
from kith.identity.sessions import cookies
from kith.identity.stages.collections import ACTS

PERMISSION = "flows.inspect_flow"
_names = query(select(stages.c.stage_uuid, stages.c.name).where(any_of(stages.c.stage_uuid, "ids")), tuple)


# One's own walk


async def inspect(exchange: Exchange, caller: Caller, id: str) -> Answer:
    flow = await _flow(exchange, caller, id)
    session = await cookies.find(exchange)
    work = exchange.work
    plan = await stored_plans.load(work, session.session_uuid, flow.flow_uuid) if session is not None else None
    if session is None or plan is None:
        raise Invalid("This flow is not running in your session.")
    return show(await _told_of(work, plan, session.session_uuid))


async def _told_of(work: Work, plan: Plan, session_uuid: str) -> dict[str, Any]:
    way: list[Past | Step] = [*plan.past, *plan.steps]
    names = await _stage_names(work, [step.stage_uuid for step in way])
    session_id = hashlib.sha256(session_uuid.encode()).hexdigest()

    def one(at: int, context: dict[str, Any]) -> dict[str, Any]:
        here, there = (_stage(way[n], names) if n < len(way) else None for n in (at, at + 1))
        return {"current_stage": here, "next_planned_stage": there, "plan_context": context, "session_id": session_id}

    plans = [one(at, past.context) for at, past in enumerate(plan.past)]
    current = one(len(plan.past), await sanitised(work, plan.context))
    return {
        "plans": plans,
        "current_plan": current if not plan.over else plans[-1] if plans else None,
        "is_completed": plan.over == "ended",
        "is_denied": plan.over == "denied",
    }


# Anybody's


async def try_out(exchange: Exchange, caller: Caller, id: str) -> Answer:
    flow = await _flow(exchange, caller, id)
    person, context = await read_subject(exchange, caller, await read_object(exchange))
    return show(await rehearse(exchange, flow, person, context))


async def rehearse(exchange: Exchange, flow: Flow, person: Person | None, context: dict[str, Any]) -> dict[str, Any]:
    """What a walk would be like for somebody (None: for anyone), with what it knows beforehand."""
    work = exchange.server.works.open(exchange.origin)
    try:
        return await _rehearse(work, flow, person, context, exchange.address)
    finally:
        await work.rollback()


async def _rehearse(
    work: Work, flow: Flow, person: Person | None, context: dict[str, Any], address: str
) -> dict[str, Any]:
    """Whoever comes to identify themselves is not signed in; in any other flow the person is."""
    signed_in = (
        person is not None and flow.designation != "authentication" and flow.authentication != "require_unauthenticated"
    )
    knows = {**({"pending_user": person.user.id} if person is not None else {}), **context}
    request = PolicyRequest(person=person, context=told(knows), client_ip=address, is_test=True)
    missing = level_missing(flow, person, knows, signed_in=signed_in)
    if missing is None and flow.designation == "enrollment" and not may_sign_up(work, {}):
        missing = "Sign-up is closed."
    verdict = await ask_flow(work, flow, request)
    steps = await steps_of(work, flow.flow_uuid)
    names = await _stage_names(work, [step.stage_uuid for step in steps])
    return {
        "flow": {name: getattr(flow, name) for name in _SHOWN},
        "user": person.user.username if person is not None else None,
        "signed_in": signed_in,
        "applicable": missing is None and verdict.passing,
        "level_missing": missing,
        "verdict": await _verdict(work, verdict),
        "stages": [await _rehearse_step(work, step, request, names) for step in steps],
    }


_SHOWN = ("slug", "name", "title", "designation", "authentication", "denied_action", "policy_engine_mode")


async def _rehearse_step(work: Work, step: Step, request: PolicyRequest, names: dict[str, str]) -> dict[str, Any]:
    verdict = await ask_step(work, step, request)
    at_plan = step.at_plan and not step.again
    return {
        **_stage(step, names),
        "has_act": step.kind in ACTS,
        "evaluate_on_plan": step.at_plan,
        "re_evaluate_policies": step.again,
        "invalid_response_action": step.invalid_response_action,
        "policy_engine_mode": step.policy_engine_mode,
        "planned": verdict.passing or not at_plan,
        "why": _why(step, verdict, at_plan=at_plan),
        "verdict": await _verdict(work, verdict),
    }


def _why(step: Step, verdict: Verdict, *, at_plan: bool) -> str:
    if step.kind not in ACTS:
        return "This server does not support this kind of stage. The flow would stop here."
    if not verdict.trace:
        return "No policies are bound to this stage, so it always runs."
    if at_plan:
        return "Its policies pass." if verdict.passing else "Skipped, because its policies do not pass."
    if not step.again:
        return "Its policies are never evaluated."
    if verdict.passing:
        return "Its policies are evaluated when the stage is reached. As things stand now, it would run."
    return "Its policies are evaluated when the stage is reached. As things stand now, it would be skipped."


async def _verdict(work: Work, verdict: Verdict) -> dict[str, Any]:
    return {
        "passing": verdict.passing,
        "messages": verdict.messages,
        "log": verdict.log,
        "policies": await explain(work, verdict),
    }


async def _stage_names(work: Work, ids: list[str]) -> dict[str, str]:
    return dict(await work.db.all(_names, ids=ids)) if ids else {}


def _stage(step: Past | Step, names: dict[str, str]) -> dict[str, Any]:
    return {"binding": step.fsb_uuid, "stage": step.stage_uuid, "kind": step.kind,
            "name": names.get(step.stage_uuid, "")}  # fmt: skip


async def _flow(exchange: Exchange, caller: Caller, slug: str) -> Flow:
    """Whoever may not look inside does not learn that there is anything."""
    flow = await find_flow(exchange.work, slug) if caller.may(PERMISSION) else None
    if flow is None:
        raise NotFound
    return flow


ACTIONS: tuple[Action, ...] = (
    Action(
        method="GET",
        path="/flows/inspector/{id}/",
        name="flows_inspector_get",
        handler=inspect,
        permission=None,
        answer="FlowInspection",
        summary="How far one's own walk through a flow has come. Who may not inspect flows finds none.",
    ),
    Action(
        method="POST",
        path="/flows/inspector/{id}/",
        name="flows_inspector_try",
        handler=try_out,
        permission=None,
        body="FlowRehearsalRequest",
        answer="FlowRehearsal",
        summary="How a flow would go for a person, with nothing coming of it.",
    ),
)
