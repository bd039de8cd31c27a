from __future__ import annotations

import msgspec

from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.exchange import Answer, Exchange, Headers, whole
from kith.base.routing import FromPath, FromQuery, get, post
from kith.base.work import Work
from kith.social.accounts import default_header, lines, lookup
from kith.social.accounts.directory import Directory
from kith.social.accounts.entities import render_lines
from kith.social.accounts.viewers import Viewer
from kith.social.guards import any_token, anyone, optional
from kith.social.ids import AccountId
from kith.social.pages import answer, joined, numbers

MOST_IDS = 40
PICTURE: Headers = (
    (b"cache-control", b"public, max-age=604800"),
    (b"cross-origin-resource-policy", b"cross-origin"),
)


class AccountIds(msgspec.Struct, kw_only=True):
    id: list[str] = []


class Name(msgspec.Struct, kw_only=True):
    acct: str = ""


@get("/api/v1/accounts", guards=[optional("read:accounts")])
async def show_accounts(exchange: Exchange, work: Work, asked: FromQuery[AccountIds]) -> Answer:
    """Those that are there."""
    ids = numbers(asked.id)
    if len(ids) > MOST_IDS:
        raise Invalid(fields={"id": [Complaint(f"has too many elements (maximum is {MOST_IDS})", "too_many")]})
    rows = await work.db.all(lines.by_ids, ids=ids)
    return answer(exchange, joined(await render_lines(work, rows)))


@get("/api/v1/accounts/{id}", guards=[optional("read:accounts")])
async def show_account(exchange: Exchange, work: Work, viewer: Viewer, id: FromPath[AccountId]) -> Answer:
    row = await lookup.line_of(work, id)
    [shown] = await render_lines(work, [row])
    if viewer is not None and row.domain:
        await work.find(Directory).opened(work, id)  # type: ignore[type-abstract]
    return answer(exchange, shown)


@get("/api/v1/accounts/lookup", guards=[optional("read:accounts")])
async def look_up(exchange: Exchange, work: Work, asked: FromQuery[Name]) -> Answer:
    [shown] = await render_lines(work, [await lookup.line_named(work, asked.acct)])
    return answer(exchange, shown)


@get("/api/v1/accounts/{id}/identity_proofs", guards=[any_token])
async def show_proofs(exchange: Exchange, work: Work, id: FromPath[AccountId]) -> Answer:
    """A service that is no more: nobody has any."""
    await lookup.line_of(work, id)
    return answer(exchange, b"[]", headers=((b"deprecation", b"@1648598400"),))


@post("/api/v1/accounts/{id}/email_subscriptions", guards=[anyone])
async def subscribe_by_mail(id: FromPath[str]) -> None:  # noqa: ARG001 - nobody offers it here
    raise NotFound("Not Found")


@get("/headers/original/missing.png")
async def show_no_header() -> Answer:
    return whole(default_header.header(), "image/png", headers=PICTURE)


routes = [
    show_accounts,
    show_account,
    look_up,
    show_proofs,
    subscribe_by_mail,
    show_no_header,
]
