"""Where a handler's parameters come from. Each says so in its annotation; nothing is guessed from its name.

exchange: Exchange      the request itself
work: Work              its transaction
id: FromPath[StatusId]  a gap of the path template, of the same name; what is no id is not found
page: FromQuery[Page]   a struct, from the query string
draft: FromRequest[New] a struct, from the query string and the body, whatever its encoding; the body wins
me: Me                  Annotated[AccountId, Provided(find_me)]: what a function finds out from the exchange
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import CodeType
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from kith.base.errors import NotFound
from kith.base.exchange import Exchange
from kith.base.params import LIMITS, BodyLimits, fill, read_body, read_form
from kith.base.params.fill import plan_of, takes_files
from kith.base.work import Work

__all__ = [
    "FromPath",
    "FromQuery",
    "FromRequest",
    "Parameter",
    "Provided",
    "RequestBody",
    "ServerPart",
    "number",
    "parameters_of",
]

T = TypeVar("T")
Read = Callable[[Exchange], Any]
_GAP = re.compile(r"\{([a-z_]+)(?::path)?\}")
WRITTEN_OUT = 6 * 1024 * 1024  # of text, where a picture may be part of it
_LARGEST_ID = (1 << 63) - 1


class Parameter(NamedTuple):
    """`place` and `kind` are for descriptions of the API: where it comes from, and what it is."""

    name: str
    read: Read
    is_async: bool
    place: str = ""
    kind: Any = None


class ParameterSource:
    """One place that parameters come from."""

    def bind(self, name: str, kind: Any, template: str) -> Parameter:
        raise NotImplementedError


class Provided(ParameterSource):
    """What `provide` finds out from the exchange, at once or after a while."""

    def __init__(self, provide: Callable[[Exchange], Any]) -> None:
        self._provide = provide

    def bind(self, name: str, kind: Any, template: str) -> Parameter:  # noqa: ARG002
        return Parameter(name, self._provide, inspect.iscoroutinefunction(self._provide))


class _Path(ParameterSource):
    def bind(self, name: str, kind: Any, template: str) -> Parameter:
        gaps = _GAP.findall(template)
        if name not in gaps:
            raise TypeError(f"{template} has no gap {name}")
        place = gaps.index(name)
        while hasattr(kind, "__supertype__"):  # a NewType
            kind = kind.__supertype__
        if kind is int:
            return Parameter(name, lambda exchange: number(exchange.path_values[place]), False, "path", int)
        return Parameter(name, lambda exchange: exchange.path_values[place], False, "path", str)


class _Query(ParameterSource):
    def bind(self, name: str, kind: Any, template: str) -> Parameter:  # noqa: ARG002
        plan_of(kind)
        return Parameter(
            name, lambda exchange: fill(kind, read_form(exchange.query_string, LIMITS)), False, "query", kind
        )


class RequestBody(ParameterSource):
    """From the query string and the body; files are kept only for a struct that has a place for them."""

    def __init__(self, limits: BodyLimits = LIMITS) -> None:
        self._limits = limits

    def bind(self, name: str, kind: Any, template: str) -> Parameter:  # noqa: ARG002
        plan_of(kind)
        changes = {"max_bytes": WRITTEN_OUT} if takes_files(kind) else {"max_files": 0}
        limits = replace(self._limits, **changes)

        async def read(exchange: Exchange) -> Any:
            raw = read_form(exchange.query_string, limits)
            raw.update(await read_body(exchange, limits))
            if "lang" in raw:
                exchange.scope["lang"] = raw["lang"]  # for whoever says what is wrong with the others
            return fill(kind, raw)

        return Parameter(name, read, True, "body", kind)


FromPath = Annotated[T, _Path()]
FromQuery = Annotated[T, _Query()]
FromRequest = Annotated[T, RequestBody()]

_OWN: dict[Any, Read] = {Exchange: lambda exchange: exchange, Work: lambda exchange: exchange.work}


def parameters_of(handler: Callable[..., Awaitable[Any]], template: str) -> tuple[Parameter, ...]:
    """How each parameter of `handler` is read; one that does not say where it comes from is a TypeError."""
    return tuple(_parameter(name, hint, template) for name, hint in _hints_of(handler))


_hints: dict[CodeType, list[tuple[str, Any]]] = {}  # handlers that one function makes are declared alike


def _hints_of(handler: Callable[..., Awaitable[Any]]) -> list[tuple[str, Any]]:
    """The handler's parameters in their order, each with its annotation."""
    code = None if hasattr(handler, "__wrapped__") else getattr(handler, "__code__", None)
    found = None if code is None else _hints.get(code)
    if found is None:
        hints = get_type_hints(handler, include_extras=True)
        found = [(name, hints[name]) for name in inspect.signature(handler).parameters]
        if code is not None:
            _hints[code] = found
    return found


def _parameter(name: str, hint: Any, template: str) -> Parameter:
    if hint in _OWN:
        return Parameter(name, _OWN[hint], is_async=False)
    if get_origin(hint) is Annotated:
        kind, *marks = get_args(hint)
        for mark in marks:
            if isinstance(mark, ParameterSource):
                return mark.bind(name, kind, template)
    raise TypeError(f"the parameter {name} of {template} does not say where it comes from")


def number(text: str) -> int:
    """An id from a path; what is none names nothing."""
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and int(text) <= _LARGEST_ID):
        raise NotFound
    return int(text)


class ServerPart(ParameterSource):
    """One of the server's own parts, by its type."""

    def __init__(self, kind: type) -> None:
        self._kind = kind

    def bind(self, name: str, kind: Any, template: str) -> Parameter:  # noqa: ARG002
        part = self._kind
        return Parameter(name, lambda exchange: exchange.find(part), is_async=False)
