"""What staff see: refusals, and trying flows and policies for a person."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from kith.base.db import UID, query
from kith.base.errors import Invalid, NotFound
from kith.base.exchange import Exchange
from kith.base.work import Work
from kith.identity.account_settings.visitor import Visitor
from kith.identity.account_settings.visitor_lookup import find_visitor
from kith.identity.caller import ApiCaller
from kith.identity.executor import inspector
from kith.identity.expressions import subjects
from kith.identity.expressions.subjects import PolicySubject
from kith.identity.factors import store as factors
from kith.identity.factors.tables import Factor
from kith.identity.flows.plan import find_flow
from kith.identity.flows.resources import flows
from kith.identity.policies import api as policies_api
from kith.identity.policies.family import policies
from kith.identity.policies.request import PolicyVerdict
from kith.identity.refusals import service
from kith.identity.refusals import store as refusals
from kith.identity.refusals.service import shown
from kith.identity.refusals.tables import Refusal
from kith.identity.rest.fields import read_uuid
from kith.identity.users import privileges
from kith.identity.users import store as users
from kith.identity.users.tables import User

__all__ = [
    "MOST",
    "FlowLine",
    "PolicyLine",
    "PolicyVerdict",
    "Refusal",
    "find_refusal",
    "get_flow",
    "get_policy",
    "get_staff",
    "get_user",
    "list_factors",
    "list_flows",
    "list_policies",
    "list_refusals",
    "refuse_if_above",
    "rehearse",
    "shown",
    "try_policy",
]

MOST = 50
MOST_CONTEXT = 64 << 10


class FlowLine(msgspec.Struct):
    slug: str
    name: str
    title: str
    designation: str


class PolicyLine(msgspec.Struct):
    policy_uuid: str
    name: str
    kind: str


_flows = query(
    select(*(flows.c[name] for name in FlowLine.__struct_fields__))
    .order_by(flows.c.designation, flows.c.slug)
    .limit(bindparam("most"))
    .offset(bindparam("start")),
    FlowLine,
)
_policy_columns = tuple(policies.c[name] for name in PolicyLine.__struct_fields__)
_policies = query(
    select(*_policy_columns)
    .order_by(policies.c.name, policies.c.policy_uuid)
    .limit(bindparam("most"))
    .offset(bindparam("start")),
    PolicyLine,
)
_policy = query(select(*_policy_columns).where(policies.c.policy_uuid == bindparam("policy", type_=UID())), PolicyLine)


async def get_staff(exchange: Exchange) -> Visitor:
    """The superuser who is signed in; not found for everybody else."""
    visitor = await find_visitor(exchange)
    if visitor is None or not visitor.is_superuser:
        raise NotFound
    return visitor


async def get_user(work: Work, username: str) -> User:
    user = await users.find(work.db, username) if username else None
    if user is None:
        raise Invalid(fields={"username": ["There is no user with this name."]})
    return user


async def refuse_if_above(work: Work, staff: Visitor, user_id: int) -> None:
    """Superusers may do everything here, but only an owner may do it to an owner."""
    caller = ApiCaller(id=staff.user.id, username=staff.user.username, role=staff.user.role, permissions=None)
    await privileges.refuse_if_above(work, caller, user_id, "lock")


async def list_factors(work: Work, user_id: int) -> list[Factor]:
    return await factors.of_user(work.db, user_id)


# Each list has one entry more than a page, if there are more.


async def list_refusals(work: Work, page: int) -> list[Refusal]:
    return await refusals.latest(work.db, most=MOST + 1, start=MOST * (page - 1))


async def list_flows(work: Work, page: int) -> list[FlowLine]:
    return await work.db.all(_flows, most=MOST + 1, start=MOST * (page - 1))


async def list_policies(work: Work, page: int) -> list[PolicyLine]:
    return await work.db.all(_policies, most=MOST + 1, start=MOST * (page - 1))


async def find_refusal(work: Work, code: str) -> Refusal | None:
    return await service.find(work, code)


async def get_flow(work: Work, slug: str) -> FlowLine:
    flow = await find_flow(work, slug)
    if flow is None:
        raise NotFound
    return FlowLine(flow.slug, flow.name, flow.title, flow.designation)


async def get_policy(work: Work, id: str) -> PolicyLine:
    policy_uuid = read_uuid(id)
    if policy_uuid is None:
        raise NotFound
    found = await work.db.one(_policy, policy=policy_uuid)
    if found is None:
        raise NotFound
    return found


async def rehearse(exchange: Exchange, slug: str, username: str, context: str) -> dict[str, Any]:
    flow = await find_flow(exchange.work, slug)
    if flow is None:
        raise NotFound
    person, known = await _subject(exchange.work, username, context)
    return await inspector.rehearse(exchange, flow, person, known)


async def try_policy(exchange: Exchange, policy: PolicyLine, username: str, context: str) -> PolicyVerdict:
    person, known = await _subject(exchange.work, username, context)
    return await policies_api.try_policy(exchange, policy.policy_uuid, policy.kind, person, known)


async def _subject(work: Work, username: str, context: str) -> tuple[PolicySubject | None, dict[str, Any]]:
    """The person and the context, as typed; all complaints at once."""
    complaints: dict[str, list[str]] = {}
    person, known = None, {}
    if username:
        user = await users.find(work.db, username) if "\0" not in username else None
        if user is None:
            complaints["user"] = ["There is no user with this name."]
        else:
            person = await subjects.get(work, user.id)
    if context:
        try:
            known = msgspec.json.decode(context[:MOST_CONTEXT], type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError) as error:
            complaints["context"] = [f"This is not a JSON object: {error}"]
    if complaints:
        raise Invalid(fields=complaints)
    return person, known
