"""The routes of the identity API, made from resources. Nothing here depends on a particular resource."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs

import msgspec

from kith.base.caches import UntilWritten
from kith.base.errors import Forbidden, NotAcceptable, NotFound
from kith.base.exchange import JSON, Answer, Exchange
from kith.base.paging import OffsetPage, envelope, public_url
from kith.base.routing import Route, route
from kith.identity.audit import service as audit
from kith.identity.caller import ApiCaller
from kith.identity.rest import exporting, operations
from kith.identity.rest.answers import show_record
from kith.identity.rest.body import read_object, take_in
from kith.identity.rest.caller_lookup import CallerLookup
from kith.identity.rest.fields import I32, read_uuid
from kith.identity.rest.list_query import ListQuery
from kith.identity.rest.record_store import RecordStore
from kith.identity.rest.resource import Action, Resource

BASE = "/api/v2"
_encode = msgspec.json.Encoder().encode
_VERBS = {
    "list": "view",
    "read": "view",
    "create": "add",
    "update": "change",
    "partial_update": "change",
    "delete": "delete",
}
_METHODS = {
    "list": "GET",
    "create": "POST",
    "read": "GET",
    "update": "PUT",
    "partial_update": "PATCH",
    "delete": "DELETE",
}
_ON_ITEM = {"read", "update", "partial_update", "delete"}
_WITH_BODY = {"create", "update", "partial_update"}


# Who calls what is open to everybody: they may do nothing else.
ANYBODY = ApiCaller(id=0, username="", role="user", permissions=frozenset())


def routes(resources: Sequence[Resource[Any]], actions: Sequence[Action]) -> list[Route]:
    """Routes for all collections and actions; an action goes before an item with the same path."""
    found = [_action_route(action) for action in actions]
    taken = {(method, _shape(one.template)) for one in found for method in one.methods}
    for resource in resources:
        store = RecordStore(resource)
        if resource.export:
            found.append(_export_route(store))
        for operation in sorted(resource.allow):
            route = _operation_route(store, operation)
            if (route.methods[0], _shape(route.template)) not in taken:
                found.append(route)
    return found


def _shape(template: str) -> str:
    return re.sub(r"\{[^}]*\}", "{}", template)


def _operation_route(store: RecordStore[Any], operation: str) -> Route:
    resource = store.resource
    permission = resource.permission(_VERBS[operation])
    needed = None if resource.own else permission
    on_item = operation in _ON_ITEM

    async def respond(exchange: Exchange) -> Answer:
        caller = await _admit(exchange, needed)
        if operation in _WITH_BODY:
            await take_in(exchange)
        if on_item:
            return await _ITEM[operation](store, exchange, caller, _identifier(store, exchange.path_values[0]))
        return await (_list if operation == "list" else _create)(store, exchange, caller)

    template = f"{BASE}{resource.path}{{id}}/" if on_item else f"{BASE}{resource.path}"
    return route(_METHODS[operation], template)(respond)


def _export_route(store: RecordStore[Any]) -> Route:
    resource = store.resource

    async def respond(exchange: Exchange) -> Answer:
        caller = await _admit(exchange, resource.permission("view"), is_csv=True)
        exporting.spend_export(exchange, caller)
        sent = parse_qs(exchange.query_string.decode("latin-1"), keep_blank_values=True)
        wanted = await ListQuery.read(store, exchange.work, sent)
        place = exporting.place_of(resource)
        await exporting.note_export(exchange.work, caller.id, caller.username, place, sent)
        return exporting.file_answer(exchange, place, exporting.records(exchange.server.works, wanted))

    return route("GET", f"{BASE}{resource.path}export/")(respond)


def _action_route(action: Action) -> Route:
    async def respond(exchange: Exchange) -> Answer:
        caller = ANYBODY if action.is_open else await _admit(exchange, action.permission, is_csv=action.is_csv)
        if action.body is not None and not action.is_open:
            await take_in(exchange)
        if action.refusal and caller.permissions is not None:
            raise Forbidden(action.refusal, extra={"code": "permission_denied"})
        return await action.handler(exchange, caller, exchange.path_values[0] if exchange.path_values else "")

    return route(action.method, f"{BASE}{action.path}")(respond)


async def _admit(exchange: Exchange, permission: str | None, *, is_csv: bool = False) -> ApiCaller:
    _refuse_other_formats(exchange, b"csv" if is_csv else b"json")
    caller = await exchange.find(CallerLookup).identify(exchange)  # type: ignore[type-abstract]
    if permission is not None and not caller.may(permission):
        await refuse(exchange, caller, permission)
    return caller


async def refuse(exchange: Exchange, caller: ApiCaller, permission: str) -> None:
    """Deny the request with the missing permission, and record it in the audit trail."""
    async with exchange.work.aside() as aside:
        await audit.record(
            aside,
            "permission_denied",
            "core.api",
            user_id=caller.id,
            username=caller.username,
            context={"permission": permission},
        )
    raise Forbidden(
        "You do not have permission to perform this action.",
        extra={"code": "permission_denied", "permission": permission},
    )


def _refuse_other_formats(exchange: Exchange, ours: bytes) -> None:
    accept = exchange.header(b"accept")
    others = (b"*/*", b"text/*" if ours == b"csv" else b"application/*", b"json")
    if accept and ours not in accept and not any(word in accept for word in others):
        raise NotAcceptable


def _identifier(store: RecordStore[Any], text: str) -> Any:
    """The identifier in the path; one of the wrong form is answered like one that does not exist."""
    if store.resource.is_integer:
        if text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= I32:
            return int(text)
        raise NotFound
    found = read_uuid(text)
    if found is None or not (len(text) == 36 or len(text) == 32):
        raise NotFound
    return found


# The six operations


async def _list(store: RecordStore[Any], exchange: Exchange, caller: ApiCaller) -> Answer:
    query_string = exchange.query_string
    memo = exchange.find(UntilWritten)
    only = caller.id if store.resource.own and not caller.may(store.resource.permission("view")) else None
    work = exchange.work
    # Lists of what people have of their own say what is of the session that asks.
    key = (store.resource.path, query_string, only, work.origin.session if store.resource.own else "")
    kept: tuple[Answer, datetime | None] | None = memo.get(exchange.version, key)
    if kept is None or (kept[1] is not None and kept[1] <= work.now):
        until = await _until(store.resource, exchange)
        page = OffsetPage.read(query_string)
        wanted = await ListQuery.read(store, work, parse_qs(query_string.decode("latin-1"), keep_blank_values=True))
        if only is not None:
            wanted.exact[store.resource.own] = only
        count, records = await wanted.fetch(work, page)
        store.write_moments(records)
        url = public_url(work.settings.base_url, exchange.path)
        kept = Answer(200, JSON, _encode(envelope(url, page, count, records))), until
        memo.put(exchange.version, key, kept, size=len(kept[0].body))
    return kept[0]


async def _until(resource: Resource[Any], exchange: Exchange) -> datetime | None:
    """How long a page stays true, as far as ends go; only asked where pages are kept."""
    if resource.next_end is None or exchange.version is None:
        return None
    return await exchange.work.db.one(resource.next_end)


async def _create(store: RecordStore[Any], exchange: Exchange, caller: ApiCaller) -> Answer:
    record = await operations.create(store, exchange.work, caller, await read_object(exchange))
    where = f"{exchange.work.settings.base_url}{BASE}{store.resource.path}{record.pk}/"
    store.write_moments([record])
    return Answer(201, (*JSON, (b"location", where.encode())), _encode(record))


async def _read(store: RecordStore[Any], exchange: Exchange, caller: ApiCaller, id: Any) -> Answer:
    """Secrets are shown to callers who may change the record and see secrets; that is recorded."""
    resource = store.resource
    sees_secrets = operations.sees(store, caller)
    record = await operations.read(store, exchange.work, id, sees_secrets=sees_secrets)
    own = resource.own
    if own and getattr(record, own) != caller.id and not caller.may(resource.permission("view")):
        raise NotFound
    if sees_secrets:
        await operations.record_view(exchange.work, caller, resource, record)
    return show_record(store, record)


async def _update(store: RecordStore[Any], exchange: Exchange, caller: ApiCaller, id: Any) -> Answer:
    record = await operations.update(store, exchange.work, caller, id, await read_object(exchange), whole=True)
    return show_record(store, record)


async def _partial_update(store: RecordStore[Any], exchange: Exchange, caller: ApiCaller, id: Any) -> Answer:
    record = await operations.update(store, exchange.work, caller, id, await read_object(exchange), whole=False)
    return show_record(store, record)


async def _delete(store: RecordStore[Any], exchange: Exchange, caller: ApiCaller, id: Any) -> Answer:
    await operations.remove(store, exchange.work, caller, id)
    return Answer(204, (), b"")


_ITEM = {"read": _read, "update": _update, "partial_update": _partial_update, "delete": _delete}
