"""The doors of the OAuth engine that Mastodon's clients know; what is behind them is the same for everybody."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import MediaType, Request, Response, get, post
from litestar.di import NamedDependency

from kith.base.edge import exchange_of
from kith.base.params import read_body, read_form
from kith.base.work import Work
from kith.identity import face as identity
from kith.social.accounts.faces import of_user
from kith.social.apps.entities import UserInfo, render_token, render_userinfo
from kith.social.guards import Member, anyone, user

AnyRequest = Request[Any, Any, Any]
NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}
NOT_THEIRS = {"error": "unauthorized_client", "error_description": "You are not authorized to revoke this token"}


@post("/oauth/token", status_code=200, guards=[anyone])
async def give_token(request: AnyRequest) -> Response[bytes]:
    try:
        told = await identity.answer_token(exchange_of(request), await _sent(request), social=True)
    except identity.OAuthError as error:
        return _answer(error.body(), error.status, error.headers)
    return _answer(render_token(told))


@post("/oauth/revoke", status_code=200, guards=[anyone])
async def revoke_token(request: AnyRequest, work: NamedDependency[Work]) -> Response[bytes]:
    """A token that is none, or none any more, is as good as revoked."""
    sent = await _sent(request)
    try:
        client = await identity.client_of(exchange_of(request), sent)
    except identity.OAuthError:
        return _answer(NOT_THEIRS, 403)
    if sent.get("token") and not await identity.revoke_oauth_token(work, client, sent["token"]):
        return _answer(NOT_THEIRS, 403)
    return _answer({})


@get("/oauth/userinfo", guards=[user("profile")])
async def show_userinfo(work: NamedDependency[Work], me: NamedDependency[Member]) -> UserInfo:
    return await _userinfo(work, me)


@post("/oauth/userinfo", status_code=200, guards=[user("profile")])
async def ask_userinfo(work: NamedDependency[Work], me: NamedDependency[Member]) -> UserInfo:
    return await _userinfo(work, me)


async def _userinfo(work: Work, me: Member) -> UserInfo:
    return render_userinfo(work, await of_user(work, me.id))


async def _sent(request: AnyRequest) -> dict[str, str]:
    """JSON, a form or multipart, and what the address has besides; the engine reads text."""
    raw = read_form(request.scope["query_string"])
    raw.update(await read_body(request))
    return {name: str(value) for name, value in raw.items() if isinstance(value, str | int) and value != ""}


def _answer(body: object, status: int = 200, headers: dict[str, str] | None = None) -> Response[bytes]:
    return Response(
        msgspec.json.encode(body), status_code=status, headers=NO_STORE | (headers or {}), media_type=MediaType.JSON
    )


routes = [give_token, revoke_token, show_userinfo, ask_userinfo]
