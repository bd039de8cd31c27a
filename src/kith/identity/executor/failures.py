"""Walks that ended badly, told: to the person in a few words and a code, to whoever runs the server in full."""

from __future__ import annotations

import traceback
from typing import Any

import msgspec
import structlog
from sqlalchemy import and_, bindparam, select

from kith.base.db import UID, any_of, query
from kith.base.work import Origin, Work, Works
from kith.identity.audit import service as audit
from kith.identity.expressions import people
from kith.identity.flows.plan import Flow, Plan, Step
from kith.identity.flows.plan_context import PlanContext
from kith.identity.flows.stages import stages
from kith.identity.policies.explaining import explain
from kith.identity.policies.request import Verdict
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
_log = structlog.get_logger()


class Failed(msgspec.Struct, frozen=True):
    """A stage broke; the walk stands where it stood. `error` and `traceback` say more to superusers."""

    error: str
    code: str
    traceback: str | None = None


class Scene(msgspec.Struct):
    """Where somebody was when a walk ended: as much as is known of it."""

    flow: Flow
    user_id: int | None
    plan: Plan | None = None
    step: Step | None = None

    @property
    def whom(self) -> int | None:
        """The one who is being identified, else the one who is signed in."""
        pending = self.plan.context.user_id if self.plan is not None else None
        return pending if pending is not None else self.user_id


async def sanitised(work: Work, context: PlanContext) -> dict[str, Any]:
    """What a walk knows, fit to be shown to staff: no secrets, whatever the question was called."""
    answers = context.answers
    shown: dict[str, Any] = audit.masked(context.public())
    if answers:
        for name in await work.db.all(_secret_answers, names=[str(name) for name in answers]):
            shown["prompt_data"][name] = audit.MASK
    return shown


async def deny(work: Work, scene: Scene, denied: Denied, verdict: Verdict | None = None) -> Denied:
    """Written down with `work`, which is kept although it ends in a no."""
    user = await _user(work, scene)
    reason = denied.reason or denied.message
    details = await _details(work, scene)
    if verdict is not None:
        details["policies"] = await explain(work, verdict)
    code = await refusals.refuse(
        work, area=f"flow {scene.flow.slug}", message=denied.message, reason=reason, details=details,
        target=scene.step.pbm_uuid if scene.step is not None else scene.flow.pbm_uuid, user=user,
    )  # fmt: skip
    if code or scene.plan is not None:
        context = {"flow": scene.flow.slug, "reason": reason, "refusal": code}
        await _record(work, "flow_denied", user, context)
    return msgspec.structs.replace(denied, code=code)


async def fail(works: Works, origin: Origin, scene: Scene, error: Exception) -> Failed:
    """Written down by itself: the work in which it happened is undone."""
    _log.error("flows.stage_failed", request=origin.request_id, flow=scene.flow.slug, exc_info=error)
    lines = traceback.format_exception(error)
    words = f"{type(error).__name__}: {error}"
    async with works.begin(origin) as work:
        user = await _user(work, scene)
        details = await _details(work, scene)
        details["traceback"] = "".join(lines).splitlines()[-MOST_LINES:]
        code = await refusals.refuse(
            work, area=f"flow {scene.flow.slug}", message=OUR_FAULT, reason=words, details=details,
            target=scene.flow.pbm_uuid, user=user,
        )  # fmt: skip
        stage = details.get("stage", {})
        context = {"flow": scene.flow.slug, "stage": stage.get("name"), "message": str(error),
                   "exception": type(error).__name__, "refusal": code}  # fmt: skip
        await _record(work, "system_exception", user, context)
        seer = await people.find(work, scene.user_id) if scene.user_id is not None else None
    if seer is not None and seer.facts["is_superuser"]:
        return Failed(words, code, "".join(lines))
    return Failed(OUR_FAULT, code)


async def _details(work: Work, scene: Scene) -> dict[str, Any]:
    flow, step = scene.flow, scene.step
    details: dict[str, Any] = {"flow": {"slug": flow.slug, "name": flow.name, "pk": flow.flow_uuid}}
    if step is not None:
        name = await work.db.one(_stage_name, stage=step.stage_uuid)
        details["stage"] = {"name": name or "", "kind": step.kind, "pk": step.stage_uuid, "binding": step.fsb_uuid}
    if scene.plan is not None:
        details["inputs"] = await sanitised(work, scene.plan.context)
        details["passed"] = [past.kind for past in scene.plan.past]
    return {name: value for name, value in details.items() if value}


async def _user(work: Work, scene: Scene) -> User | None:
    return await users.find_by_id(work.db, scene.whom) if scene.whom is not None else None


async def _record(work: Work, action: str, user: User | None, context: dict[str, Any]) -> None:
    await audit.record(
        work, action, APP, user_id=user.id if user is not None else None,
        username=user.username if user is not None else "", context=context,
    )  # fmt: skip
