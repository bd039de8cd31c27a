"""/flows/instances/ and /flows/bindings/: what a flow is for, and which stages it leads through in which order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

import msgspec
from sqlalchemy import Column, Float, Index, UniqueConstraint, bindparam, cast, or_, select, union_all
from sqlalchemy import Text as SQLText

from kith.base.db import UID, any_of, query
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.flows.stages import stages
from kith.identity.policies.bindings import bindings as policy_bindings
from kith.identity.policies.family import policies
from kith.identity.rest import ListFilter, RecordDraft, Resource, policy_targets, record_table
from kith.identity.rest.fields import (
    Boolean,
    Choice,
    Computed,
    Integer,
    InvalidValue,
    Reference,
    Slug,
    Text,
    read_uuid,
)
from kith.identity.rest.holders import SHOWN_BY
from kith.identity.rest.record import Record

DESIGNATIONS = (
    "authentication",
    "authorization",
    "invalidation",
    "enrollment",
    "unenrollment",
    "recovery",
    "stage_setup",
)
_IDS = {"type": "array", "items": {"type": "string", "format": "uuid"}, "uniqueItems": True}

FLOW_FIELDS = (
    Text(name="name", required=True),
    Slug("slug", required=True, unique=True),
    Text(name="title", default="", help="The page's heading; the name when left empty."),
    Choice(name="designation", required=True, choices=DESIGNATIONS, also={"stage_configuration": "stage_setup"}),
    Text(name="background", default="", most=500),
    Choice(
        name="authentication",
        default="none",
        choices=(
            "none",
            "require_authenticated",
            "require_unauthenticated",
            "require_superuser",
            "require_redirect",
            "require_token",
            "require_outpost",
        ),
    ),
    Choice(name="denied_action", default="message_continue", choices=("message_continue", "message", "continue")),
    Choice(name="policy_engine_mode", default="all", choices=("all", "any")),
    Boolean(name="compatibility_mode", default=False),
    Choice(
        name="layout",
        default="stacked",
        choices=(
            "stacked",
            "content_left",
            "content_right",
            "sidebar_left",
            "sidebar_right",
            "sidebar_left_frame_background",
            "sidebar_right_frame_background",
        ),
    ),
    Reference(name="pbm_uuid", to="identity_policy_targets.pbm_uuid", on_delete="CASCADE", unique=True, read_only=True),
    Computed(name="stages", form=_IDS),
    Computed(name="policies", form=_IDS),
)


class FlowRecord(Record, kw_only=True):
    pk: str
    flow_uuid: str
    name: str
    slug: str
    title: str
    designation: str
    background: str
    authentication: str
    denied_action: str
    policy_engine_mode: str
    compatibility_mode: bool
    layout: str
    pbm_uuid: str
    stages: list[str] = msgspec.field(default_factory=list)
    policies: list[str] = msgspec.field(default_factory=list)
    created: datetime
    last_updated: datetime


flows = record_table("identity_flows", Column("flow_uuid", UID, primary_key=True), fields=FLOW_FIELDS)

BINDING_FIELDS = (
    Reference(name="flow", required=True, to="identity_flows.flow_uuid", on_delete="CASCADE", alias="target"),
    Reference(name="stage", required=True, to="identity_stages.stage_uuid", on_delete="RESTRICT"),
    Boolean(name="re_evaluate_policies", default=False, help="Ask the policies again when the stage is reached."),
    Boolean(name="evaluate_on_plan", default=True, help="Ask the policies when the plan is made."),
    Integer(name="order", required=True),
    Choice(name="policy_engine_mode", default="all", choices=("all", "any")),
    Choice(name="invalid_response_action", default="retry", choices=("retry", "restart", "restart_with_context")),
    Reference(name="pbm_uuid", to="identity_policy_targets.pbm_uuid", on_delete="CASCADE", unique=True, read_only=True),
    Computed(
        name="target", form={"type": "string", "format": "uuid"}, help="The flow, which may be sent by this name too."
    ),
    Computed(name="policies", form=_IDS),
)


class FlowStageBindingRecord(Record, kw_only=True):
    pk: str
    fsb_uuid: str
    flow: str
    stage: str
    re_evaluate_policies: bool
    evaluate_on_plan: bool
    order: int
    policy_engine_mode: str
    invalid_response_action: str
    pbm_uuid: str
    target: str = ""
    policies: list[str] = msgspec.field(default_factory=list)
    created: datetime
    last_updated: datetime


bindings = record_table("identity_flow_bindings", Column("fsb_uuid", UID, primary_key=True), fields=BINDING_FIELDS)
bindings.append_constraint(UniqueConstraint("flow", "stage", "order"))
Index("ix_identity_flow_bindings_walk", bindings.c.flow, bindings.c.order)
bindings.info[SHOWN_BY] = "flow"

_policies_of = query(
    select(policy_bindings.c.target, policy_bindings.c.policy)
    .where(any_of(policy_bindings.c.target, "ids"), policy_bindings.c.policy.is_not(None))
    .order_by(policy_bindings.c.target, policy_bindings.c.order),
    tuple,
)
_stages_of = query(
    select(bindings.c.flow, bindings.c.stage)
    .where(any_of(bindings.c.flow, "ids"))
    .order_by(bindings.c.flow, bindings.c.order, bindings.c.fsb_uuid),
    tuple,
)
_targets_of_flow = query(select(bindings.c.pbm_uuid).where(bindings.c.flow == bindparam("flow", type_=UID())), str)


class PolicyTarget(Protocol):
    """A record that policies can be bound to."""

    pbm_uuid: str
    policies: list[str]


async def bound_policies(work: Work, records: Sequence[PolicyTarget]) -> None:
    """The ids of the policies bound to each record, for anything policies can be bound to."""
    found: dict[str, list[str]] = {}
    for target, policy in await work.db.all(_policies_of, ids=[record.pbm_uuid for record in records]):
        if policy not in found.setdefault(target, []):
            found[target].append(policy)
    for record in records:
        record.policies = found.get(record.pbm_uuid, [])


async def decorate_flows(work: Work, records: list[FlowRecord]) -> None:
    found: dict[str, list[str]] = {}
    for flow, stage in await work.db.all(_stages_of, ids=[record.pk for record in records]):
        if stage not in found.setdefault(flow, []):
            found[flow].append(stage)
    for record in records:
        record.stages = found.get(record.pk, [])
        record.title = record.title or record.name
    await bound_policies(work, records)


async def removing_flow(work: Work, record: FlowRecord, _caller: ApiCaller) -> None:
    """The flow's bindings are deleted with it, so their policy targets are removed too."""
    await policy_targets.remove(work.db, await work.db.all(_targets_of_flow, flow=record.pk))


FLOWS = Resource(
    path="/flows/instances/",
    name="Flow",
    record=FlowRecord,
    key="flow_uuid",
    table=flows,
    fields=FLOW_FIELDS,
    target=True,
    search=("name", "slug", "designation", "title"),
    order=("slug", "name"),
    exact=("name", "slug", "designation", "denied_action"),
    filters=(
        ListFilter(
            name="flow_uuid",
            clause=flows.c.flow_uuid == bindparam("flow_uuid", type_=UID()),
            read=read_uuid,
            bind="flow_uuid",
        ),
    ),
    removing=removing_flow,
    decorate=decorate_flows,
)


async def check_binding(draft: RecordDraft[FlowStageBindingRecord]) -> None:
    """Policies are evaluated at least once. A client that only knows `re_evaluate_policies` and turns it off means.

    When planning.
    """
    if draft.now.re_evaluate_policies or draft.now.evaluate_on_plan:
        return
    if "evaluate_on_plan" in draft.values:
        draft.complain("", "Either evaluate_on_plan or re_evaluate_policies must be true.")
    else:
        draft.now.evaluate_on_plan = True


async def decorate_bindings(work: Work, records: list[FlowStageBindingRecord]) -> None:
    for record in records:
        record.target = record.flow
    await bound_policies(work, records)


def _uuid(text: str) -> str:
    found = read_uuid(text)
    if found is None:
        raise InvalidValue("Enter a valid UUID.")
    return found


def _choice(text: str) -> str:
    found = read_uuid(text)
    if found is None:
        raise InvalidValue("Select a valid choice. That choice is not one of the available choices.", "invalid_choice")
    return found


def _flow(text: str) -> str:
    return read_uuid(text) or text


def _policy(text: str) -> str:
    found = read_uuid(text)
    if found is None:
        raise InvalidValue(f"“{text[:100]}” is not a valid UUID.")
    return found


def _number(text: str) -> float:
    if not re.fullmatch(r"\s*[+-]?[0-9]{1,15}(\.[0-9]{0,15})?\s*", text):
        raise InvalidValue("Enter a number.")
    return float(text)


def _word(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.lower())


_flow_text = cast(flows.c.flow_uuid, SQLText)
_flows_named = query(
    union_all(
        select(flows.c.slug).where(any_of(flows.c.slug, "ids")), select(_flow_text).where(any_of(_flow_text, "ids"))
    ),
    str,
)
_stages_named = query(select(stages.c.stage_uuid).where(any_of(stages.c.stage_uuid, "ids")), str)
_policies_named = query(select(policies.c.policy_uuid).where(any_of(policies.c.policy_uuid, "ids")), str)
_with_policies = bindings.c.pbm_uuid.in_(
    select(policy_bindings.c.target).where(any_of(policy_bindings.c.policy, "f_policies"))
)


_stage_name = select(stages.c.name).where(stages.c.stage_uuid == bindings.c.stage).scalar_subquery()


def _is(column: Any, bind: str) -> Any:
    return column == bindparam(bind, type_=column.type)


def _in_flow(bind: str) -> Any:
    """By the flow's id or by its slug."""
    given = bindparam(bind, type_=SQLText())
    return bindings.c.flow.in_(select(flows.c.flow_uuid).where(or_(flows.c.slug == given, _flow_text == given)))


BINDINGS = Resource(
    path="/flows/bindings/",
    name="FlowStageBinding",
    record=FlowStageBindingRecord,
    key="fsb_uuid",
    table=bindings,
    fields=BINDING_FIELDS,
    target=True,
    search=(_stage_name,),
    order=("order", "flow"),
    filters=(
        ListFilter(name="pbm_uuid", clause=_is(bindings.c.pbm_uuid, "f_pbm"), read=_uuid, bind="f_pbm"),
        ListFilter(name="fsb_uuid", clause=_is(bindings.c.fsb_uuid, "f_fsb"), read=_uuid, bind="f_fsb"),
        ListFilter(
            name="policies", clause=_with_policies, read=_policy, bind="f_policies", many=True, exists=_policies_named
        ),
        ListFilter(name="flow", clause=_in_flow("f_flow"), read=_flow, bind="f_flow", exists=_flows_named),
        ListFilter(name="target", clause=_in_flow("f_target"), read=_flow, bind="f_target", exists=_flows_named),
        ListFilter(
            name="stage", clause=_is(bindings.c.stage, "f_stage"), read=_choice, bind="f_stage", exists=_stages_named
        ),
        ListFilter(
            name="re_evaluate_policies",
            clause=_is(bindings.c.re_evaluate_policies, "f_again"),
            read=_word,
            bind="f_again",
        ),
        ListFilter(
            name="order",
            clause=cast(bindings.c.order, Float) == bindparam("f_order", type_=Float()),
            read=_number,
            bind="f_order",
        ),
    ),
    label="fsb_uuid",
    prepare=check_binding,
    decorate=decorate_bindings,
)
