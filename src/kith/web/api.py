"""The first administrator's set-up, and the style and the script that pages share."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import MediaType, Request, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from kith.base import csrf
from kith.base.edge import exchange_of
from kith.base.errors import Complaint, Invalid
from kith.base.keys import Keys
from kith.base.params import fill, read_body
from kith.base.work import Work
from kith.identity import face as identity
from kith.web.errors import wants_json
from kith.web.pages import NO_PICTURE, SCRIPT, STYLE, page

AnyRequest = Request[Any, Any, Any]


@get("/static/kith.css")
async def style() -> Response[bytes]:
    return Response(STYLE, media_type="text/css", headers={"Cache-Control": "public, max-age=3600"})


@get("/static/kith.js")
async def script() -> Response[bytes]:
    return Response(SCRIPT, media_type="text/javascript", headers={"Cache-Control": "public, max-age=3600"})


@get("/avatars/original/missing.png")
async def no_picture() -> Response[bytes]:
    """The picture of whoever has none."""
    headers = {"Cache-Control": "public, max-age=86400", "Access-Control-Allow-Origin": "*"}
    return Response(NO_PICTURE, media_type="image/png", headers=headers)


@get("/setup/{token:str}", media_type=MediaType.HTML)
async def show_setup(request: AnyRequest, work: NamedDependency[Work], token: FromPath[str]) -> ASGIResponse:
    await identity.check_setup(work, token)
    return _setup_page(request, fields={}, values={})


@post("/setup/{token:str}", status_code=201)
async def set_up(
    request: AnyRequest,
    work: NamedDependency[Work],
    keys: NamedDependency[Keys],
    passwords: NamedDependency[identity.Passwords],
    token: FromPath[str],
) -> ASGIResponse:
    """The form of the page, or the same fields as JSON; the link itself is what proves the right to."""
    sent = await read_body(request)
    as_json = wants_json(exchange_of(request))
    if not as_json:
        csrf.check(exchange_of(request), keys.session, str(sent.get("csrf", "")))
    try:
        owner = fill(identity.Owner, sent)
        if not as_json and sent.get("password_again") != owner.password:
            raise Invalid(fields={"password_again": [Complaint("The two passwords are not the same.", "differs")]})
        user = await identity.use_setup(work, passwords, token, owner)
    except Invalid as problem:
        if as_json:
            raise
        return _setup_page(request, fields=problem.fields, values=sent)
    if as_json:
        made = {"id": user.id, "pk": user.id, "username": user.username, "role": user.role}
        return ASGIResponse(body=msgspec.json.encode(made), media_type=MediaType.JSON, status_code=201)
    return page(exchange_of(request), "setup_done.html", status=201, username=user.username)


def _setup_page(request: AnyRequest, *, fields: dict[str, list[str]], values: dict[str, object]) -> ASGIResponse:
    return page(
        exchange_of(request),
        "setup.html",
        status=400 if fields else 200,
        errors=fields,
        focus=next(iter(fields), None),
        values={name: str(values.get(name, "")) for name in ("username", "name", "email")},
    )


routes = [style, script, no_picture, show_setup, set_up]
