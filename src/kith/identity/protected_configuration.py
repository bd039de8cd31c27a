"""The flows and sources by which people sign in, sign up, recover their account or change what protects it.

Whoever changes one of them, or a stage, prompt or policy in it, can make it let them in as anybody. So only
superusers may change these, whatever roles grant; all other configuration is subject to permissions only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import select

from kith.base.db import METADATA, Query, query
from kith.base.errors import Forbidden
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.expressions.drafts import LOOKS_UP, LOOKS_UP_REFUSED
from kith.identity.flows.resources import bindings, flows
from kith.identity.flows.stages import stages
from kith.identity.policies.bindings import bindings as policy_bindings
from kith.identity.rest import RecordDraft, Resource
from kith.identity.rest.record import R, as_dict
from kith.identity.sources.kinds.ldap import ldap_mappings
from kith.identity.sources.property_mappings import group_mappings, user_mappings
from kith.identity.stages.tables import prompt_fields, prompt_stages, validation_policies

# Stages that let in, write into a record, or set up a factor (one that asks for a factor may offer to).
POWERFUL = frozenset({"userlogin", "userwrite", "otp", "otptime", "otpstatic", "otpvalidate", "webauthn"})
DESIGNATIONS = frozenset({"authentication", "recovery", "enrollment", "stage_setup"})
_REFUSED = "Only a superuser may change how people sign in, or what guards their accounts."
_HARMLESS = frozenset({"name", "icon", "promoted", "enabled"})  # of a source
_AREAS = ("flows", "stages", "policies", "propertymappings", "sources")

_flows = query(select(flows.c.flow_uuid, flows.c.pbm_uuid, flows.c.designation), tuple)
_bindings = query(select(bindings.c.pbm_uuid, bindings.c.flow, bindings.c.stage), tuple)
_kinds = query(select(stages.c.stage_uuid, stages.c.kind), tuple)
_forms = query(select(prompt_stages.c.stage_uuid, prompt_stages.c.pbm_uuid), tuple)
_prompts = query(select(prompt_fields.c.owner, prompt_fields.c.other), tuple)
_checks = query(select(validation_policies.c.owner, validation_policies.c.other), tuple)
_bound = query(select(policy_bindings.c.target, policy_bindings.c.policy), tuple)
_of_sources = tuple(query(select(link.c.other), str) for link in (ldap_mappings, user_mappings, group_mappings))


class ProtectedConfiguration(msgspec.Struct):
    """The identifiers of everything that is protected; `kinds` has the kind of every stage."""

    flows: set[str]
    stages: set[str]
    targets: set[str]
    prompts: set[str]
    policies: set[str]
    mappings: set[str]
    kinds: dict[str, str]


@lru_cache(1)
def _references() -> tuple[Query[Any], ...]:
    """Statements for stages that refer to other stages, as an identification stage does to a password stage."""
    found = []
    for table in METADATA.tables.values():
        for key in table.foreign_keys:
            owner = table.c.owner if "owner" in table.c else table.primary_key.columns[0]
            if key.column is stages.c.stage_uuid and key.parent is not owner and table is not bindings:
                found.append(query(select(owner, key.parent).where(key.parent.is_not(None)), tuple))
    return tuple(found)


async def find(work: Work) -> ProtectedConfiguration:
    db = work.db
    kinds: dict[str, str] = dict(await db.all(_kinds))
    all_flows, places = await db.all(_flows), await db.all(_bindings)
    ways = {flow for flow, _, designation in all_flows if designation in DESIGNATIONS}
    ways |= {flow for _, flow, stage in places if kinds.get(stage) in POWERFUL}
    on_them = {stage for _, flow, stage in places if flow in ways}
    inner = [pair for statement in _references() for pair in await db.all(statement)]
    while more := {other for owner, other in inner if owner in on_them} - on_them:
        on_them |= more
    forms = {pbm for stage, pbm in await db.all(_forms) if stage in on_them}
    targets = {pbm for flow, pbm, _ in all_flows if flow in ways} | {pbm for pbm, flow, _ in places if flow in ways}
    targets |= forms
    policies = {policy for target, policy in await db.all(_bound) if policy is not None and target in targets}
    policies |= {policy for form, policy in await db.all(_checks) if form in forms}
    prompts = {prompt for form, prompt in await db.all(_prompts) if form in forms}
    mappings = {mapping for statement in _of_sources for mapping in await db.all(statement)}
    return ProtectedConfiguration(ways, on_them, targets, prompts, policies, mappings, kinds)


def guarded(resource: Resource[R]) -> Resource[R]:
    """The same collection, but only superusers can change protected records."""
    if resource.area not in _AREAS:
        return resource

    async def prepare(draft: RecordDraft[R]) -> None:
        if draft.caller.permissions is not None:
            _check_lookups(draft)
            if resource.family is not None and resource.family.table.name == "identity_sources":
                _refuse_source(draft)
            before, after = draft.stored, {**draft.stored, **draft.values}
            await _refuse(draft.work, resource, (before, after), is_new=draft.is_new)
        if resource.prepare is not None:
            await resource.prepare(draft)

    async def removing(work: Work, record: R, caller: ApiCaller) -> None:
        if caller.permissions is not None:
            await _refuse(work, resource, (as_dict(record),), is_new=False)
        if resource.removing is not None:
            await resource.removing(work, record, caller)

    return msgspec.structs.replace(resource, prepare=prepare, removing=removing)


def _check_lookups(draft: RecordDraft[Any]) -> None:
    """An expression can look up any person, so its author needs the right to see people."""
    if draft.caller.may("core.view_user"):
        return
    for name, value in draft.values.items():
        if isinstance(value, str) and draft.sets(name) and any(word in value for word in LOOKS_UP):
            draft.complain(name, LOOKS_UP_REFUSED)
    draft.raise_complaints()


def _refuse_source(draft: RecordDraft[Any]) -> None:
    """Who decides where a source is, or whom it takes people for, can come in as those who are linked to it."""
    links = draft.sets("user_matching_mode") and str(draft.value("user_matching_mode")).endswith("_link")
    if links or (not draft.is_new and any(draft.sets(name) for name in draft.values if name not in _HARMLESS)):
        raise Forbidden(_REFUSED, extra={"code": "permission_denied"})


async def _refuse(work: Work, resource: Resource[Any], records: Iterable[Mapping[str, Any]], *, is_new: bool) -> None:
    is_on_one = _JUDGES.get(resource.name) or _FAMILIES.get(resource.family.table.name if resource.family else "")
    if is_on_one is None or (is_new and is_on_one in (_is_stage, _is_policy, _is_mapping)):
        return
    ways = await find(work)
    for record in records:
        if record and is_on_one(ways, record):
            raise Forbidden(_REFUSED, extra={"code": "permission_denied"})


def _is_flow(ways: ProtectedConfiguration, record: Mapping[str, Any]) -> bool:
    return record.get("designation") in DESIGNATIONS or record.get("flow_uuid") in ways.flows


def _is_place(ways: ProtectedConfiguration, record: Mapping[str, Any]) -> bool:
    return record.get("flow") in ways.flows or ways.kinds.get(str(record.get("stage"))) in POWERFUL


def _is_stage(ways: ProtectedConfiguration, record: Mapping[str, Any]) -> bool:
    return record.get("stage_uuid") in ways.stages


def _is_prompt(ways: ProtectedConfiguration, record: Mapping[str, Any]) -> bool:
    return record.get("prompt_uuid") in ways.prompts


def _is_policy(ways: ProtectedConfiguration, record: Mapping[str, Any]) -> bool:
    return record.get("policy_uuid") in ways.policies


def _is_mapping(ways: ProtectedConfiguration, record: Mapping[str, Any]) -> bool:
    """A mapping of a source says whom it takes people for."""
    return record.get("pm_uuid") in ways.mappings


def _is_binding(ways: ProtectedConfiguration, record: Mapping[str, Any]) -> bool:
    return record.get("target") in ways.targets


ProtectionTest = Callable[[ProtectedConfiguration, Mapping[str, Any]], bool]
_JUDGES: dict[str, ProtectionTest] = {
    "Flow": _is_flow,
    "FlowStageBinding": _is_place,
    "Prompt": _is_prompt,
    "PolicyBinding": _is_binding,
}
_FAMILIES: dict[str, ProtectionTest] = {
    "identity_stages": _is_stage,
    "identity_policies": _is_policy,
    "identity_property_mappings": _is_mapping,
}
