"""The link that always lets its owner in."""

from __future__ import annotations

from typing import Any

from litestar import Request, get
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from kith.base.edge import exchange_of
from kith.identity import face as identity


@get("/recovery/use-token/{key:str}")
async def use_link(request: Request[Any, Any, Any], key: FromPath[str]) -> ASGIResponse:
    session = await identity.use_recovery(exchange_of(request), key)
    return ASGIResponse(
        status_code=303,
        headers={"Location": "/settings/security", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"},
        encoded_headers=session,
    )


routes = [use_link]
