"""What people sign in, sign up and recover their account by: the flows, and everything that decides in them.

Whoever changes one of these flows, or a stage, prompt, policy or group in it, can make it let them in as anybody.
A flow that a source, brand, provider or stage names is on a way in whatever it is for, and so is a form that asks
for a password wherever it stands: what people type into it is what they are let in by.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import or_, select, union

from kith.base.db import METADATA, Query, Session, query
from kith.identity.expressions.literals import calls_policies, literals_of, means_any_group
from kith.identity.flows.resources import bindings, flows
from kith.identity.flows.stages import stages
from kith.identity.groups.tables import groups
from kith.identity.policies.bindings import bindings as policy_bindings
from kith.identity.policies.family import policies as all_policies
from kith.identity.policies.kinds import expression, group_membership
from kith.identity.rest.fields import read_uuid
from kith.identity.sources.family import sources
from kith.identity.sources.kinds.ldap import ldap_mappings
from kith.identity.sources.property_mappings import group_mappings, user_mappings
from kith.identity.stages.prompts import prompts
from kith.identity.stages.tables import prompt_fields, prompt_stages, validation_policies

__all__ = ["DESIGNATIONS", "NAMING_NOTHING", "POWERFUL", "WaysIn", "asks_password", "find_ways_in"]

# Stages that let in, write into a record or delete it, prove an address or enable an account by a mail, set up a factor
# (one that asks for a factor may offer to), or ask what somebody allows.
POWERFUL = frozenset({
    "userlogin", "userwrite", "userdelete", "email", "otp", "otptime", "otpstatic", "otpvalidate", "webauthn",
    "consent",
})  # fmt: skip
# Which of several flows is used is chosen by what they are for, so that a new one can take the place of another.
DESIGNATIONS = frozenset({"authentication", "invalidation", "recovery", "enrollment", "unenrollment", "stage_setup"})

# Tables that refer to flows and lead nobody into one: its own steps, and what is under way in it.
NAMING_NOTHING = frozenset({"identity_flow_bindings", "identity_flow_runs", "identity_flow_tokens"})
WORD = "password"  # the type of a question, and the name of an answer that is taken for one

assert expression.RESOURCE.table is not None  # noqa: S101 - a kind has one
assert group_membership.RESOURCE.table is not None  # noqa: S101 - a kind has one
_expressions_of, _memberships_of = expression.RESOURCE.table, group_membership.RESOURCE.table
_flows = query(select(flows.c.flow_uuid, flows.c.pbm_uuid, flows.c.designation), tuple)
_bindings = query(select(bindings.c.pbm_uuid, bindings.c.flow, bindings.c.stage), tuple)
_kinds = query(select(stages.c.stage_uuid, stages.c.kind), tuple)
_forms = query(select(prompt_stages.c.stage_uuid, prompt_stages.c.pbm_uuid), tuple)
_prompts = query(select(prompt_fields.c.owner, prompt_fields.c.other), tuple)
_password_prompts = query(
    select(prompts.c.prompt_uuid).where(or_(prompts.c.type == WORD, prompts.c.field_key == WORD)), str
)
_checks = query(select(validation_policies.c.owner, validation_policies.c.other), tuple)
_bound = query(select(policy_bindings.c.target, policy_bindings.c.policy, policy_bindings.c.group), tuple)
_of_sources = tuple(query(select(link.c.other), str) for link in (ldap_mappings, user_mappings, group_mappings))
_expressions = query(
    select(_expressions_of.c.policy_uuid, all_policies.c.name, _expressions_of.c.expression).join(
        all_policies, all_policies.c.policy_uuid == _expressions_of.c.policy_uuid
    ),
    tuple,
)
_group_policies = query(select(_memberships_of.c.policy_uuid, _memberships_of.c.group), tuple)
_groups = query(select(groups.c.group_uuid, groups.c.name, groups.c.parent), tuple)
_sources = query(select(sources.c.pbm_uuid), str)


class WaysIn(msgspec.Struct):
    """The identifiers of everything that lies on a way in; `kinds` has the kind of every stage.

    `asking` are the stages that ask for a password, `words` the prompts. `expressions` are those of the policies. One
    that asks policies by their names may mean any of them.
    """

    flows: set[str]
    stages: set[str]
    targets: set[str]
    prompts: set[str]
    words: set[str]
    asking: set[str]
    policies: set[str]
    mappings: set[str]
    groups: set[str]
    kinds: dict[str, str]
    expressions: list[str]

    def is_powerful(self, stage_uuid: object) -> bool:
        """Whether a flow with this stage in it is a way in by that."""
        return stage_uuid in self.asking or self.kinds.get(str(stage_uuid)) in POWERFUL

    def holds_policy(self, policy_uuid: object) -> bool:
        return policy_uuid in self.policies or any(calls_policies(text) for text in self.expressions)

    def calls_policy(self, name: object) -> bool:
        """Whether one of this name would be asked, whether there is one by now or not."""
        return any(calls_policies(text) and name in literals_of(text) for text in self.expressions)

    def names_group(self, name: str, group_uuid: str = "") -> bool:
        """Whether an expression decides by this group. One that looks at groups in a way of its own may mean any."""
        return any(
            means_any_group(text) or not {name, group_uuid}.isdisjoint(_names(text)) for text in self.expressions
        )


@lru_cache(200)
def _names(text: str) -> frozenset[str]:
    """Names that an expression says, and identifiers in the one spelling that records have."""
    said = literals_of(text)
    return said | {found for one in said if (found := read_uuid(one)) is not None}


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


@lru_cache(1)
def _named() -> Query[str]:
    """The flows that records of any kind name."""
    columns = [
        key.parent
        for table in METADATA.tables.values()
        if table.name not in NAMING_NOTHING
        for key in table.foreign_keys
        if key.column is flows.c.flow_uuid
    ]
    return query(union(*(select(one).where(one.is_not(None)) for one in columns)), str)


def asks_password(prompt: Mapping[str, Any]) -> bool:
    return WORD in (prompt.get("type"), prompt.get("field_key"))


async def find_ways_in(db: Session) -> WaysIn:
    kinds: dict[str, str] = dict(await db.all(_kinds))
    all_flows, places = await db.all(_flows), await db.all(_bindings)
    all_forms, asked = await db.all(_forms), await db.all(_prompts)
    words = set(await db.all(_password_prompts))
    with_words = {form for form, prompt in asked if prompt in words}
    asking = {stage for stage, pbm in all_forms if pbm in with_words}
    ways = {flow for flow, _, designation in all_flows if designation in DESIGNATIONS}
    ways |= set(await db.all(_named()))
    ways |= {flow for _, flow, stage in places if stage in asking or kinds.get(stage) in POWERFUL}
    on_them = {stage for _, flow, stage in places if flow in ways} | asking
    inner = [pair for statement in _references() for pair in await db.all(statement)]
    while more := {other for owner, other in inner if owner in on_them} - on_them:
        on_them |= more
    forms = {pbm for stage, pbm in all_forms if stage in on_them}
    targets = {pbm for flow, pbm, _ in all_flows if flow in ways} | {pbm for pbm, flow, _ in places if flow in ways}
    targets |= forms | set(await db.all(_sources))
    bound = [(policy, group) for target, policy, group in await db.all(_bound) if target in targets]
    policies = {policy for policy, _ in bound if policy is not None}
    policies |= {policy for form, policy in await db.all(_checks) if form in forms}
    written = await db.all(_expressions)
    expressions = {policy: text for policy, _, text in written if policy in policies}
    while called := [(policy, text) for policy, name, text in written if _is_new_call(expressions, policy, name)]:
        expressions |= dict(called)
    policies |= set(expressions)
    members = {group for policy, group in await db.all(_group_policies) if policy in policies}
    found = WaysIn(
        flows=ways,
        stages=on_them,
        targets=targets,
        prompts={prompt for form, prompt in asked if form in forms} | words,
        words=words,
        asking=asking,
        policies=policies,
        mappings={mapping for statement in _of_sources for mapping in await db.all(statement)},
        groups={group for group in members.union(group for _, group in bound) if group is not None},
        kinds=kinds,
        expressions=list(expressions.values()),
    )
    await _add_groups(db, found)
    return found


def _is_new_call(expressions: dict[str, str], policy: str, name: str) -> bool:
    """Whether one of these asks this policy, which is not among them yet."""
    return policy not in expressions and any(
        calls_policies(text) and name in literals_of(text) for text in expressions.values()
    )


async def _add_groups(db: Session, found: WaysIn) -> None:
    """Those that an expression names, and those below, whose members are in them as well."""
    rows = await db.all(_groups)
    found.groups |= {id for id, name, _ in rows if found.names_group(name, id)}
    while more := {id for id, _, parent in rows if parent in found.groups} - found.groups:
        found.groups |= more
