"""The session cookie."""

from __future__ import annotations

from functools import partial

import msgspec

from kith.base.caches import UntilWritten
from kith.base.clocks import is_ahead, is_recent
from kith.base.cookies import carried_cookie
from kith.base.exchange import Exchange
from kith.base.work import Work
from kith.identity.sessions import service as sessions
from kith.identity.sessions import store
from kith.identity.sessions.binding import broken_by
from kith.identity.sessions.impersonation_record import acting_in
from kith.identity.sessions.service import NOT_ANY_MORE, TOUCH_EVERY, HeldSession, hash_key, until
from kith.identity.sessions.tables import LoginSession

COOKIE = "kith_session"
KEPT_SIZE = 4096


class PageSession(msgspec.Struct, frozen=True):
    """A session that one of our own pages was found to ask with, where otherwise the key of a token would be."""

    key: str


def name_of(*, secure: bool) -> str:
    """Over https no other host can set it: applications under the same domain could give somebody their own session.

    Browsers take a cookie of such a name only from this host, for all of its paths and with `Secure`.
    """
    return f"__Host-{COOKIE}" if secure else COOKIE


def carried_key(exchange: Exchange) -> str | None:
    secure = exchange.server.works.settings.base_url.startswith("https")
    return carried_cookie(exchange, name_of(secure=secure)) or None


async def find(exchange: Exchange) -> LoginSession | None:
    """The request's session, if its cookie is valid; looked up once per request."""
    if LoginSession not in exchange.kept:
        exchange.kept[LoginSession] = await _look_up(exchange)
    found: LoginSession | None = exchange.kept[LoginSession]
    return found


async def _look_up(exchange: Exchange) -> LoginSession | None:
    """The session; its last use is stored now and then. It is ended if its person may not sign in any more.

    So is one that is bound to where it began, when it comes from elsewhere.
    """
    key = carried_key(exchange)
    if not key:
        return None
    work = exchange.work
    session = await _find_live(work, hash_key(key))
    if session is None:
        return None
    if is_ahead(session.created_at, work.now):  # its end is ahead as far; it counts again when its time has come
        return None
    if not session.is_open:
        await _close(exchange, session)
        return None
    moved = exchange.address != session.last_ip and (session.network_binding or session.geoip_binding) is not None
    reason = broken_by(work, session, exchange.address) if moved else None
    if reason is not None:
        await _close(exchange, session, f"bound session: {reason}")
        return None
    exchange.is_from(session.session_uuid, acting_in(session))
    if session.user_id is not None:
        exchange.known_while(partial(sessions.is_open, session.key_hash))
    if moved or not is_recent(session.last_used_at, work.now, TOUCH_EVERY):
        async with work.noting() as aside:
            await store.touch(
                aside.db,
                session,
                ip=exchange.address,
                agent=work.origin.user_agent,
                now=work.now,
                until=until(work, session),
            )
    return session


async def _find_live(work: Work, key_hash: str) -> LoginSession | None:
    """Kept until somebody writes: a browser shows the same cookie with every page."""

    def is_true(session: LoginSession) -> bool:
        end, now = session.user_expires, work.now
        return session.is_open and session.by_id is None and session.expires_at > now and (end is None or end > now)

    return await work.find(UntilWritten).look_up(
        work.db,
        ("session", key_hash),
        lambda: store.find_live(work.db, key_hash, work.now),
        is_true=is_true,
        size=KEPT_SIZE,
    )


async def _close(exchange: Exchange, session: LoginSession, reason: str = NOT_ANY_MORE) -> None:
    async with exchange.work.aside() as aside:
        await sessions.close(aside, session, reason)


def cookie(held: HeldSession, *, secure: bool) -> tuple[bytes, bytes] | None:
    """The header that sets the cookie; without a fixed duration it ends with the browser."""
    if held.key is None:
        return None
    parts = [f"{name_of(secure=secure)}={held.key}", "Path=/", "HttpOnly", "SameSite=Lax"]
    if held.session.keeps:
        parts.append(f"Max-Age={max(0, int((held.session.expires_at - held.session.last_used_at).total_seconds()))}")
    return b"set-cookie", "; ".join([*parts, *(["Secure"] if secure else [])]).encode()


def no_cookie(*, secure: bool) -> tuple[bytes, bytes]:
    name, flag = name_of(secure=secure), "; Secure" if secure else ""
    return b"set-cookie", f"{name}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0{flag}".encode()
