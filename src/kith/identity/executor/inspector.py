"""/flows/inspector/{slug}/: the state of one's own run of a flow, and how a run would go for somebody.

Trying a flow out evaluates the same policies as a real run, and is always rolled back.
"""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy import select

from kith.base.db import any_of, query
from kith.base.errors import Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.executor import stored_plans
from kith.identity.executor.failures import sanitised
from kith.identity.executor.flow_access import FlowEntry, ask_flow, ask_step, level_missing, may_sign_up
from kith.identity.expressions.subjects import PolicySubject
from kith.identity.flows.plan import Flow, FlowPlan, PassedStep, Step, find_flow, steps_of
from kith.identity.flows.stages import stages
from kith.identity.policies.api import read_subject
from kith.identity.policies.request import PolicyRequest, PolicyVerdict
from kith.identity.policies.verdict_report import explain
from kith.identity.rest import Action
from kith.identity.rest.answers import show
from kith.identity.rest.body import read_object
from kith.identity.sessions import cookies
from kith.identity.stages.collections import KINDS

PERMISSION = "flows.inspect_flow"
_names = query(select(stages.c.stage_uuid, stages.c.name).where(any_of(stages.c.stage_uuid, "ids")), tuple)


# The caller's own run


async def inspect(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    flow = await _flow(exchange, caller, id)
    session = await cookies.find(exchange)
    work = exchange.work
    stored = await stored_plans.load(work, session.session_uuid, flow.flow_uuid) if session is not None else None
    if session is None or stored is None:
        raise Invalid("This flow is not running in your session.")
    return show(await _told_of(work, stored.plan, session.session_uuid))


async def _told_of(work: Work, plan: FlowPlan, session_uuid: str) -> dict[str, Any]:
    way: list[PassedStep | Step] = [*plan.past, *plan.steps]
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


# Trying a flow


async def try_out(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    flow = await _flow(exchange, caller, id)
    person, context = await read_subject(exchange, caller, await read_object(exchange))
    return show(await rehearse(exchange, flow, person, context))


async def rehearse(
    exchange: Exchange, flow: Flow, person: PolicySubject | None, context: dict[str, Any]
) -> dict[str, Any]:
    """How a run would go for a person (None: for anybody), with a context that is pretended."""
    work = exchange.server.works.open(exchange.origin)
    try:
        return await _rehearse(work, flow, person, context, exchange.address)
    finally:
        await work.rollback()


async def _rehearse(
    work: Work, flow: Flow, person: PolicySubject | None, context: dict[str, Any], address: str
) -> dict[str, Any]:
    """In a flow that identifies people the person is taken for not signed in, in any other for signed in."""
    signed_in = (
        person is not None and flow.designation != "authentication" and flow.authentication != "require_unauthenticated"
    )
    knows = {**({"pending_user": person.user.id} if person is not None else {}), **context}
    request = PolicyRequest(person=person, context=_public(knows), client_ip=address, is_test=True)
    missing = level_missing(flow, person, FlowEntry.read(knows), signed_in=signed_in)
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


def _public(context: dict[str, Any]) -> dict[str, Any]:
    """Names with an underscore are internal and cannot be pretended."""
    return {name: value for name, value in context.items() if not name.startswith("_")}


_SHOWN = ("slug", "name", "title", "designation", "authentication", "denied_action", "policy_engine_mode")


async def _rehearse_step(work: Work, step: Step, request: PolicyRequest, names: dict[str, str]) -> dict[str, Any]:
    verdict = await ask_step(work, step, request)
    at_plan = step.at_plan and not step.again
    return {
        **_stage(step, names),
        "has_act": step.kind in KINDS,
        "evaluate_on_plan": step.at_plan,
        "re_evaluate_policies": step.again,
        "invalid_response_action": step.invalid_response_action,
        "policy_engine_mode": step.policy_engine_mode,
        "planned": verdict.passing or not at_plan,
        "why": _why(step, verdict, at_plan=at_plan),
        "verdict": await _verdict(work, verdict),
    }


def _why(step: Step, verdict: PolicyVerdict, *, at_plan: bool) -> str:
    if step.kind not in KINDS:
        return "This server does not support this kind of stage. The flow would stop here."
    if verdict.is_unsure:
        if verdict.passing:
            return "Its policies cannot be asked, so it runs: leaving out a stage that guards would open the way."
        return "Its policies cannot be asked, so it is skipped: it gives something."
    if not verdict.trace:
        return "No policies are bound to this stage, so it always runs."
    if at_plan:
        return "Its policies pass." if verdict.passing else "Skipped, because its policies do not pass."
    if not step.again:
        return "Its policies are never evaluated."
    if verdict.passing:
        return "Its policies are evaluated when the stage is reached. As things stand now, it would run."
    return "Its policies are evaluated when the stage is reached. As things stand now, it would be skipped."


async def _verdict(work: Work, verdict: PolicyVerdict) -> dict[str, Any]:
    return {
        "passing": verdict.passing,
        "messages": verdict.messages,
        "log": verdict.log,
        "policies": await explain(work, verdict),
    }


async def _stage_names(work: Work, ids: list[str]) -> dict[str, str]:
    return dict(await work.db.all(_names, ids=ids)) if ids else {}


def _stage(step: PassedStep | Step, names: dict[str, str]) -> dict[str, Any]:
    return {
        "binding": step.fsb_uuid,
        "stage": step.stage_uuid,
        "kind": step.kind,
        "name": names.get(step.stage_uuid, ""),
    }


async def _flow(exchange: Exchange, caller: ApiCaller, slug: str) -> Flow:
    """The flow; not found for whoever lacks the permission to inspect flows."""
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
