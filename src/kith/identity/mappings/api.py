"""Trying a mapping out."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

import msgspec
from sqlalchemy import bindparam, select

from kith.base.db import UID, query
from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.identity.caller import ApiCaller
from kith.identity.expressions.drafts import read_draft
from kith.identity.expressions.run import ExpressionResult
from kith.identity.mappings import service
from kith.identity.mappings.family import mappings
from kith.identity.policies.api import read_subject
from kith.identity.rest import Action, Resource
from kith.identity.rest.answers import show
from kith.identity.rest.body import read_object
from kith.identity.rest.fields import read_uuid

_expression_of = query(
    select(mappings.c.expression).where(mappings.c.pm_uuid == bindparam("mapping", type_=UID())), str
)


async def test_mapping(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    """What the context holds is what the expression is given by name."""
    pm_uuid = read_uuid(id)
    if pm_uuid is None:
        raise NotFound
    expression = await exchange.work.db.one(_expression_of, mapping=pm_uuid)
    if expression is None:
        raise NotFound
    return await _tried(exchange, caller, expression, await read_object(exchange))


async def try_draft(exchange: Exchange, caller: ApiCaller, _id: str) -> Answer:
    """The same for an expression that nobody has saved yet."""
    sent = await read_object(exchange)
    return await _tried(exchange, caller, await read_draft(caller, sent), sent)


async def _tried(exchange: Exchange, caller: ApiCaller, expression: str, sent: dict[str, Any]) -> Answer:
    person, context = await read_subject(exchange, caller, sent)
    looks_up = caller.may("core.view_user")
    outcome = await service.evaluate(exchange.work, expression, person, context, is_test=True, looks_up=looks_up)
    asked = parse_qs(exchange.query_string.decode("latin-1"))
    pretty = asked.get("format_result", [""])[-1].lower() in ("true", "1")
    return show({"result": _shown(outcome, pretty=pretty), "successful": outcome.error is None})


def _shown(outcome: ExpressionResult, *, pretty: bool) -> str:
    if outcome.error is not None:
        return outcome.error
    encoded = msgspec.json.encode(outcome.value)
    return (msgspec.json.format(encoded, indent=4) if pretty else encoded).decode()


TEST = Action(
    method="POST",
    path="/propertymappings/all/{id}/test/",
    name="propertymappings_all_test",
    handler=test_mapping,
    permission="propertymappings.view_propertymapping",
    summary="What a mapping makes of a person, with nothing else coming of it.",
)


def draft_test(resource: Resource[Any]) -> Action:
    return Action(
        method="POST",
        path=f"{resource.path}test/",
        name=f"{resource.operation}_test",
        handler=try_draft,
        permission=resource.permission("add"),
        body="ExpressionTest",
        answer="PropertyMappingTestResult",
        summary="What a mapping with this expression would make of a person, before it is saved.",
    )
