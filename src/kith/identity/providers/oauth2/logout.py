"""Signing out by a client, and telling clients that somebody signed out.

A session may end in many ways. Whoever ends one announces it; what nobody announced is found by looking for grants
whose session is gone. Clients are told on the back channel by a job, on the front channel by the browser that left.
"""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import msgspec
from sqlalchemy import and_, bindparam, select, update

from kith.base.db import UID, Document, command, query
from kith.base.errors import Malformed, NotFound
from kith.base.exchange import Exchange
from kith.base.http import Outgoing, OutgoingError
from kith.base.jobs import Give, Kind
from kith.base.jobs.tables import DEAD, jobs
from kith.base.work import Work
from kith.identity.executor.choosing import find_default
from kith.identity.executor.flow_links import slug_of
from kith.identity.providers.oauth2 import claims, clients, keys, service, store
from kith.identity.providers.oauth2.clients import Client
from kith.identity.providers.oauth2.scopes import split
from kith.identity.providers.oauth2.tables import Grant, grants
from kith.identity.sealing import Sealer
from kith.identity.sessions import cookies
from kith.identity.sessions.service import SessionEnded, SessionRenewed
from kith.identity.sessions.tables import sessions
from kith.identity.users import store as users
from kith.identity.users.service import UserChanged

PLACE = "oauth2.logout"
END = "/application/o/end-session/"
EVENT = "http://schemas.openid.net/event/backchannel-logout"
TOKEN_SECONDS = 120
MOST_IN_STATE = 500
AT_ONCE = 200

_detach = command(
    update(grants)
    .where(grants.c.session_uuid == bindparam("session", type_=UID()))
    .values(session_uuid=None)
)  # fmt: skip
_renew = command(
    update(grants)
    .where(grants.c.grant_uuid == bindparam("grant", type_=UID()))
    .values(session_uuid=bindparam("new", type_=UID()), claims=bindparam("told", type_=Document()))
)
RENEWED_NAME = "identity.oauth_session_renewed"
_renewals = query(select(jobs.c.id).where(and_(jobs.c.kind == RENEWED_NAME, jobs.c.state != DEAD)).limit(1), int)
_is_there = select(sessions.c.session_uuid).where(sessions.c.session_uuid == grants.c.session_uuid).exists()
_left = query(
    select(grants.c.session_uuid).where(and_(grants.c.session_uuid.is_not(None), ~_is_there)).distinct().limit(AT_ONCE),
    str,
)


# Asked for by a client


class Then(msgspec.Struct, frozen=True, kw_only=True):
    """What comes after signing out; sealed, it travels with the browser."""

    to: str
    session_uuid: str = ""
    client_id: str = ""
    front: list[tuple[int, str]] = []  # providers, and what each knows the session by


class SignOut(msgspec.Struct, frozen=True):
    """By this flow, then on to `then`; at once when the request proves that it comes from this very session."""

    flow: str
    then: str
    at_once: bool


class Go(msgspec.Struct, frozen=True):
    """Nothing is left to do here but `frames`, which tell the clients in the browser."""

    to: str
    frames: list[str] = []


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
        to=to, session_uuid=session.session_uuid, client_id=client.client_id if client is not None else "",
        front=await _front(work, session.session_uuid),
    )  # fmt: skip
    return SignOut(flow, _sealed(work, then), await _is_own(work, hint, session.session_uuid))


async def _is_own(work: Work, hint: dict[str, Any], session_uuid: str) -> bool:
    """Whether an ID token was made in this very session, or in one that this one goes on from."""
    told = hint.get("sid")
    if told is None or told == claims.session_id(session_uuid):
        return told is not None
    return any(claims.sid_of(grant) == told for grant in await store.grants_of_session(work.db, session_uuid))


async def _read_hint(work: Work, client: Client | None, sent: dict[str, str]) -> tuple[Client | None, dict[str, Any]]:
    """The client an ID token was made for, whose signature must be ours; without one, nothing is proven."""
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
        return "/"
    if proven is None:
        raise Malformed("post_logout_redirect_uri needs an id_token_hint")
    if uri not in proven.post_logout_redirect_uris:
        raise Malformed("post_logout_redirect_uri is not registered for this application")
    if len(state) > MOST_IN_STATE:
        raise Malformed("state is too long")
    return f"{uri}{'&' if '?' in uri else '?'}{urlencode({'state': state})}" if state else uri


async def _after(work: Work, sealed: str) -> Go:
    try:
        then = msgspec.json.decode(work.find(Sealer).open(sealed, PLACE), type=Then)
    except (ValueError, msgspec.DecodeError) as error:
        raise Malformed("This link is not valid") from error
    for grant in await store.grants_of_session(work.db, then.session_uuid):
        if grant.client_id == then.client_id and not _lasts(grant):
            await service.end_grant(work, grant)
    frames = []
    for provider_id, sid in then.front:
        client = await clients.find_by_provider(work, provider_id)
        if client is not None and _is_front(client):
            told = urlencode({"iss": client.issuer(work.settings.base_url), "sid": sid})
            frames.append(f"{client.logout_uri}{'&' if '?' in client.logout_uri else '?'}{told}")
    return Go(then.to, frames)


async def front_channel(exchange: Exchange) -> Then | None:
    """Before somebody signs out on our own pages: the clients their browser should tell; None where there are none."""
    session = await cookies.find(exchange)
    front = await _front(exchange.work, session.session_uuid) if session is not None else []
    return Then(to="", session_uuid=session.session_uuid, front=front) if session is not None and front else None


def by_front_channel(exchange: Exchange, then: Then, to: str) -> str:
    """The way to `to` that passes by those clients; who is on the way to them anyhow is left alone."""
    if to.startswith(END):
        return to
    return _sealed(exchange.work, msgspec.structs.replace(then, to=to))


def _sealed(work: Work, then: Then) -> str:
    return f"{END}?then={quote(work.find(Sealer).seal(msgspec.json.encode(then).decode(), PLACE), safe='')}"


async def _front(work: Work, session_uuid: str) -> list[tuple[int, str]]:
    found = await store.grants_of_session(work.db, session_uuid)
    sids = {grant.client_id: claims.sid_of(grant) or "" for grant in found}
    return [
        (client.provider_id, sids[client.client_id])
        for client in await _clients_of(work, found)
        if _is_front(client) and client.provider_id is not None
    ]


def _is_front(client: Client) -> bool:
    return client.logout_method == "frontchannel" and urlsplit(client.logout_uri).scheme in ("http", "https")


# Telling clients


class Tell(msgspec.Struct):
    client_id: str
    sub: str
    sid: str


async def session_ended(work: Work, session_uuid: str) -> None:
    """Its clients are told, and what they got in it ends, but for what was meant to last beyond it.

    May be called twice: nothing belongs to the session afterwards.
    """
    await work.db.hold(f"identity.oauth_session:{session_uuid}")
    found = await store.grants_of_session(work.db, session_uuid)
    if not found:
        return
    by_client = {grant.client_id: grant for grant in found}
    for client in await _clients_of(work, found):
        grant = by_client[client.client_id]
        user_id, sid = grant.user_id, claims.sid_of(grant) or ""
        user = await users.find_by_id(work.db, user_id) if user_id is not None else None
        if client.logout_uri and client.logout_method == "backchannel" and user is not None:
            work.enqueue(BACK_CHANNEL, Tell(client.client_id, claims.subject(work, client, user), sid))
    for grant in found:
        if not _lasts(grant):
            await service.end_grant(work, grant)
    await work.db.run(_detach, session=session_uuid)


def _lasts(grant: Grant) -> bool:
    """Apps on people's telephones, and whatever was asked to work while nobody is there."""
    return grant.provider_id is None or "offline_access" in split(grant.scopes)


async def _clients_of(work: Work, found: list[Grant]) -> list[Client]:
    names = dict.fromkeys(grant.client_id for grant in found if grant.provider_id is not None)
    return [client for name in names if (client := await clients.find(work, name)) is not None]


async def _on_session_renewed(work: Work, fact: SessionRenewed) -> None:
    """Nobody is logged out by signing in once more; each client goes on knowing the session as it did."""
    await work.db.hold(f"identity.oauth_session:{fact.old}")
    for grant in await store.grants_of_session(work.db, fact.old):
        told = grant.claims | {"sid": claims.sid_of(grant)}
        await work.db.run(_renew, grant=grant.grant_uuid, new=fact.new, told=told)


async def _on_session_ended(work: Work, fact: SessionEnded) -> None:
    await session_ended(work, fact.session_uuid)


class Look(msgspec.Struct):
    """For sessions that ended and nobody said so: those that ran out, or whose owner ended all at once."""


async def _look(work: Work, _payload: Look) -> None:
    if await work.db.one(_renewals) is not None:
        return  # whose grants are about to move
    for session_uuid in await work.db.all(_left):
        await session_ended(work, session_uuid)


async def _tell(work: Work, told: Tell) -> None:
    """A logout token (OpenID Connect Back-Channel Logout 1.0). What cannot be reached is tried again."""
    client = await clients.find(work, told.client_id)
    if client is None or not client.logout_uri or client.logout_method != "backchannel":
        return
    now = int(work.now.timestamp())
    token = await keys.sign(
        work,
        client,
        {
            "iss": client.issuer(work.settings.base_url), "aud": client.client_id, "iat": now,
            "exp": now + TOKEN_SECONDS, "jti": str(uuid.uuid4()), "events": {EVENT: {}}, "sub": told.sub,
            "sid": told.sid,
        },
        typ="logout+jwt",
    )  # fmt: skip
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Cache-Control": "no-store"}
    try:
        answer = await work.find(Outgoing).request(
            "POST", client.logout_uri, headers=headers, body=urlencode({"logout_token": token}).encode(),
            max_bytes=64 * 1024, max_redirects=0,
        )  # fmt: skip
    except OutgoingError as error:
        raise Give(f"{client.client_id} could not be told: {error}", later=RETRY) from error
    if answer.status >= 500 or answer.status == 429:
        raise Give(f"{client.client_id} answered {answer.status}", later=RETRY)
    if answer.status >= 300:
        raise Give.up(f"{client.client_id} answered {answer.status}")


RETRY = timedelta(seconds=30)


# What ends when people change


async def _on_user_changed(work: Work, fact: UserChanged) -> None:
    """Who may not act any more has let nobody act for them; a new password ends what apps got with the old one."""
    user = await users.find_by_id(work.db, fact.user_id)
    if user is None:
        return
    for grant in await store.grants_of_user(work.db, user.id):
        changed_at = user.password_changed_at
        is_old = grant.provider_id is None and changed_at is not None and grant.created_at < changed_at
        if not user.is_active or is_old:
            await service.end_grant(work, grant)


SESSION_ENDED: Kind[SessionEnded] = Kind(
    name="identity.oauth_session_ended", payload=SessionEnded, handler=_on_session_ended
)
SESSION_RENEWED: Kind[SessionRenewed] = Kind(name=RENEWED_NAME, payload=SessionRenewed, handler=_on_session_renewed)
USER_CHANGED: Kind[UserChanged] = Kind(
    name="identity.oauth_user_changed", payload=UserChanged, handler=_on_user_changed
)
LOOK: Kind[Look] = Kind(name="identity.oauth_sessions", payload=Look, handler=_look)
BACK_CHANNEL: Kind[Tell] = Kind(
    name="identity.oauth_back_channel", payload=Tell, handler=_tell, outside=True, attempts=8
)
