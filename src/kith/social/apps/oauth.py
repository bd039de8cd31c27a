"""The doors of the OAuth engine that Mastodon's clients know; what is behind them is the same for everybody."""

from __future__ import annotations

import msgspec

from kith.base.exchange import JSON, Answer, Exchange, Headers
from kith.base.params import read_body, read_form
from kith.base.routing import get, post
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts.user_accounts import of_user
from kith.social.apps.entities import UserInfo, render_token, render_userinfo
from kith.social.guards import Member, TheMember, anyone, user

NO_STORE: Headers = ((b"cache-control", b"no-store"), (b"pragma", b"no-cache"))
NOT_THEIRS = {"error": "unauthorized_client", "error_description": "You are not authorized to revoke this token"}


@post("/oauth/token", status=200, guards=[anyone])
async def give_token(exchange: Exchange) -> Answer:
    try:
        told = await identity.answer_token(exchange, await _sent(exchange), social=True)
    except identity.OAuthError as error:
        return _answer(error.body(), error.status, error.headers)
    return _answer(render_token(told))


@post("/oauth/revoke", status=200, guards=[anyone])
async def revoke_token(exchange: Exchange, work: Work) -> Answer:
    """A token that is none, or none any more, is as good as revoked."""
    sent = await _sent(exchange)
    try:
        client = await identity.client_of(exchange, sent)
    except identity.OAuthError:
        return _answer(NOT_THEIRS, 403)
    if sent.get("token") and not await identity.revoke_oauth_token(work, client, sent["token"]):
        return _answer(NOT_THEIRS, 403)
    return _answer({})


@get("/oauth/userinfo", guards=[user("profile")])
async def show_userinfo(work: Work, me: TheMember) -> UserInfo:
    return await _userinfo(work, me)


@post("/oauth/userinfo", status=200, guards=[user("profile")])
async def ask_userinfo(work: Work, me: TheMember) -> UserInfo:
    return await _userinfo(work, me)


async def _userinfo(work: Work, me: Member) -> UserInfo:
    return render_userinfo(work, await of_user(work, me.id))


async def _sent(exchange: Exchange) -> dict[str, str]:
    """JSON, a form or multipart, and what the address has besides; the engine reads text."""
    raw = read_form(exchange.query_string)
    raw.update(await read_body(exchange))
    return {name: str(value) for name, value in raw.items() if isinstance(value, str | int) and value != ""}


def _answer(body: object, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    given = tuple((name.lower().encode(), value.encode()) for name, value in (headers or {}).items())
    return Answer(status, (*JSON, *NO_STORE, *given), msgspec.json.encode(body))


routes = [give_token, revoke_token, show_userinfo, ask_userinfo]
