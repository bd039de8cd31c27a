"""What people see and do about their own account: sessions, keys for programs, what was written down about them."""

from __future__ import annotations

from kith.base.errors import NotFound
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.audit import store as events
from kith.identity.audit.tables import Event
from kith.identity.messages import service as messages
from kith.identity.own.visitor import Visitor
from kith.identity.sessions import store as sessions
from kith.identity.sessions.service import SessionEnded
from kith.identity.sessions.tables import Session
from kith.identity.tokens import service as token_service
from kith.identity.tokens import store as tokens
from kith.identity.tokens.tables import Token

INTENTS = ("app_password", "api")
MOST_EVENTS = 50


async def list_sessions(work: Work, me: Visitor) -> list[Session]:
    """The one in use first, then the latest used."""
    found = await sessions.of_user(work.db, me.user.id, work.now)
    return sorted(found, key=lambda session: session.session_uuid != me.session.session_uuid)


async def end_session(work: Work, me: Visitor, session_uuid: str) -> None:
    if session_uuid not in {session.session_uuid for session in await list_sessions(work, me)}:
        raise NotFound("This session has already ended")
    await sessions.end(work.db, session_uuid)
    work.announce(SessionEnded(session_uuid=session_uuid))
    await _ended(work, me, "one")
    await messages.leave(work, me.user.id, "The session was ended.", "success")


async def end_other_sessions(work: Work, me: Visitor) -> None:
    await sessions.end_others(work.db, me.user.id, me.session.session_uuid)
    await _ended(work, me, "all others")
    await messages.leave(work, me.user.id, "All other sessions were ended.", "success")


async def _ended(work: Work, me: Visitor, which: str) -> None:
    context = {"logout_reason": "ended by its owner", "sessions": which}
    await audit.record(work, "logout", "core.sessions", user_id=me.user.id, username=me.user.username, context=context)


async def list_tokens(work: Work, me: Visitor) -> list[Token]:
    return [token for token in await tokens.of_user(work.db, me.user.id) if token.intent in INTENTS]


async def make_app_password(work: Work, me: Visitor, description: str) -> str:
    """The new key, which nobody can be shown again."""
    _token, key = await token_service.create(
        work, me.user.id, scopes="api", intent="app_password", description=description, by=me.user.id,
        by_name=me.user.username,
    )  # fmt: skip
    return key


async def revoke_token(work: Work, me: Visitor, token_uuid: str) -> None:
    mine = {token.token_uuid: token for token in await list_tokens(work, me)}
    if token_uuid not in mine:
        raise NotFound("This key was already revoked")
    await token_service.revoke(work, mine[token_uuid], by=me.user.id, by_name=me.user.username)
    await messages.leave(work, me.user.id, "The key was revoked.", "success")


async def list_events(work: Work, me: Visitor) -> list[Event]:
    """The latest of what was written down about me."""
    return await events.of_user(work.db, me.user.id, MOST_EVENTS)
