"""Runs that were denied or failed: the person gets a message and a code, staff find the details by the code."""

from __future__ import annotations

import traceback
from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, select

from kith.base.counted_log import log_counted
from kith.base.db import UID, any_of, query
from kith.base.work import Origin, Work, Works
from kith.identity.audit import service as audit
from kith.identity.expressions import subjects
from kith.identity.flows.plan import Flow, FlowPlan, Step
from kith.identity.flows.plan_context import PlanContext
from kith.identity.flows.stages import stages
from kith.identity.policies.request import PolicyVerdict
from kith.identity.policies.verdict_report import explain
from kith.identity.refusals import service as refusals
from kith.identity.stages.prompts import prompts
from kith.identity.stages.turn import Denied
from kith.identity.users import store as users
from kith.identity.users.tables import User

APP = "flows.executor"
OUR_FAULT = "Something went wrong on our side. Please try again."
MOST_LINES = 60
_stage_name = query(select(stages.c.name).where(stages.c.stage_uuid == bindparam("stage", type_=UID())), str)
_secret_answers = query(
    select(prompts.c.field_key).where(and_(prompts.c.type == "password", any_of(prompts.c.field_key, "names"))), str
)


class FlowFailed(msgspec.Struct, frozen=True):
    """A stage raised an error; the plan is unchanged. `error` and `traceback` are detailed for superusers only."""

    error: str
    code: str
    traceback: str | None = None


class RunPlace(msgspec.Struct):
    """Where a run was when it was denied or failed, as far as it is known."""

    flow: Flow
    user_id: int | None
    plan: FlowPlan | None = None
    step: Step | None = None

    @property
    def whom(self) -> int | None:
        """The user being identified, else the user who is signed in."""
        pending = self.plan.context.user_id if self.plan is not None else None
        return pending if pending is not None else self.user_id


async def sanitised(work: Work, context: PlanContext) -> dict[str, Any]:
    """The plan's context as staff may see it: answers to password prompts and other secrets are masked."""
    answers = context.answers
    shown: dict[str, Any] = audit.masked(context.public())
    if answers:
        for name in await work.db.all(_secret_answers, names=[str(name) for name in answers]):
            shown["prompt_data"][name] = audit.MASK
    return shown


async def deny(work: Work, place: RunPlace, denied: Denied, verdict: PolicyVerdict | None = None) -> Denied:
    """Record the refusal in `work`, which is committed although the answer is a no."""
    user = await _user(work, place)
    reason = denied.reason or denied.message
    details = await _details(work, place)
    if verdict is not None:
        details["policies"] = await explain(work, verdict)
    code = await refusals.refuse(
        work,
        area=f"flow {place.flow.slug}",
        message=denied.message,
        reason=reason,
        details=details,
        target=place.step.pbm_uuid if place.step is not None else place.flow.pbm_uuid,
        user=user,
    )
    context = {"flow": place.flow.slug, "reason": reason, "refusal": code}
    await _record(work, "flow_denied", place, user, context)
    return msgspec.structs.replace(denied, code=code)


async def fail(works: Works, origin: Origin, place: RunPlace, error: Exception) -> FlowFailed:
    """Record the failure in a work of its own: the one in which it happened is rolled back."""
    log_counted("error", "flows.stage_failed", error=error, request=origin.request_id, flow=place.flow.slug)
    lines = traceback.format_exception(error)
    words = f"{type(error).__name__}: {error}"
    async with works.begin(origin) as work:
        user = await _user(work, place)
        details = await _details(work, place)
        details["traceback"] = "".join(lines).splitlines()[-MOST_LINES:]
        code = await refusals.refuse(
            work,
            area=f"flow {place.flow.slug}",
            message=OUR_FAULT,
            reason=words,
            details=details,
            target=place.flow.pbm_uuid,
            user=user,
        )
        stage = details.get("stage", {})
        context = {
            "flow": place.flow.slug,
            "stage": stage.get("name"),
            "message": str(error),
            "exception": type(error).__name__,
            "refusal": code,
        }
        await _record(work, "system_exception", place, user, context)
        seer = await subjects.find(work, place.user_id) if place.user_id is not None else None
    if seer is not None and seer.is_superuser:
        return FlowFailed(words, code, "".join(lines))
    return FlowFailed(OUR_FAULT, code)


async def _details(work: Work, place: RunPlace) -> dict[str, Any]:
    flow, step = place.flow, place.step
    details: dict[str, Any] = {"flow": {"slug": flow.slug, "name": flow.name, "pk": flow.flow_uuid}}
    if step is not None:
        name = await work.db.one(_stage_name, stage=step.stage_uuid)
        details["stage"] = {"name": name or "", "kind": step.kind, "pk": step.stage_uuid, "binding": step.fsb_uuid}
    if place.plan is not None:
        details["inputs"] = await sanitised(work, place.plan.context)
        details["passed"] = [past.kind for past in place.plan.past]
    return {name: value for name, value in details.items() if value}


async def _user(work: Work, place: RunPlace) -> User | None:
    return await users.find_by_id(work.db, place.whom) if place.whom is not None else None


async def _record(work: Work, action: str, place: RunPlace, user: User | None, context: dict[str, Any]) -> None:
    await audit.record(
        work,
        action,
        APP,
        user_id=user.id if user is not None else None,
        username=user.username if user is not None else "",
        context=context,
        of_stranger=place.user_id is None,
    )
