"""Sessions: begun for everybody who enters a flow, renewed with a new key when they sign in."""

from __future__ import annotations

import hashlib
import secrets
import uuid
from datetime import datetime, timedelta

import msgspec

from kith.base.errors import Unauthenticated
from kith.base.limits import Limiter, LimitRule, address_key
from kith.base.news import Fact
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.sessions import store
from kith.identity.sessions.belongings import SessionBelongings
from kith.identity.sessions.binding import NONE, SessionBinding
from kith.identity.sessions.impersonation_record import record_end
from kith.identity.sessions.tables import LoginSession
from kith.identity.users import store as users

ANONYMOUS_LIFE = timedelta(days=1)
MOST_ANONYMOUS = 50_000  # the oldest are forgotten beyond that
MOST_ON_FULL_DISK = 100  # of some 10 kB each: what they leave is used again, so that they never take all of the reserve
BEGINNINGS = LimitRule("sessions", most=600, seconds=300)
BEGINNINGS_OF_KNOWN = LimitRule("sessions of known browsers", most=60, seconds=300)
IDLE_LIFE = timedelta(days=14)
LONGEST_LIFE = timedelta(days=90)
NOT_ANY_MORE = "may not come in any more"
TOUCH_EVERY = timedelta(minutes=5)


class SessionEnded(Fact, frozen=True):
    """A session has ended, for whatever reason."""

    session_uuid: str


class SessionRenewed(Fact, frozen=True):
    """Somebody who was signed in has signed in again: what belongs to the old session moves to the new one."""

    old: str
    new: str


class HeldSession(msgspec.Struct):
    """A session and, when it was just made or renewed, the key that the answer's cookie must carry."""

    session: LoginSession
    key: str | None = None


def until(work: Work, session: LoginSession) -> datetime:
    """When the session expires: extended by use up to a limit, unless its duration is fixed."""
    if session.keeps or session.user_id is None:
        return session.expires_at
    return min(work.now + IDLE_LIFE, session.created_at + LONGEST_LIFE)


async def begin(work: Work, *, address: str, browser: str = "") -> HeldSession:
    """A session of nobody yet. Whoever keeps no cookie makes one with each look at a flow, so they are counted.

    A `browser` that is known has a count of its own, or others at its address could use up all of them.
    """
    if browser:
        work.find(Limiter).spend(BEGINNINGS_OF_KNOWN, browser)
    else:
        work.find(Limiter).spend(BEGINNINGS, address_key(address))
    if work.is_disk_full:
        await store.forget_anonymous(work.db, most=MOST_ON_FULL_DISK)
    return await _make(work, None, "", ANONYMOUS_LIFE, keeps=False, address=address)


async def sign_in(
    work: Work,
    old: LoginSession,
    user_id: int,
    *,
    method: str,
    life: timedelta | None,
    address: str,
    bound: SessionBinding | None = None,
) -> HeldSession:
    """Give the session to a user, with a new id and key, so that the old key is worth nothing (session fixation)."""
    held = await _make(work, user_id, method, life or IDLE_LIFE, keeps=life is not None, address=address, bound=bound)
    await store.move_runs(work.db, old.session_uuid, held.session.session_uuid)
    is_renewed = old.user_id == user_id and old.by_id is None
    if is_renewed:
        belongings = work.find(SessionBelongings)  # type: ignore[type-abstract]
        await belongings.move(work, old.key_hash, held.session.key_hash)
    await store.end(work.db, old.session_uuid)
    if is_renewed:
        work.announce(SessionRenewed(old=old.session_uuid, new=held.session.session_uuid))
    elif old.user_id is not None:
        work.announce(SessionEnded(session_uuid=old.session_uuid))
    return held


async def switch_user(work: Work, old: LoginSession, user_id: int, *, method: str, address: str) -> HeldSession:
    """A new session of another user in the same browser, which expires when the old one would have.

    Nobody who ends the sessions of either person does so beside this: they would not see the new one.
    """
    for one in sorted({user_id, *([] if old.user_id is None else [old.user_id])}):
        await users.hold(work.db, one)
    if not await is_open(old.key_hash, work):
        raise Unauthenticated("You were signed out while this was being done.")
    held = await _make(work, user_id, method, ANONYMOUS_LIFE, keeps=old.keeps, address=address, like=old)
    await store.end(work.db, old.session_uuid)
    work.announce(SessionEnded(session_uuid=old.session_uuid))
    return held


async def renew_key(work: Work, session: LoginSession) -> HeldSession:
    """Give the session another key, so that a copy of its cookie is worth nothing."""
    key = secrets.token_urlsafe(32)
    renewed = msgspec.structs.replace(session, key_hash=hash_key(key))
    await store.change_key(work.db, session.session_uuid, renewed.key_hash)
    belongings = work.find(SessionBelongings)  # type: ignore[type-abstract]
    await belongings.move(work, session.key_hash, renewed.key_hash)
    return HeldSession(renewed, key)


async def is_open(key_hash: str, work: Work) -> bool:
    """Whether the session with this key is there, and its person may come in."""
    session = await store.find_live(work.db, key_hash, work.now)
    return session is not None and session.is_open


async def hold(work: Work, session: LoginSession) -> bool:
    """Open the transaction and keep the session from ending before it is over; False if it has ended.

    For what outlives the session (a grant, a linked account): whoever ends the session has removed it or finds it.
    """
    await work.db.begin()
    return await store.hold(work.db, session.key_hash) and await is_open(session.key_hash, work)


async def end_after_password(work: Work, user_id: int) -> None:
    """End all sessions of a person after a new password, except for the one it was set in."""
    await end_all(work, user_id, but=work.origin.session)


async def close(work: Work, session: LoginSession, reason: str = NOT_ANY_MORE) -> None:
    """End the session of somebody who may not go on with it, and record it."""
    if not await store.end(work.db, session.session_uuid):
        return
    work.announce(SessionEnded(session_uuid=session.session_uuid))
    acted = session.auth_method.startswith(store.ACTING)
    context: dict[str, object] = {"logout_reason": reason}
    if session.by_id is not None:
        context["original_user"] = {"pk": session.by_id, "username": session.by_name}
    await audit.record(
        work,
        "impersonation_ended" if acted else "logout",
        "core.sessions",
        user_id=session.user_id,
        username=session.username or "",
        context=context,
    )


async def end_all(work: Work, user_id: int, *, but: str = "") -> None:
    """End all sessions of a person, also those in which they impersonate somebody, except for `but`."""
    await users.hold(work.db, user_id)  # whoever makes one of another has done so, or finds that one ended
    for session in await store.of_user(work.db, user_id, work.now):
        if session.session_uuid != but:
            await record_end(work, session)
            work.announce(SessionEnded(session_uuid=session.session_uuid))
    if but:
        await store.end_others(work.db, user_id, but)
    else:
        await store.end_all(work.db, user_id)


async def _make(
    work: Work,
    user_id: int | None,
    method: str,
    life: timedelta,
    *,
    keeps: bool,
    address: str,
    like: LoginSession | None = None,
    bound: SessionBinding | None = None,
) -> HeldSession:
    bound = SessionBinding(like.network_binding or NONE, like.geoip_binding or NONE) if like else bound
    key = secrets.token_urlsafe(32)
    session = LoginSession(
        session_uuid=str(uuid.uuid4()),
        key_hash=hash_key(key),
        user_id=user_id,
        auth_method=method,
        keeps=keeps,
        last_ip=address,
        last_user_agent=work.origin.user_agent,
        last_used_at=work.now,
        created_at=like.created_at if like else work.now,
        expires_at=like.expires_at if like else work.now + life,
        network_binding=bound.network if bound else None,
        geoip_binding=bound.geoip if bound else None,
    )
    await store.insert(work.db, session)
    return HeldSession(session, key)


def hash_key(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
