"""Trying a policy out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.expressions import subjects
from kith.identity.expressions.drafts import read_draft
from kith.identity.expressions.subjects import PolicySubject
from kith.identity.policies import engine
from kith.identity.policies.kinds import expression
from kith.identity.policies.request import PolicyRequest, PolicyVerdict
from kith.identity.rest import Action
from kith.identity.rest.answers import show
from kith.identity.rest.body import read_object
from kith.identity.rest.fields import InvalidValue, Object, Reference, missing, read_uuid

TEST_SECONDS = 10
_USER = Reference(name="user", to="identity_users.id", integer=True)
_CONTEXT = Object(name="context")


async def read_subject(
    exchange: Exchange, caller: ApiCaller, sent: dict[str, Any]
) -> tuple[PolicySubject | None, dict[str, Any]]:
    """The person and the context of a test, as sent; all complaints at once."""
    complaints: dict[str, list[str]] = {}
    values: dict[str, Any] = {"user": None, "context": {}}
    for field in (_USER, _CONTEXT):
        try:
            if sent.get(field.name) is not None:
                values[field.name] = field.read(sent[field.name])
        except InvalidValue as error:
            complaints[field.name] = [error.complaint]
    person = None
    if values["user"] is not None:
        person = await _visible(exchange, caller, values["user"])
        if person is None:
            complaints["user"] = [missing(values["user"]).complaint]
    if complaints:
        raise Invalid(fields=complaints)
    return person, values["context"]


async def _visible(exchange: Exchange, caller: ApiCaller, user_id: int) -> PolicySubject | None:
    """The person, unless the caller may not see people: a test must not tell who exists."""
    if user_id != caller.id and not caller.may("core.view_user"):
        return None
    try:
        return await subjects.get(exchange.work, user_id)
    except NotFound:
        return None


async def test_policy(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    policy_uuid = read_uuid(id)
    kind = await engine.find_kind(exchange.work, policy_uuid) if policy_uuid else None
    if policy_uuid is None or kind is None:
        raise NotFound
    sent = await read_object(exchange)
    if "user" not in sent:
        raise Invalid(fields={"user": [Complaint("This field is required.", "required")]})
    if sent["user"] is None:
        raise Invalid(fields={"user": [Complaint("This field may not be null.", "null")]})
    person, context = await read_subject(exchange, caller, sent)
    verdict = await try_policy(exchange, policy_uuid, kind, person, context, looks_up=caller.may("core.view_user"))
    return show({"passing": verdict.passing, "messages": verdict.messages, "log_messages": verdict.log})


async def try_policy(
    exchange: Exchange,
    policy_uuid: str,
    kind: str,
    person: PolicySubject | None,
    context: dict[str, Any],
    *,
    looks_up: bool = True,
) -> PolicyVerdict:
    """Evaluate a policy as a test: for a person or nobody, with this context, and rolled back."""

    async def ask(work: Work, request: PolicyRequest) -> PolicyVerdict:
        return await engine.evaluate_policy(work, policy_uuid, kind, request)

    return await _tried(exchange, ask, person, context, looks_up=looks_up)


async def try_expression(exchange: Exchange, caller: ApiCaller, _id: str) -> Answer:
    """What a policy would say with this expression, which nobody has saved yet."""
    sent = await read_object(exchange)
    text = await read_draft(caller, sent)
    person, context = await read_subject(exchange, caller, sent)

    async def ask(work: Work, request: PolicyRequest) -> PolicyVerdict:
        return await expression.evaluate(work, text, request)

    verdict = await _tried(exchange, ask, person, context, looks_up=caller.may("core.view_user"))
    return show({"passing": verdict.passing, "messages": verdict.messages, "log_messages": verdict.log})


async def _tried(
    exchange: Exchange,
    ask: Callable[[Work, PolicyRequest], Awaitable[PolicyVerdict]],
    person: PolicySubject | None,
    context: dict[str, Any],
    *,
    looks_up: bool,
) -> PolicyVerdict:
    request = PolicyRequest(person=person, context=context, client_ip=exchange.address, is_test=True, looks_up=looks_up)
    work = exchange.server.works.open(exchange.origin)
    try:
        async with asyncio.timeout(TEST_SECONDS):
            return await ask(work, request)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong in a policy is what the test shows
        return PolicyVerdict(passing=False, messages=[engine.words_of(error)])
    finally:
        await work.rollback()


TEST = Action(
    method="POST",
    path="/policies/all/{id}/test/",
    name="policies_all_test",
    handler=test_policy,
    permission="policies.view_policy",
    summary="What a policy says of a person, with nothing else coming of it.",
)

TEST_EXPRESSION = Action(
    method="POST",
    path=f"{expression.RESOURCE.path}test/",
    name="policies_expression_test",
    handler=try_expression,
    permission=expression.RESOURCE.permission("add"),
    body="ExpressionTest",
    answer="PolicyTestResult",
    summary="What a policy with this expression would say of a person, before it is saved.",
)
