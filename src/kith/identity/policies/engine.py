"""Evaluating policies: a single one, or all that are bound to a target."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

import msgspec
from sqlalchemy import bindparam, select

from kith.base.counted_log import log_counted
from kith.base.db import UID, query
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.policies.bindings import bindings
from kith.identity.policies.family import PolicyRecord, policies
from kith.identity.policies.kinds import (
    breachcheck,
    dummy,
    event_matcher,
    expression,
    geoip,
    group_membership,
    password,
    passwordexpiry,
    reputation,
)
from kith.identity.policies.request import BindingResult, CannotTell, NamedIsGone, PolicyRequest, PolicyVerdict
from kith.identity.rest.record_store import RecordStore
from kith.identity.rest.resource import Resource

P = TypeVar("P", bound=PolicyRecord)
Mode = Literal["any", "all"]


class PolicyKind(Generic[P]):
    """A kind of policy: where its records are, and how it decides."""

    def __init__(
        self, resource: Resource[P], passes: Callable[[Work, P, PolicyRequest], Awaitable[PolicyVerdict]]
    ) -> None:
        self.kind = resource.kind
        self.records = RecordStore(resource)
        self.passes = passes


_ALL: tuple[PolicyKind[Any], ...] = (
    PolicyKind(breachcheck.RESOURCE, breachcheck.passes),
    PolicyKind(dummy.RESOURCE, dummy.passes),
    PolicyKind(event_matcher.RESOURCE, event_matcher.passes),
    PolicyKind(expression.RESOURCE, expression.passes),
    PolicyKind(geoip.RESOURCE, geoip.passes),
    PolicyKind(group_membership.RESOURCE, group_membership.passes),
    PolicyKind(password.RESOURCE, password.passes),
    PolicyKind(passwordexpiry.RESOURCE, passwordexpiry.passes),
    PolicyKind(reputation.RESOURCE, reputation.passes),
)
KINDS = {one.kind: one for one in _ALL}

TIMED_OUT = "Policy timed out."
EXPIRED = "This binding has expired."
ALL_OFF = "Everything that is bound here is turned off."


class Bound(msgspec.Struct):
    """A binding, and as much of its policy as evaluating it needs."""

    policy_binding_uuid: str
    policy: str | None
    group: str | None
    user: int | None
    negate: bool
    timeout: int
    failure_result: bool
    expires: datetime | None
    enabled: bool
    gone_kind: str | None
    gone_name: str | None
    kind: str | None
    name: str | None
    execution_logging: bool | None


_bound = query(
    select(
        *(bindings.c[name] for name in Bound.__struct_fields__[:11]),
        policies.c.kind,
        policies.c.name,
        policies.c.execution_logging,
    )
    .select_from(bindings.outerjoin(policies, policies.c.policy_uuid == bindings.c.policy))
    .where(bindings.c.target == bindparam("target", type_=UID()))
    .order_by(bindings.c.order, bindings.c.policy_binding_uuid),
    Bound,
)
_kind_of = query(select(policies.c.kind).where(policies.c.policy_uuid == bindparam("policy", type_=UID())), str)


async def find_kind(work: Work, policy_uuid: str) -> str | None:
    return await work.db.one(_kind_of, policy=policy_uuid)


async def evaluate_policy(work: Work, policy_uuid: str, kind: str, request: PolicyRequest) -> PolicyVerdict:
    """The verdict of one policy. It may raise anything; callers must treat that as a no."""
    found = KINDS[kind]
    policy = await found.records.find(work.db, policy_uuid)
    if policy is None:
        raise NamedIsGone("This policy is gone.")
    return await found.passes(work, policy, request)


async def judge(work: Work, policy_uuid: str, request: PolicyRequest) -> PolicyVerdict:
    """The verdict of a policy that is named by itself, without a binding: whatever goes wrong is a no."""
    try:
        kind = await find_kind(work, policy_uuid)
        if kind is None:
            raise NamedIsGone("This policy is gone.")
        return await evaluate_policy(work, policy_uuid, kind, request)
    except Exception as error:  # noqa: BLE001 - as it says
        return PolicyVerdict(passing=False, messages=[words_of(error)], is_unsure=True)


async def evaluate_target(work: Work, pbm_uuid: str, request: PolicyRequest, mode: Mode = "all") -> PolicyVerdict:
    """Evaluate everything that is bound to a target, in order. Without bindings everybody passes.

    Where all bindings are turned off nobody does: turning the last one off does not open the door. The messages of all
    are kept, whatever they decided. Policies can be slow and some write in a work of their own, so call this before
    the work's first write.
    """
    request = msgspec.structs.replace(request, target=pbm_uuid)
    bound = await work.db.all(_bound, target=pbm_uuid)
    told: list[_Told] = []
    trace = [await _decide(work, one, request, told) for one in bound if one.enabled]
    if bound and not trace:
        return PolicyVerdict(passing=False, log=[ALL_OFF], is_unsure=True)
    if told and not request.is_test:
        await _write_down(work, told, request)
    decide = any if mode == "any" else all
    refusing = [asked.is_unsure for asked in trace if not asked.passing]
    passing = not trace or decide(asked.passing for asked in trace)
    return PolicyVerdict(
        passing=passing,
        messages=[words for asked in trace for words in asked.messages],
        log=[words for asked in trace for words in asked.log],
        trace=trace,
        is_unsure=not passing and (any(refusing) if mode == "any" else all(refusing)),
    )


_Told = tuple[str, Bound, dict[str, Any]]


async def _decide(work: Work, bound: Bound, request: PolicyRequest, told: list[_Told]) -> BindingResult:
    if bound.expires is not None and bound.expires <= work.now:
        return _result(bound, PolicyVerdict(passing=False, log=[EXPIRED], is_unsure=True))
    if bound.policy is None and bound.group is None and bound.user is None:
        return _result(bound, PolicyVerdict(passing=False, log=[words_if_gone(bound)], is_unsure=True))
    failure = ""
    try:
        async with asyncio.timeout(bound.timeout):
            verdict = await _ask(work, bound, request)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong in a policy is a no, and is written down
        words, failure = words_of(error), f"{type(error).__name__}: {error}"
        told.append(("policy_exception", bound, {"message": words, "exception": type(error).__name__}))
        passing = bound.failure_result and not isinstance(error, NamedIsGone)
        verdict = PolicyVerdict(passing=passing, messages=[words], is_unsure=not passing)
    else:
        if bound.negate:
            verdict.passing = not verdict.passing
        if bound.execution_logging:
            result = {"passing": verdict.passing, "messages": verdict.messages, "log": verdict.log}
            told.append(("policy_execution", bound, {"result": result}))
    return _result(bound, verdict, failure)


def _result(bound: Bound, verdict: PolicyVerdict, failure: str = "") -> BindingResult:
    return BindingResult(
        binding=bound.policy_binding_uuid,
        kind=_kind(bound),
        about=_about(bound),
        name=bound.name or bound.gone_name or "",
        negate=bound.negate,
        passing=verdict.passing,
        messages=verdict.messages,
        log=verdict.log,
        failure=failure,
        is_unsure=verdict.is_unsure,
    )


def words_if_gone(bound: Bound) -> str:
    named = f"{'person' if bound.gone_kind == 'user' else bound.gone_kind or 'record'} {bound.gone_name or ''}".strip()
    return f"This binding named the {named}, which was deleted: it refuses until it is removed or pointed elsewhere."


def _kind(bound: Bound) -> str:
    kind = "user" if bound.user is not None else "group" if bound.group is not None else bound.kind
    return kind or bound.gone_kind or "nothing"


def _about(bound: Bound) -> str:
    return str(bound.user) if bound.user is not None else bound.group or bound.policy or ""


async def _ask(work: Work, bound: Bound, request: PolicyRequest) -> PolicyVerdict:
    person = request.person
    if bound.user is not None:
        return PolicyVerdict(passing=person is not None and person.user.id == bound.user)
    if bound.group is not None:
        return PolicyVerdict(passing=person is not None and person.is_in(bound.group))
    if bound.policy is None or bound.kind is None:
        raise CannotTell("This binding has nothing to ask.")
    return await evaluate_policy(work, bound.policy, bound.kind, request)


def words_of(error: Exception) -> str:
    """The message for an error in a policy; what was not expected is only logged."""
    match error:
        case TimeoutError():
            return TIMED_OUT
        case CannotTell() | NamedIsGone():
            return str(error)
    log_counted("error", "policy.failed", error=error)
    return "Policy could not be evaluated."


async def _write_down(work: Work, told: list[_Told], request: PolicyRequest) -> None:
    """Record events in a work of its own, as this one may be rolled back. Only the names in the context are kept."""
    user = request.person.user if request.person else None
    asked = {
        "user": user.username if user else None,
        "client_ip": request.client_ip,
        "context": sorted(request.context),
    }
    async with work.aside() as aside:
        for action, bound, context in told:
            await audit.record(
                aside,
                action,
                "policies.engine",
                user_id=user.id if user else None,
                username=user.username if user else "",
                of_stranger=user is None,
                context={
                    "policy_uuid": bound.policy,
                    "policy": bound.name,
                    "binding": bound.policy_binding_uuid,
                    "obj": request.target,
                    "request": asked,
                    **context,
                },
            )
