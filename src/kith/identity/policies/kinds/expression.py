"""A policy that runs an expression of an administrator."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity.audit.hidden_attributes import hidden_attributes
from kith.identity.expressions.helpers import MissingGroups, helpers_for
from kith.identity.expressions.hidden import hide_in_result
from kith.identity.expressions.run import LEVELS, ExpressionObject, Expressions
from kith.identity.expressions.syntax import complain
from kith.identity.policies.family import POLICIES, PolicyRecord
from kith.identity.policies.policy_caller import NoPolicy, PolicyCaller
from kith.identity.policies.request import CannotTell, NamedIsGone, PolicyRequest, PolicyVerdict
from kith.identity.policies.whereabouts import whereabouts
from kith.identity.rest.fields import Expression
from kith.identity.rest.resource import Resource, kind_table

UNKNOWN_ADDRESS = "255.255.255.255"
FIELDS = (Expression(name="expression", required=True, check=complain),)


class ExpressionPolicy(PolicyRecord, kw_only=True):
    expression: str


async def variables_for(work: Work, request: PolicyRequest) -> dict[str, Any]:
    """The variables of an expression. Some have three names, because existing expressions use all of them."""
    client_ip = request.client_ip or UNKNOWN_ADDRESS
    is_sso_flow = bool(request.context.get("is_sso"))
    user = request.person.facts(await hidden_attributes(work)) if request.person else None
    origin = work.origin
    http_request = ExpressionObject(
        method=origin.method, path=origin.path, user_agent=origin.user_agent, client_ip=client_ip
    )
    context = {**request.context, **whereabouts(work, request)}
    obj = ExpressionObject(pbm_uuid=request.target) if request.target else None
    asked = ExpressionObject(user=user, obj=obj, context=context, client_ip=client_ip, http_request=http_request)
    plan = request.context.get("flow_plan")
    return {
        "request": asked,
        "user": user,
        "context": context,
        "http_request": http_request,
        "client_ip": client_ip,
        "ak_client_ip": client_ip,
        "pb_client_ip": client_ip,
        "is_sso_flow": is_sso_flow,
        "ak_is_sso_flow": is_sso_flow,
        "pb_is_sso_flow": is_sso_flow,
        "flow_plan": plan,
        "pb_flow_plan": plan,
    }


async def passes(work: Work, record: ExpressionPolicy, request: PolicyRequest) -> PolicyVerdict:
    return await evaluate(work, record.expression, request)


async def evaluate(work: Work, expression: str, request: PolicyRequest) -> PolicyVerdict:
    """Where it asks for a group that is not there, it must say the same for members as for all others, or refuses."""
    missing = MissingGroups()
    try:
        verdict = await _run(work, expression, request, missing)
        if not missing.found:
            return verdict
        missing.supposed = True
        other = await _run(work, expression, msgspec.structs.replace(request, is_test=True), missing)
    except CannotTell:
        if not missing.found:
            raise
    else:
        if verdict.passing == other.passing:
            return verdict
    raise NamedIsGone(f"There is no group {missing.found[0]!r} any more that this policy asks for.")


async def _run(work: Work, expression: str, request: PolicyRequest, missing: MissingGroups) -> PolicyVerdict:
    gone: list[str] = []

    async def call_policy(name: str, context: dict[str, Any]) -> ExpressionObject:
        try:
            return await _call(work, request, name, context)
        except NoPolicy:
            gone.append(name[:100])
            raise

    helpers = helpers_for(
        work, request.person, is_test=request.is_test, missing=missing, hidden=request.hidden, looks_up=request.looks_up
    )
    helpers["_call_policy"] = call_policy
    variables = await variables_for(work, request)
    outcome = await work.find(Expressions).run(expression, variables, helpers, level=request.level)
    if request.hidden:
        outcome = hide_in_result(outcome, request.hidden)
    if gone:
        raise NamedIsGone(outcome.error or f"There is no policy {gone[0]!r} that this policy could ask.")
    if outcome.error is not None:
        raise CannotTell(outcome.error)
    log = outcome.log if outcome.value is not None else [*outcome.log, "The expression returned nothing."]
    return PolicyVerdict(passing=bool(outcome.value), messages=outcome.messages, log=log)


async def _call(work: Work, request: PolicyRequest, name: str, context: dict[str, Any]) -> ExpressionObject:
    """Evaluate another policy for the same person, with additions to the context."""
    if request.level + 1 >= LEVELS:
        raise ValueError("policies call each other too deep")
    asked = msgspec.structs.replace(request, context={**request.context, **context}, level=request.level + 1)
    async with work.aside() as aside:
        verdict = await work.find(PolicyCaller).ask(aside, name, asked)  # type: ignore[type-abstract]
    return ExpressionObject(passing=verdict.passing, messages=verdict.messages)


RESOURCE = Resource(
    path="/policies/expression/",
    name="ExpressionPolicy",
    record=ExpressionPolicy,
    key="policy_uuid",
    family=POLICIES,
    kind="expression",
    table=kind_table("identity_policies_expression", POLICIES, FIELDS),
    fields=FIELDS,
    exact=("name", "expression"),
)
