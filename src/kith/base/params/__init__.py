"""What a client sent, read once into a typed value.

`params(Draft)` takes the query string and a body in JSON, form or multipart encoding; `query(Filter)` takes
the query string alone. Both are dependencies of a route:

    @post("/api/v1/statuses", dependencies={"draft": params(Draft)})
    async def post_status(draft: NamedDependency[Draft]) -> Status: ...
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
from litestar import Request
from litestar.di import Provide

from kith.base.params.body import parse_json, read_body, read_json
from kith.base.params.fill import fill, plan_of, takes_files
from kith.base.params.limits import LIMITS, Limits
from kith.base.params.loose import Loose
from kith.base.params.nesting import nest, read_form
from kith.base.params.upload import Upload

__all__ = [
    "LIMITS",
    "Limits",
    "Loose",
    "Upload",
    "fill",
    "nest",
    "params",
    "parse_json",
    "query",
    "read_body",
    "read_form",
    "read_json",
]


WRITTEN_OUT = 6 * 1024 * 1024  # of text, where a picture may be part of it


def params(kind: type[msgspec.Struct], limits: Limits = LIMITS) -> Provide:
    """Provide a `kind` from query string and body; where both name a parameter, the body wins.

    Files are kept only for a `kind` that has a place for them. A parameter `lang` is left in the scope, for whoever
    says what is wrong with the others.
    """
    plan_of(kind)
    bounds = replace(limits, max_bytes=WRITTEN_OUT) if takes_files(kind) else replace(limits, max_files=0)

    async def read(request: Request[Any, Any, Any]) -> Any:
        raw = read_form(request.scope["query_string"], bounds)
        raw.update(await read_body(request, bounds))
        if "lang" in raw:
            request.scope["lang"] = raw["lang"]  # type: ignore[typeddict-unknown-key]
        return fill(kind, raw)

    return Provide(read)


def query(kind: type[msgspec.Struct], limits: Limits = LIMITS) -> Provide:
    """Provide a `kind` from the query string."""
    plan_of(kind)

    def read(request: Request[Any, Any, Any]) -> Any:
        return fill(kind, read_form(request.scope["query_string"], limits))

    return Provide(read, sync_to_thread=False)
