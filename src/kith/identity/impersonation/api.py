"""Actions beside /core/users/: starting and ending an impersonation."""

from __future__ import annotations

from kith.base import csrf
from kith.base.errors import Forbidden, Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.keys import Keys
from kith.identity.caller import ApiCaller
from kith.identity.impersonation import service as impersonation
from kith.identity.rest import Action
from kith.identity.rest.body import read_object
from kith.identity.users import store


async def start(exchange: Exchange, _caller: ApiCaller, id: str) -> Answer:
    """Only with a session: an impersonation is a property of the session."""
    if exchange.header(b"authorization"):
        raise Forbidden("This needs a session: sign in with a browser.")
    if not id.isdecimal() or len(id) > 9:
        raise NotFound
    reason = (await read_object(exchange)).get("reason")
    if not isinstance(reason, str):
        raise Invalid(reason="This field is required." if reason is None else "Not a valid string.")
    login = await store.find_login_by_id(exchange.work.db, int(id))
    if login is None:
        raise NotFound
    return Answer(204, await impersonation.start(exchange, login.username, reason), b"")


async def end(exchange: Exchange, _caller: ApiCaller, _id: str) -> Answer:
    """The API has it as a GET too. That needs the token of our pages, so that no link or picture elsewhere ends it."""
    if exchange.method == "GET" and exchange.acting is not None:
        csrf.check(exchange, exchange.find(Keys).session, None)
    return Answer(204, await impersonation.end(exchange), b"")


ACTIONS = (
    Action(
        method="POST",
        path="/core/users/{id}/impersonate/",
        name="core_users_impersonate",
        handler=start,
        permission=None,
        status=204,
        body="Impersonation",
        summary="See the server as this person; for owners, in a session.",
    ),
    *(
        Action(
            method=method,
            path="/core/users/impersonate_end/",
            name=f"core_users_impersonate_end_{method.lower()}",
            handler=end,
            permission=None,
            status=204,
            summary="Be oneself again.",
        )
        for method in ("GET", "POST")
    ),
)
