"""The end-session endpoint, and front-channel logout in the browser."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from kith.base.errors import Malformed, NotFound
from kith.base.exchange import Exchange
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.executor.default_flows import find_default
from kith.identity.executor.flow_run import MOST_IN_VALUE
from kith.identity.flows.plan import slug_of
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.claims import claims
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.grants import visits
from kith.identity.providers.oauth2.keys import signing as keys
from kith.identity.providers.oauth2.logout import propagation
from kith.identity.providers.oauth2.logout.front_channel import address_of, is_front, told_in_browser
from kith.identity.sessions import cookies
from kith.identity.sessions import store as session_store

PLACE = "oauth2.logout"
END = "/application/o/end-session/"
MOST_IN_STATE = 500
MOST_FRAMES = 20


# Asked for by a client


class Then(msgspec.Struct, frozen=True, kw_only=True):
    """What follows after signing out; sealed, it travels in the URL."""

    to: str
    session_uuid: str = ""
    client_id: str = ""
    front: list[tuple[str, str]] = []  # clients, and what each knows the session by


class SignOut(msgspec.Struct, frozen=True):
    """Sign out by this flow, then go to `then`; at once if the request proves that it comes from this session."""

    flow: str
    then: str
    at_once: bool


class Go(msgspec.Struct, frozen=True):
    """Signed out; `frames` are the front-channel logout URLs to load.

    Without `to` a page of ours says so; `left` is the application that was left, where they are still signed in here.
    """

    to: str
    frames: list[str] = []
    left: str = ""


async def end_session(exchange: Exchange, sent: dict[str, str], slug: str | None) -> SignOut | Go:
    work = exchange.work
    if "then" in sent:
        return await _after(work, sent["then"])
    client = await clients.find_by_slug(work, slug) if slug is not None else None
    if slug is not None and client is None:
        raise NotFound
    client, hint = await _read_hint(work, client, sent)
    to = _destination(client if hint else None, sent)
    session = await cookies.find(exchange)
    if session is None or session.user_id is None:
        return Go(to)
    flow = await slug_of(work, client.invalidation_flow) if client is not None and client.invalidation_flow else None
    flow = flow or await find_default(exchange, "invalidation")
    if flow is None:
        raise NotFound("There is no way to sign out here")
    then = Then(
        to=to,
        session_uuid=session.session_uuid,
        client_id=client.client_id if client is not None else "",
        front=await _front(work, session.session_uuid),
    )
    return SignOut(flow, _sealed(work, then), await _is_own(work, hint, session.session_uuid))


async def _is_own(work: Work, hint: dict[str, Any], session_uuid: str) -> bool:
    """Whether an ID token was issued in this session, or in one that it was renewed from."""
    told = hint.get("sid")
    if told is None or told == claims.session_id(session_uuid):
        return told is not None
    return any(claims.sid_of(grant) == told for grant in await store.grants_of_session(work.db, session_uuid))


async def _read_hint(work: Work, client: Client | None, sent: dict[str, str]) -> tuple[Client | None, dict[str, Any]]:
    """The client that the `id_token_hint` was issued for; None without a valid one."""
    hint, named = sent.get("id_token_hint"), sent.get("client_id")
    if hint is None:
        if client is None and named:
            client = await clients.find(work, named)
        return client, {}
    try:
        audience = keys.read_unchecked(hint).get("aud")
        found = await clients.find(work, audience) if isinstance(audience, str) else None
        if found is None or found.is_social or (client is not None and client.provider_id != found.provider_id):
            raise keys.BadToken("not for this client")
        if named and named != found.client_id:
            raise keys.BadToken("not for this client")
        return found, await keys.verify(work, found, hint)
    except keys.BadToken as error:
        raise Malformed("The id_token_hint is not a token of this application") from error


def _destination(proven: Client | None, sent: dict[str, str]) -> str:
    uri, state = sent.get("post_logout_redirect_uri"), sent.get("state", "")
    if not uri:
        return ""
    if proven is None:
        raise Malformed("post_logout_redirect_uri needs an id_token_hint")
    if uri not in proven.post_logout_redirect_uris:
        raise Malformed("post_logout_redirect_uri is not registered for this application")
    if len(state) > MOST_IN_STATE:
        raise Malformed("state is too long")
    if proven.is_suspended:
        return ""  # they are signed out all the same
    return f"{uri}{'&' if '?' in uri else '?'}{urlencode({'state': state})}" if state else uri


async def _after(work: Work, sealed: str) -> Go:
    try:
        then = msgspec.json.decode(work.find(Sealer).open(sealed, PLACE), type=Then)
    except (ValueError, msgspec.DecodeError) as error:
        raise Malformed("This link is not valid") from error
    left = await _end(work, then)
    frames = []
    for client_id, sid in then.front:
        client = await clients.find(work, client_id)
        if client is not None and is_front(client):
            await told_in_browser(work, client_id, sid)
            frames.append(address_of(work, client, sid))
    return Go(then.to, frames, left)


async def _end(work: Work, then: Then) -> str:
    """Tell the clients at once. If the flow ended no session, only this client's grants end: the answer is its name."""
    if not then.session_uuid:
        return ""
    if not await session_store.is_there(work.db, then.session_uuid):
        await propagation.session_ended(work, then.session_uuid)
        return ""
    for grant in await store.grants_of_session(work.db, then.session_uuid):
        if grant.client_id == then.client_id:
            await propagation.end_in_session(work, grant)
    seen = await visits.of_session(work, then.session_uuid)
    await visits.take(work, [visit for visit in seen if visit.client_id == then.client_id])
    client = await clients.find(work, then.client_id)
    return client.name if client is not None else ""


async def front_channel(exchange: Exchange) -> Then | None:
    """The clients to notify in the browser before somebody signs out on our pages; None if there are none."""
    session = await cookies.find(exchange)
    front = await _front(exchange.work, session.session_uuid) if session is not None else []
    return Then(to="", session_uuid=session.session_uuid, front=front) if session is not None and front else None


def by_front_channel(exchange: Exchange, then: Then, to: str) -> str:
    """A page that loads the clients' logout URLs and goes on to `to`."""
    if to.startswith(END):
        return to
    return _sealed(exchange.work, msgspec.structs.replace(then, to=to))


def _sealed(work: Work, then: Then) -> str:
    """A link that a flow can carry. It names as many clients as fit; the server tells those that no browser tells."""
    then = msgspec.structs.replace(then, front=then.front[:MOST_FRAMES])
    while True:
        link = f"{END}?then={quote(work.find(Sealer).seal(msgspec.json.encode(then).decode(), PLACE), safe='')}"
        if len(link) <= MOST_IN_VALUE or not then.front:
            return link
        then = msgspec.structs.replace(then, front=then.front[:-1])


async def _front(work: Work, session_uuid: str) -> list[tuple[str, str]]:
    found = []
    for visit in await visits.of_session(work, session_uuid):
        client = await clients.find(work, visit.client_id)
        if client is not None and is_front(client):
            found.append((visit.client_id, visit.sid))
    return found
