"""Sessions that were begun, or last used, some time ago."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import bindparam, update

from kith.base.db import Instant, command
from kith.identity.sessions.service import hash_key
from kith.identity.sessions.store import find_live
from kith.identity.sessions.tables import LoginSession, sessions
from tests.town import Town
from tests.web.browsing import Browser

_columns = ("created_at", "last_used_at", "expires_at")
_age = command(
    update(sessions)
    .where(sessions.c.key_hash == bindparam("hash"))
    .values({name: bindparam(name, type_=Instant()) for name in _columns})
)


async def session_of(town: Town, browser: Browser) -> LoginSession | None:
    async with town.house() as house, house.works.begin() as work:
        return await find_live(work.db, hash_key(browser.cookie("kith_session") or ""), work.now)


async def age(town: Town, browser: Browser, by: timedelta, *, all_of_it: bool = True) -> None:
    """Let time pass for a session: all that was, was `by` earlier; or only its last use, which came long before now."""
    session = await session_of(town, browser)
    assert session is not None
    moved = {name: getattr(session, name) - by for name in _columns}
    if not all_of_it:
        moved |= {"created_at": session.created_at, "expires_at": session.expires_at}
    async with town.house() as house, house.works.begin() as work:
        assert await work.db.run(_age, hash=session.key_hash, **moved) == 1
