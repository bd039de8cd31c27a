"""The pages there are so far: a welcome, the first administrator's set-up, and the style they share."""

from __future__ import annotations

from typing import Any

from litestar import MediaType, Request, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from kith.base import csrf
from kith.base.edge import exchange_of
from kith.base.errors import Complaint, Invalid
from kith.base.keys import Keys
from kith.base.params import fill, read_body
from kith.base.work import Work
from kith.identity import face as identity
from kith.web.errors import wants_json
from kith.web.pages import STYLE, form_page, render

AnyRequest = Request[Any, Any, Any]


@get("/", media_type=MediaType.HTML)
async def welcome(work: NamedDependency[Work]) -> str:
    settings = work.settings
    members = await identity.count_members(work)
    return render("welcome.html", title=settings.title, description=settings.description, members=members)


@get("/static/kith.css")
async def style() -> Response[bytes]:
    return Response(STYLE, media_type="text/css; charset=utf-8", headers={"Cache-Control": "public, max-age=3600"})


@get("/setup/{token:str}")
async def show_setup(
    request: AnyRequest,
    work: NamedDependency[Work],
    keys: NamedDependency[Keys],
    token: FromPath[str],
) -> Response[str]:
    await identity.check_setup(work, token)
    return _setup_page(request, work, keys, fields={}, values={})


@post("/setup/{token:str}", status_code=201)
async def set_up(
    request: AnyRequest,
    work: NamedDependency[Work],
    keys: NamedDependency[Keys],
    passwords: NamedDependency[identity.Passwords],
    token: FromPath[str],
) -> Response[str] | Response[dict[str, object]]:
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
        return _setup_page(request, work, keys, fields=problem.fields, values=sent)
    if as_json:
        return Response({"id": user.id, "pk": user.id, "username": user.username, "role": user.role}, status_code=201)
    return Response(render("setup_done.html", username=user.username), media_type=MediaType.HTML, status_code=201)


def _setup_page(
    request: AnyRequest,
    work: Work,
    keys: Keys,
    *,
    fields: dict[str, list[str]],
    values: dict[str, object],
) -> Response[str]:
    return form_page(
        exchange_of(request), "setup.html", keys.session, secure=work.settings.base_url.startswith("https"),
        status=400 if fields else 200, title=work.settings.title, fields=fields,
        values={name: str(values.get(name, "")) for name in ("username", "name", "email")},
    )  # fmt: skip


routes = [welcome, style, show_setup, set_up]
