"""/auth/confirmation: where apps and old mails lead whoever confirms an address; the page itself is elsewhere."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from litestar import Request, get
from litestar.response.base import ASGIResponse

from kith.base.errors import NotFound
from kith.base.params import read_form
from kith.web.pages import see_other

AnyRequest = Request[Any, Any, Any]


@get("/auth/confirmation")
async def show_confirmation(request: AnyRequest) -> ASGIResponse:
    key = str(read_form(request.scope["query_string"]).get("confirmation_token", ""))[:200]
    if not key:
        raise NotFound
    return see_other(f"/confirm/{quote(key, safe='')}")


routes = [show_confirmation]
