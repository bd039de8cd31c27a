"""Turns resources into the identity API's one dialect. It never asks which resource it serves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any
from urllib.parse import parse_qs

import msgspec

from kith.base.edge import JSON, Answer, Exchange
from kith.base.errors import Forbidden, MethodNotAllowed, NotAcceptable, NotFound
from kith.base.memo import Memo
from kith.base.paging import Page, envelope, public_url
from kith.identity.audit import service as audit
from kith.identity.caller import Caller
from kith.identity.rest import verbs
from kith.identity.rest.answers import show
from kith.identity.rest.body import read_object
from kith.identity.rest.fields import I32, read_uuid
from kith.identity.rest.listing import Asked
from kith.identity.rest.resource import Action, Resource
from kith.identity.rest.shelf import Shelf

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

Identify = Callable[[Exchange], Awaitable[Caller]]


class Rest:
    """Every collection and action. `answer` serves what it knows below /api/v2, and says None to the rest."""

    def __init__(self, resources: Sequence[Resource], actions: Sequence[Action], identify: Identify) -> None:
        self._identify = identify
        self.shelves = {resource.path.rstrip("/"): Shelf(resource) for resource in resources}
        self.actions = tuple(actions)
        self._literal: dict[str, dict[str, Action]] = {}
        self._below: dict[tuple[str, str], dict[str, Action]] = {}
        for action in actions:
            before, item, after = action.path.rstrip("/").partition("/{id}")
            table: dict[Any, dict[str, Action]] = self._below if item else self._literal
            table.setdefault((before, after.lstrip("/")) if item else before, {})[action.method] = action

    async def answer(self, exchange: Exchange) -> Answer | None:
        exchange.scope["path_template"] = self._template(exchange.path)
        path = exchange.path[len(BASE) :].rstrip("/")
        method = exchange.scope["method"]
        if method == "OPTIONS":
            return self._options(path)
        found = self._find_action(path, method)
        if found is not None:
            action, item = found
            caller = await self._admit(exchange, action.permission)
            return await action.handler(exchange, caller, item)
        shelf, id = self._find_shelf(path)
        if shelf is None:
            return None
        operation = self._operation(shelf, exchange, on_item=id is not None)
        permission = shelf.resource.permission(_VERBS[operation])
        caller = await self._admit(exchange, None if shelf.resource.own else permission)
        if id is None:
            return await (_list if operation == "list" else _create)(shelf, exchange, caller)
        return await _ITEM[operation](shelf, exchange, caller, _identifier(shelf, id))

    def _template(self, path: str) -> str:
        """The route for logs and numbers: identifiers must not make a series each."""
        inner = path[len(BASE) :].rstrip("/")
        if inner in self.shelves or inner in self._literal:
            return f"{BASE}{inner}/"
        parts = inner.split("/")
        for size in (0, 1, 2):
            before, after = "/".join(parts[: len(parts) - size - 1]), "/".join(parts[len(parts) - size :])
            if (before in self.shelves and not size) or (before, after) in self._below:
                return f"{BASE}{before}/{{id}}/{after}/" if after else f"{BASE}{before}/{{id}}/"
        return f"{BASE}/unknown/"

    def _options(self, path: str) -> Answer | None:
        shelf, id = self._find_shelf(path)
        if shelf is None:
            return None
        return Answer(204, ((b"allow", _allow(_methods(shelf, on_item=id is not None)).encode()),), b"")

    def _find_action(self, path: str, method: str) -> tuple[Action, str] | None:
        methods, id = self._literal.get(path), ""
        if methods is None:
            parts = path.split("/")
            for size in (0, 1, 2):
                parent, after = "/".join(parts[: -size - 1]), "/".join(parts[len(parts) - size :])
                methods = self._below.get((parent, after)) if len(parts) > size + 2 else None
                if methods is not None:
                    id = parts[-size - 1]
                    break
        if methods is None:
            return None
        if method not in methods:
            raise _not_allowed(method, methods)
        return methods[method], id

    def _find_shelf(self, path: str) -> tuple[Shelf | None, str | None]:
        shelf = self.shelves.get(path)
        if shelf is not None:
            return shelf, None
        parent, _, id = path.rpartition("/")
        return self.shelves.get(parent), id

    def _operation(self, shelf: Shelf, exchange: Exchange, *, on_item: bool) -> str:
        method = exchange.scope["method"]
        allowed = _methods(shelf, on_item=on_item)
        if method not in allowed:
            raise _not_allowed(method, allowed)
        return allowed[method]

    async def _admit(self, exchange: Exchange, permission: str | None) -> Caller:
        _refuse_other_formats(exchange)
        caller = await self._identify(exchange)
        if permission is not None and not caller.may(permission):
            await refuse(exchange, caller, permission)
        return caller


async def refuse(exchange: Exchange, caller: Caller, permission: str) -> None:
    """Say no, say what was missing, and write it down."""
    async with exchange.work.aside() as aside:
        await audit.record(
            aside, "permission_denied", "core.api", user_id=caller.id, username=caller.username,
            context={"permission": permission},
        )  # fmt: skip
    raise Forbidden(
        "You do not have permission to perform this action.",
        extra={"code": "permission_denied", "permission": permission},
    )


def _methods(shelf: Shelf, *, on_item: bool) -> dict[str, str]:
    return {_METHODS[name]: name for name in sorted(shelf.resource.allow) if (name in _ON_ITEM) is on_item}


def _allow(methods: Iterable[str]) -> str:
    words = {*methods, "OPTIONS"}
    return ", ".join(sorted(words | {"HEAD"} if "GET" in words else words))


def _not_allowed(method: str, allowed: Iterable[str]) -> MethodNotAllowed:
    return MethodNotAllowed(f'Method "{method}" not allowed.', headers={"Allow": _allow(allowed)})


def _refuse_other_formats(exchange: Exchange) -> None:
    accept = exchange.header(b"accept")
    if accept and not any(word in accept for word in (b"json", b"*/*", b"application/*")):
        raise NotAcceptable


def _identifier(shelf: Shelf, text: str) -> Any:
    """What cannot be an identifier is not found, like one that nobody has."""
    if shelf.resource.is_integer:
        if text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= I32:
            return int(text)
        raise NotFound
    found = read_uuid(text)
    if found is None or not (len(text) == 36 or len(text) == 32):
        raise NotFound
    return found


# The six operations


async def _list(shelf: Shelf, exchange: Exchange, caller: Caller) -> Answer:
    query_string = exchange.scope["query_string"]
    memo = exchange.find(Memo)
    only = caller.id if shelf.resource.own and not caller.may(shelf.resource.permission("view")) else None
    key = (shelf.resource.path, query_string, only)
    kept: Answer | None = memo.get(exchange.version, key)
    if kept is None:
        work = exchange.work
        page = Page.read(query_string)
        asked = await Asked.read(shelf, work, parse_qs(query_string.decode("latin-1"), keep_blank_values=True))
        if only is not None:
            asked.exact[shelf.resource.own] = only
        count, records = await asked.fetch(work, page)
        url = public_url(work.settings.base_url, exchange.path)
        kept = Answer(200, JSON, _encode(envelope(url, page, count, records)))
        memo.put(exchange.version, key, kept, size=len(kept.body))
    return kept


async def _create(shelf: Shelf, exchange: Exchange, caller: Caller) -> Answer:
    record = await verbs.create(shelf, exchange.work, caller, await read_object(exchange))
    where = f"{exchange.work.settings.base_url}{BASE}{shelf.resource.path}{record['pk']}/"
    return Answer(201, (*JSON, (b"location", where.encode())), _encode(record))


async def _read(shelf: Shelf, exchange: Exchange, caller: Caller, id: Any) -> Answer:
    """A secret is shown to those who may change the record and see secrets, and that is written down."""
    resource = shelf.resource
    sees_secrets = caller.may(resource.permission("change")) and caller.may("core.view_secret")
    record = await verbs.read(shelf, exchange.work, id, sees_secrets=sees_secrets)
    own = resource.own
    if own and record[own] != caller.id and not caller.may(resource.permission("view")):
        raise NotFound
    if sees_secrets:
        await verbs.record_view(exchange.work, caller, resource, record)
    return show(record)


async def _update(shelf: Shelf, exchange: Exchange, caller: Caller, id: Any) -> Answer:
    return show(await verbs.update(shelf, exchange.work, caller, id, await read_object(exchange), whole=True))


async def _partial_update(shelf: Shelf, exchange: Exchange, caller: Caller, id: Any) -> Answer:
    return show(await verbs.update(shelf, exchange.work, caller, id, await read_object(exchange), whole=False))


async def _delete(shelf: Shelf, exchange: Exchange, caller: Caller, id: Any) -> Answer:
    await verbs.remove(shelf, exchange.work, caller, id)
    return Answer(204, (), b"")


_ITEM = {"read": _read, "update": _update, "partial_update": _partial_update, "delete": _delete}
