"""Actions beside /core/access_requests/: what can be asked for, what waits for the caller, and deciding."""

from __future__ import annotations

from typing import Any

from kith.base.errors import Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.identity.access_requests import offered, service, store
from kith.identity.access_requests.resources import REQUESTS
from kith.identity.caller import ApiCaller
from kith.identity.expressions import subjects
from kith.identity.rest import Action
from kith.identity.rest.answers import show, show_record
from kith.identity.rest.body import read_object
from kith.identity.rest.fields import read_uuid
from kith.identity.rest.operations import read
from kith.identity.rest.record_store import RecordStore

_records = RecordStore(REQUESTS)


async def list_offers(exchange: Exchange, caller: ApiCaller, _id: str) -> Answer:
    found = await offered.for_person(exchange.work, caller.id)
    return show(
        [
            {
                "offer": one.offer.offer_uuid,
                "name": one.offer.name,
                "kind": "application" if one.offer.application is not None else "group",
                "description": one.offer.description,
                "longest": one.offer.longest,
                "is_open": one.is_open,
            }
            for one in found
        ]
    )


async def list_to_decide(exchange: Exchange, caller: ApiCaller, _id: str) -> Answer:
    work = exchange.work
    person = await subjects.get(work, caller.id)
    groups = [group["group_uuid"] for group in person.groups]
    found = await store.to_decide(work.db, caller.id, groups, work.now)
    records = [await read(_records, work, one.request_uuid, sees_secrets=False) for one in found]
    _records.write_moments(records)
    return show(records)


async def approve(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    uuid, sent = _uuid(id), await read_object(exchange)
    duration = _text(sent, "duration") or None
    await service.decide(exchange.work, uuid, caller, approve=True, answer=_text(sent, "answer"), duration=duration)
    return await _shown(exchange, uuid)


async def refuse(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    uuid, sent = _uuid(id), await read_object(exchange)
    await service.decide(exchange.work, uuid, caller, approve=False, answer=_text(sent, "answer"))
    return await _shown(exchange, uuid)


async def withdraw(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    uuid = _uuid(id)
    await service.withdraw(exchange.work, uuid, caller)
    return await _shown(exchange, uuid)


async def end(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    uuid = _uuid(id)
    await service.end(exchange.work, uuid, caller)
    return await _shown(exchange, uuid)


def _uuid(id: str) -> str:
    found = read_uuid(id)
    if found is None:
        raise NotFound
    return found


def _text(sent: dict[str, Any], name: str) -> str:
    value = sent.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Invalid(fields={name: ["Not a valid string."]})
    return value.replace("\0", "")


async def _shown(exchange: Exchange, uuid: str) -> Answer:
    return show_record(_records, await read(_records, exchange.work, uuid, sees_secrets=False))


def _on_request(word: str, handler: Any, summary: str, body: str | None = None) -> Action:
    return Action(
        method="POST",
        path=f"{REQUESTS.path}{{id}}/{word}/",
        name=f"core_access_requests_{word}",
        handler=handler,
        permission=None,
        body=body,
        answer="AccessRequest",
        summary=summary,
    )


ACTIONS = (
    Action(
        method="GET",
        path=f"{REQUESTS.path}offers/",
        name="core_access_requests_offers",
        handler=list_offers,
        permission=None,
        answer="OfferedAccess",
        many=True,
        summary="What the caller can ask for.",
    ),
    Action(
        method="GET",
        path=f"{REQUESTS.path}to_decide/",
        name="core_access_requests_to_decide",
        handler=list_to_decide,
        permission=None,
        answer="AccessRequest",
        many=True,
        summary="The requests that the caller can decide about.",
    ),
    _on_request("approve", approve, "Give the access that was asked for.", "AccessApproval"),
    _on_request("refuse", refuse, "Refuse a request.", "AccessRefusal"),
    _on_request("withdraw", withdraw, "Withdraw one's own request."),
    _on_request("end", end, "End access that was given on request before its time."),
)
