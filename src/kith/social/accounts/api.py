from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from kith.base.edge import exchange_of
from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.params import query
from kith.base.work import Work
from kith.social.accounts import blank, finding, lines
from kith.social.accounts.entities import render_lines
from kith.social.guards import any_token, anyone, optional
from kith.social.pages import answer, joined, number, numbers

AnyRequest = Request[Any, Any, Any]
MOST_IDS = 40
PICTURE = {"Cache-Control": "public, max-age=604800", "Cross-Origin-Resource-Policy": "cross-origin"}


class Ids(msgspec.Struct, kw_only=True):
    id: list[str] = []


class Name(msgspec.Struct, kw_only=True):
    acct: str = ""


@get("/api/v1/accounts", guards=[optional("read:accounts")], dependencies={"asked": query(Ids)})
async def show_accounts(request: AnyRequest, work: NamedDependency[Work], asked: NamedDependency[Ids]) -> ASGIResponse:
    """Those that are there."""
    ids = numbers(asked.id)
    if len(ids) > MOST_IDS:
        raise Invalid(fields={"id": [Complaint(f"has too many elements (maximum is {MOST_IDS})", "too_many")]})
    rows = await work.db.all(lines.by_ids, ids=ids)
    return answer(exchange_of(request), joined(await render_lines(work, rows)))


@get("/api/v1/accounts/{id:str}", guards=[optional("read:accounts")])
async def show_account(request: AnyRequest, work: NamedDependency[Work], id: FromPath[str]) -> ASGIResponse:
    [shown] = await render_lines(work, [await finding.line_of(work, number(id))])
    return answer(exchange_of(request), shown)


@get("/api/v1/accounts/lookup", guards=[optional("read:accounts")], dependencies={"asked": query(Name)})
async def look_up(request: AnyRequest, work: NamedDependency[Work], asked: NamedDependency[Name]) -> ASGIResponse:
    [shown] = await render_lines(work, [await finding.line_named(work, asked.acct)])
    return answer(exchange_of(request), shown)


@get("/api/v1/accounts/{id:str}/identity_proofs", guards=[any_token])
async def show_proofs(request: AnyRequest, work: NamedDependency[Work], id: FromPath[str]) -> ASGIResponse:
    """A service that is no more: nobody has any."""
    await finding.line_of(work, number(id))
    return answer(exchange_of(request), b"[]", headers=((b"deprecation", b"@1648598400"),))


@post("/api/v1/accounts/{id:str}/email_subscriptions", guards=[anyone])
async def subscribe_by_mail(id: FromPath[str]) -> None:  # noqa: ARG001 - nobody offers it here
    raise NotFound("Not Found")


@get("/headers/original/missing.png")
async def show_no_header() -> Response[bytes]:
    return Response(blank.header(), media_type="image/png", headers=PICTURE)


routes = [
    show_accounts,
    show_account,
    look_up,
    show_proofs,
    subscribe_by_mail,
    show_no_header,
]
