"""Sessions on the wire: the cookie that carries a session's key."""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie

from kith.base.edge import Exchange
from kith.identity.sessions import store
from kith.identity.sessions.service import TOUCH_EVERY, Held, hash_key, until
from kith.identity.sessions.tables import Session

COOKIE = "kith_session"


def carried_key(exchange: Exchange) -> str | None:
    try:
        cookies = SimpleCookie(exchange.header(b"cookie").decode("latin-1"))
    except CookieError:
        return None
    return cookies[COOKIE].value if COOKIE in cookies else None


async def find(exchange: Exchange) -> Session | None:
    """The session of this request, if its cookie is good; its last use is noted now and then."""
    key = carried_key(exchange)
    if not key:
        return None
    work = exchange.work
    session = await store.find_live(work.db, hash_key(key), work.now)
    if session is not None and work.now - session.last_used_at > TOUCH_EVERY:
        async with work.aside() as aside:
            await store.touch(
                aside.db, session, ip=exchange.address, agent=work.origin.user_agent, now=work.now,
                until=until(work, session),
            )  # fmt: skip
    return session


def cookie(held: Held, *, secure: bool) -> tuple[bytes, bytes] | None:
    """The header that hands the key to the browser; one without a fixed length ends with the browser."""
    if held.key is None:
        return None
    parts = [f"{COOKIE}={held.key}", "Path=/", "HttpOnly", "SameSite=Lax"]
    if held.session.keeps:
        parts.append(f"Max-Age={int((held.session.expires_at - held.session.created_at).total_seconds())}")
    return b"set-cookie", "; ".join([*parts, *(["Secure"] if secure else [])]).encode()


def no_cookie(*, secure: bool) -> tuple[bytes, bytes]:
    return b"set-cookie", f"{COOKIE}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0{'; Secure' if secure else ''}".encode()
