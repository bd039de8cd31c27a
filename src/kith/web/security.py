"""/settings/security: one's own password, sessions, keys and trail."""

from __future__ import annotations

from typing import Any

from litestar import Request, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from kith.base import csrf
from kith.base.edge import exchange_of
from kith.base.keys import Keys
from kith.base.params import read_body
from kith.base.work import Work
from kith.identity import face as identity
from kith.web.devices import device_of
from kith.web.pages import page, see_other
from kith.web.start import shown
from kith.web.words import translate

AnyRequest = Request[Any, Any, Any]
HERE = "/settings/security"
SIGN_IN = f"/flows/-/default/authentication/?next={HERE}"
MOST_CHARACTERS = 200
_ACTIONS = {
    "login": "Signed in",
    "login_failed": "A sign-in failed",
    "logout": "Signed out, or a session was ended",
    "password_set": "Password changed",
    "user_write": "Account details written",
    "flow_denied": "A step was refused",
    "model_created": "Something was made",
    "model_updated": "Something was changed",
    "model_deleted": "Something was deleted",
    "authorize_application": "An application was let in",
    "authorization_refused": "An application was not let in",
    "revoke_token": "An application was shut out",
    "policy_exception": "A policy could not decide",
}


@get(HERE)
async def show_security(request: AnyRequest, work: NamedDependency[Work]) -> ASGIResponse:
    visitor = await identity.find_visitor(exchange_of(request))
    return see_other(SIGN_IN) if visitor is None else await _page(request, work, visitor)


@post(f"{HERE}/sessions/{{id:str}}/end")
async def end_session(request: AnyRequest, work: NamedDependency[Work], id: FromPath[str]) -> ASGIResponse:
    visitor, _ = await _sent(request)
    if visitor is not None:
        await identity.end_session(work, visitor, id)
    return see_other(f"{HERE}#sessions")


@post(f"{HERE}/sessions/end-others")
async def end_other_sessions(request: AnyRequest, work: NamedDependency[Work]) -> ASGIResponse:
    visitor, _ = await _sent(request)
    if visitor is not None:
        await identity.end_other_sessions(work, visitor)
    return see_other(f"{HERE}#sessions")


@post(f"{HERE}/app-passwords")
async def make_app_password(request: AnyRequest, work: NamedDependency[Work]) -> ASGIResponse:
    """The answer is the one place where the new key is ever shown, so it is the page itself."""
    visitor, sent = await _sent(request)
    if visitor is None:
        return see_other(SIGN_IN)
    name = str(sent.get("description", "")).strip()
    if not name or len(name) > MOST_CHARACTERS:
        words = "Say what it is for." if not name else "This is too long."
        return await _page(request, work, visitor, status=400, wrong=[words])
    key = await identity.make_app_password(work, visitor, name)
    return await _page(request, work, visitor, status=201, key=key)


@post(f"{HERE}/tokens/{{id:str}}/revoke")
async def revoke_token(request: AnyRequest, work: NamedDependency[Work], id: FromPath[str]) -> ASGIResponse:
    visitor, _ = await _sent(request)
    if visitor is not None:
        await identity.revoke_token(work, visitor, id)
    return see_other(f"{HERE}#keys")


async def _sent(request: AnyRequest) -> tuple[identity.Visitor | None, dict[str, Any]]:
    """Who sends a form, and the form, which must be one of ours."""
    exchange = exchange_of(request)
    sent = await read_body(request)
    csrf.check(exchange, exchange.find(Keys).session, str(sent.get("csrf", "")))
    return await identity.find_visitor(exchange), sent


async def _page(
    request: AnyRequest, work: Work, visitor: identity.Visitor, *, status: int = 200, key: str | None = None,
    wrong: list[str] | None = None,
) -> ASGIResponse:  # fmt: skip
    return page(
        exchange_of(request), "security.html", status=status, visitor=visitor, here="security", key=key,
        wrong=wrong or [], sessions=await identity.list_sessions(work, visitor),
        tokens=await identity.list_tokens(work, visitor), events=await identity.list_events(work, visitor),
        messages=shown(await identity.take_messages(work, visitor.user.id)), device_of=device_of, action_of=_action_of,
    )  # fmt: skip


def _action_of(event: identity.Event) -> str:
    return translate(_ACTIONS.get(event.action, event.action.replace("_", " ").capitalize()))


routes = [show_security, end_session, end_other_sessions, make_app_password, revoke_token]
