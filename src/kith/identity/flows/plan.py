"""The plan of a run: the steps that are left, those that are passed, and the context."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from kith.base.db import UID, query
from kith.base.work import Work
from kith.identity.flows.plan_context import PlanContext
from kith.identity.flows.resources import bindings, flows
from kith.identity.flows.stages import stages

_slug = query(select(flows.c.slug).where(flows.c.flow_uuid == bindparam("flow", type_=UID())), str)


class Step(msgspec.Struct):
    """A stage bound to a flow; `again` says that its policies are evaluated when the stage comes up."""

    fsb_uuid: str
    stage_uuid: str
    kind: str
    pbm_uuid: str
    policy_engine_mode: str
    again: bool
    at_plan: bool
    invalid_response_action: str


class PassedStep(msgspec.Struct):
    """A step that was passed, with the public context at that time; answers are masked."""

    fsb_uuid: str
    stage_uuid: str
    kind: str
    context: dict[str, Any]


class FlowPlan(msgspec.Struct):
    """`given` names what was known before the first stage; `over` says how the run ended, once it has."""

    run_uuid: str
    flow_uuid: str
    steps: list[Step]
    context: PlanContext
    query: dict[str, str]
    given: list[str] = []
    past: list[PassedStep] = []
    over: str = ""


class Flow(msgspec.Struct):
    """As much of a flow as running it needs."""

    flow_uuid: str
    slug: str
    name: str
    title: str
    designation: str
    authentication: str
    denied_action: str
    policy_engine_mode: str
    pbm_uuid: str


_columns = [flows.c[name] for name in Flow.__struct_fields__]
_by_slug = query(select(*_columns).where(flows.c.slug == bindparam("slug")), Flow)
_by_id = query(select(*_columns).where(flows.c.flow_uuid == bindparam("flow", type_=UID())), Flow)
_by_designation = query(
    select(*_columns).where(flows.c.designation == bindparam("designation")).order_by(flows.c.slug), Flow
)
_steps = query(
    select(
        bindings.c.fsb_uuid,
        bindings.c.stage,
        stages.c.kind,
        bindings.c.pbm_uuid,
        bindings.c.policy_engine_mode,
        bindings.c.re_evaluate_policies,
        bindings.c.evaluate_on_plan,
        bindings.c.invalid_response_action,
    )
    .join(stages, stages.c.stage_uuid == bindings.c.stage)
    .where(bindings.c.flow == bindparam("flow", type_=UID()))
    .order_by(bindings.c.order, bindings.c.fsb_uuid),
    tuple,
)


async def find_flow(work: Work, slug: str) -> Flow | None:
    return await work.db.one(_by_slug, slug=slug)


async def flow_by_id(work: Work, flow_uuid: str) -> Flow | None:
    return await work.db.one(_by_id, flow=flow_uuid)


async def flows_for(work: Work, designation: str) -> list[Flow]:
    return await work.db.all(_by_designation, designation=designation)


async def steps_of(work: Work, flow_uuid: str) -> list[Step]:
    return [Step(*row) for row in await work.db.all(_steps, flow=flow_uuid)]


async def slug_of(work: Work, flow_uuid: str | None) -> str | None:
    if flow_uuid is None:
        return None
    return await work.db.one(_slug, flow=flow_uuid)
