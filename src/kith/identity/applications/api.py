"""Whether somebody may open an application: its policies evaluated without side effects."""

from __future__ import annotations

from urllib.parse import parse_qs

import msgspec
from sqlalchemy import bindparam, select

from kith.base.db import UID, query
from kith.base.errors import Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.identity.applications.resources import RESOURCE
from kith.identity.applications.tables import applications
from kith.identity.caller import ApiCaller
from kith.identity.expressions import subjects
from kith.identity.expressions.subjects import PolicySubject
from kith.identity.policies.engine import evaluate_target
from kith.identity.policies.request import PolicyRequest, PolicyVerdict
from kith.identity.refusals.service import refuse_by_policy
from kith.identity.rest import Action
from kith.identity.rest.answers import show
from kith.identity.rest.api import refuse
from kith.identity.rest.fields import InvalidValue, missing, read_identifier, read_uuid

_is_it = applications.c.pbm_uuid == bindparam("pbm_uuid", type_=UID())
_mode_of = query(select(applications.c.policy_engine_mode).where(_is_it), str)
_name_of = query(select(applications.c.name).where(_is_it), str)


async def check_access(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    work = exchange.work
    pbm_uuid = read_uuid(id)
    if pbm_uuid is None:
        raise NotFound
    mode = await work.db.one(_mode_of, pbm_uuid=pbm_uuid)
    if mode is None:
        raise NotFound
    person = await person_asked_for(exchange, caller)
    request = PolicyRequest(person=person, client_ip=exchange.address, is_test=True)
    verdict = await evaluate_target(work, pbm_uuid, request, "any" if mode == "any" else "all")
    log = verdict.log if caller.may("policies.view_policy") else []
    told = {"passing": verdict.passing, "messages": verdict.messages, "log_messages": log}
    if not verdict.passing and person.user.id == caller.id:
        told["code"] = await _refuse(exchange, verdict, request, pbm_uuid)
    return show(told)


async def _refuse(exchange: Exchange, verdict: PolicyVerdict, request: PolicyRequest, pbm_uuid: str) -> str:
    """Store a refusal for the caller, so that staff can find out by its code why access was denied."""
    name = await exchange.work.db.one(_name_of, pbm_uuid=pbm_uuid) or ""
    words = " ".join(verdict.messages) or "You may not open this application."
    async with exchange.work.aside() as aside:
        return await refuse_by_policy(
            aside,
            verdict,
            msgspec.structs.replace(request, target=pbm_uuid),
            area=f"application {name}",
            message=words,
            details={"application": {"pk": pbm_uuid, "name": name}},
        )


async def person_asked_for(exchange: Exchange, caller: ApiCaller) -> PolicySubject:
    """The person the question is about: the caller, or `for_user` if the caller may see people."""
    asked = parse_qs(exchange.query_string.decode("latin-1")).get("for_user")
    if not asked:
        return await subjects.get(exchange.work, caller.id)
    if not caller.may("core.view_user"):
        await refuse(exchange, caller, "core.view_user")
    try:
        return await subjects.get(exchange.work, read_identifier(asked[-1], integer=True))
    except InvalidValue as refused:
        raise Invalid(fields={"for_user": [refused.complaint]}) from refused
    except NotFound as error:
        raise Invalid(fields={"for_user": [missing(asked[-1]).complaint]}) from error


CHECK_ACCESS = Action(
    method="GET",
    path=f"{RESOURCE.path}{{id}}/check_access/",
    name="core_applications_check_access",
    handler=check_access,
    permission=None,
    answer="PolicyTestResult",
    summary="Whether the caller may open an application, or `for_user`, for those who may see people.",
)
