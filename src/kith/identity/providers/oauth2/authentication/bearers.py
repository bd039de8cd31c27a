"""`Authorization: Bearer`: an access token of a client, or a token that somebody made for themselves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, and_, bindparam, literal, null, or_, select, update

from kith.base.caches import UntilWritten
from kith.base.db import Instant, any_of, command, query
from kith.base.exchange import Exchange
from kith.base.work import Work
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.grants import revoked_tokens
from kith.identity.providers.oauth2.grants.revoked_tokens import RevokedToken
from kith.identity.providers.oauth2.grants.service import hash_key
from kith.identity.providers.oauth2.store import Bearer
from kith.identity.providers.oauth2.tables import grants, oauth_tokens
from kith.identity.scopes import PARENTS
from kith.identity.sessions.cookies import PageSession
from kith.identity.sessions.service import hash_key as session_hash
from kith.identity.sessions.store import SEEN_BY_RIGHT
from kith.identity.sessions.tables import sessions
from kith.identity.tokens import store as personal
from kith.identity.tokens.service import may_be_token
from kith.identity.tokens.tables import tokens
from kith.identity.users.tables import is_active, users

TOUCH_EVERY = timedelta(days=1)
MANY_KEYS = 100  # so many take long enough to look up that others on the loop must not wait


def _speaks_for(table: Table, scopes: ColumnElement[str], *, session: ColumnElement[Any] | None = None) -> Select[Any]:
    """What stands for a person without a client: a token of their own, or their browser's session."""
    return (
        select(
            table.c.key_hash,
            scopes.label("scopes"),
            table.c.created_at,
            table.c.expires_at,
            table.c.last_used_at,
            *(null().label(name) for name in ("grant_uuid", "client_id", "provider_id", "app_id")),
            (null() if session is None else session).label("session_uuid"),
            literal("").label("resource"),
            table.c.user_id,
            users.c.username,
            is_active().label("is_active"),
            users.c.role,
            store.CONFIRMED_AT,
            users.c.approved_at,
            users.c.expires.label("user_expires"),
        )
        .join(users, users.c.id == table.c.user_id)
        .where(table.c.key_hash == bindparam("hash"))
    )


_own = query(_speaks_for(tokens, tokens.c.scopes).where(tokens.c.intent == "api"), Bearer)
# A browser's session: everything its person may do, in the social API as on pages.
_everything: ColumnElement[str] = literal(" ".join((*PARENTS, "profile", "push")))
_session = query(_speaks_for(sessions, _everything, session=sessions.c.session_uuid).where(SEEN_BY_RIGHT), Bearer)
_now = bindparam("now", type_=Instant())
_live = query(
    select(oauth_tokens.c.key_hash)
    .join(grants, grants.c.grant_uuid == oauth_tokens.c.grant_uuid)
    .join(users, users.c.id == grants.c.user_id)
    .where(
        and_(
            any_of(oauth_tokens.c.key_hash, "hashes"),
            oauth_tokens.c.kind == "access",
            or_(oauth_tokens.c.expires_at.is_(None), oauth_tokens.c.expires_at > _now),
            is_active(),
        )
    ),
    str,
)
_live_own = query(
    select(tokens.c.key_hash)
    .join(users, users.c.id == tokens.c.user_id)
    .where(
        and_(
            any_of(tokens.c.key_hash, "hashes"),
            tokens.c.intent == "api",
            or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > _now),
            is_active(),
        )
    ),
    str,
)
_live_sessions = query(
    select(sessions.c.key_hash)
    .join(users, users.c.id == sessions.c.user_id)
    .where(and_(any_of(sessions.c.key_hash, "hashes"), sessions.c.expires_at > _now, is_active(), SEEN_BY_RIGHT)),
    str,
)
_noted = [
    command(
        update(table).where(any_of(table.c.key_hash, "hashes")).values(last_used_at=bindparam("now", type_=Instant()))
    )
    for table in (oauth_tokens, sessions)
]
_token_uuid = query(select(tokens.c.token_uuid).where(tokens.c.key_hash == bindparam("hash")), str)


async def find(work: Work, key: str) -> Bearer | None:
    """What a token stands for, in one query; the guard checks whether it has expired."""
    if not key or len(key) > 200 or not key.isprintable():
        return None
    if may_be_token(key):
        return await work.db.one(_own, hash=hash_key(key))
    return await store.find_bearer(work.db, hash_key(key))


async def of_session(work: Work, key_hash: str) -> Bearer | None:
    """What a browser's session stands for, where only the hash of its key is known."""
    return await work.db.one(_session, hash=key_hash)


async def of_exchange(exchange: Exchange, key: str | PageSession) -> Bearer | None:
    """The same for a request, cached until somebody writes: an app sends the same token all day."""
    memo, work = exchange.find(UntilWritten), exchange.work
    exchange.version = version = memo.now()
    kept_as = ("session bearer", session_hash(key.key)) if isinstance(key, PageSession) else ("bearer", hash_key(key))
    kept: Bearer | None = memo.get(version, kept_as)
    if kept is None or kept.is_outdated(work.now):
        kept = await (of_session(work, kept_as[1]) if isinstance(key, PageSession) else find(work, key))
        if kept is not None:
            memo.put(version, kept_as, kept, size=1024)
    if kept is not None and kept.user_id is not None:
        exchange.known_while(partial(_still_opens, kept_as[1]))
    return kept


async def _still_opens(key_hash: str, work: Work) -> bool:
    return key_hash in await still_open(work, [key_hash])


async def still_open(work: Work, key_hashes: Sequence[str]) -> set[str]:
    """Which of these keys still open something, for somebody who may still come in."""
    read = work.db.slow if len(key_hashes) > MANY_KEYS else work.db.all
    found = [await read(one, hashes=list(key_hashes), now=work.now) for one in (_live, _live_own, _live_sessions)]
    return {key_hash for some in found for key_hash in some}


async def note_listening(work: Work, key_hashes: Collection[str]) -> None:
    """Whoever has a stream open is here, though their app has asked for nothing in days."""
    for statement in _noted:
        await work.db.run(statement, hashes=sorted(key_hashes), now=work.now)


async def find_revoked(work: Work, key: str) -> RevokedToken | None:
    """What is known of an invalid token that was valid once."""
    return await revoked_tokens.find(work, hash_key(key)) if 0 < len(key) <= 200 else None


async def note_use(work: Work, bearer: Bearer) -> None:
    """Store the last use, once a day, in a work of its own."""
    if bearer.last_used_at is not None and work.now - bearer.last_used_at < TOUCH_EVERY:
        return
    async with work.noting() as aside:
        if bearer.grant_uuid is not None:
            await store.touch(aside.db, bearer.key_hash, work.now)
            return
        token_uuid = await aside.db.one(_token_uuid, hash=bearer.key_hash)
        if token_uuid is not None:
            await personal.touch(aside.db, token_uuid, work.now)
