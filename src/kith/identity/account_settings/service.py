"""What people see and change of their own account: sessions, tokens, language, and the audit events about them."""

from __future__ import annotations

from datetime import datetime

from kith.base.errors import NotFound
from kith.base.work import Work
from kith.identity.account_settings.visitor import Visitor
from kith.identity.audit import service as audit
from kith.identity.audit import store as events
from kith.identity.audit.tables import Event
from kith.identity.messages import service as messages
from kith.identity.sessions import store as sessions
from kith.identity.sessions.impersonation_record import record_end
from kith.identity.sessions.service import SessionEnded, end_all
from kith.identity.sessions.tables import LoginSession
from kith.identity.tokens import service as token_service
from kith.identity.tokens import store as tokens
from kith.identity.tokens.tables import ApiToken
from kith.identity.users import store as users

INTENTS = ("app_password", "api")
EVENTS_ON_A_PAGE = 25


async def list_sessions(work: Work, me: Visitor) -> list[LoginSession]:
    """The one in use first, then the latest used."""
    found = await sessions.of_user(work.db, me.user.id, work.now)
    return sorted(found, key=lambda session: session.session_uuid != me.session.session_uuid)


async def end_session(work: Work, me: Visitor, session_uuid: str) -> bool:
    """End one of the person's sessions; True if it was the one this request came with."""
    mine = {session.session_uuid: session for session in await list_sessions(work, me)}
    if session_uuid not in mine:
        raise NotFound("This session has already ended")
    await record_end(work, mine[session_uuid])
    await sessions.end(work.db, session_uuid)
    work.announce(SessionEnded(session_uuid=session_uuid))
    await _ended(work, me, "one")
    is_this = session_uuid == me.session.session_uuid
    if not is_this:
        await messages.leave(work, me.user.id, "The session was ended.", "success")
    return is_this


async def end_other_sessions(work: Work, me: Visitor) -> None:
    await end_all(work, me.user.id, but=me.session.session_uuid)
    await _ended(work, me, "all others")
    await messages.leave(work, me.user.id, "All other sessions were ended.", "success")


async def end_all_sessions(work: Work, me: Visitor) -> None:
    await end_all(work, me.user.id)
    await _ended(work, me, "all")


async def _ended(work: Work, me: Visitor, which: str) -> None:
    context = {"logout_reason": "ended by its owner", "sessions": which}
    await audit.record(work, "logout", "core.sessions", user_id=me.user.id, username=me.user.username, context=context)


async def list_tokens(work: Work, me: Visitor) -> list[ApiToken]:
    found = await tokens.of_user(work.db, me.user.id)
    return [token for token in found if token.intent in INTENTS and not _is_over(token, work.now)]


def _is_over(token: ApiToken, now: datetime) -> bool:
    return token.expires_at is not None and token.expires_at <= now


async def make_key(
    work: Work,
    me: Visitor,
    intent: token_service.Intent,
    description: str,
    *,
    scopes: str = "api",
    expires_at: datetime | None = None,
) -> str:
    """Make a token or app password and return its key, which is never shown again."""
    _token, key = await token_service.create(
        work,
        me.user.id,
        scopes=scopes if intent == "api" else "api",
        intent=intent,
        description=description,
        expires_at=expires_at,
        by=me.user.id,
        by_name=me.user.username,
    )
    return key


async def revoke_token(work: Work, me: Visitor, token_uuid: str) -> None:
    mine = {token.token_uuid: token for token in await list_tokens(work, me)}
    if token_uuid not in mine:
        raise NotFound("This app password or token was already revoked")
    await token_service.revoke(work, mine[token_uuid], by=me.user.id, by_name=me.user.username)
    await messages.leave(work, me.user.id, "The app password or token was revoked.", "success")


async def list_events(work: Work, me: Visitor, page: int = 1) -> tuple[list[Event], bool]:
    """A page of the audit events about the person, newest first, and whether there are more."""
    found = await events.of_user(work.db, me.user.id, EVENTS_ON_A_PAGE + 1, skip=(page - 1) * EVENTS_ON_A_PAGE)
    return found[:EVENTS_ON_A_PAGE], len(found) > EVENTS_ON_A_PAGE


async def choose(work: Work, me: Visitor, **chosen: str) -> None:
    """Store the language (`locale`) or the `timezone` with the person, so that it applies in every browser."""
    user = await users.hold(work.db, me.user.id)
    settings = user.attributes.get("settings")
    kept = settings if isinstance(settings, dict) else {}
    attributes = {**user.attributes, "settings": {**kept, **chosen}}
    await users.set_attributes(work.db, user.id, attributes, work.now)
