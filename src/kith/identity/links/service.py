"""Links that are mailed or handed over. Each works once, until it expires, for one person; a newer one replaces it.

There are three kinds: into a flow (`flow` and `plan`), signing in directly (neither), and for another purpose (`plan`
alone says which). A link of one kind is never accepted as one of another, and none is accepted once what guards the
person's account has changed.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from sqlalchemy import and_, bindparam, delete, select

from kith.base.db import UID, Instant, Query, Session, command, insert_into, query
from kith.base.work import Work
from kith.identity.links.tables import OneTimeLink, links
from kith.identity.security_stamp import stamp_of, still_counts

_now = bindparam("now", type_=Instant())
_flow = bindparam("flow", type_=UID())
_live = and_(links.c.key_hash == bindparam("hash"), links.c.expires_at > _now)
_read = (links.c.user_id, links.c.plan, links.c.security_stamp)
_insert = command(insert_into(links))
_claim = query(delete(links).where(and_(_live, links.c.flow_uuid == _flow)).returning(*_read), OneTimeLink)
_find = query(select(*_read).where(and_(_live, links.c.flow_uuid == _flow)), OneTimeLink)
_plain = and_(links.c.flow_uuid.is_(None), links.c.plan == "")
_errand = and_(links.c.flow_uuid.is_(None), links.c.plan != "")
_claim_plain = query(delete(links).where(and_(_live, _plain)).returning(*_read), OneTimeLink)
_claim_errand = query(delete(links).where(and_(_live, _errand)).returning(*_read), OneTimeLink)
_find_errand = query(select(*_read).where(and_(_live, _errand)), OneTimeLink)
_find_plain = query(select(*_read).where(and_(_live, _plain)), OneTimeLink)
_forget = command(delete(links).where(and_(links.c.user_id == bindparam("user"), links.c.flow_uuid == _flow)))
_forget_plain = command(delete(links).where(and_(links.c.user_id == bindparam("user"), _plain)))
_forget_errand = command(delete(links).where(and_(links.c.user_id == bindparam("user"), _errand)))
_expired = command(delete(links).where(links.c.expires_at <= _now))


def new_key() -> str:
    return secrets.token_urlsafe(32)


def hash_key(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


async def make(work: Work, key: str, user_id: int, *, flow: str | None, plan: str, life: timedelta) -> None:
    """Make a link; older ones of the same kind for the same person end."""
    if flow is None:
        await work.db.run(_forget_errand if plan else _forget_plain, user=user_id)
    else:
        await work.db.run(_forget, user=user_id, flow=flow)
    await work.db.run(
        _insert,
        key_hash=hash_key(key),
        user_id=user_id,
        flow_uuid=flow,
        plan=plan,
        security_stamp=await stamp_of(work, user_id),
        created_at=work.now,
        expires_at=work.now + life,
    )


async def claim(work: Work, key: str, *, flow: str | None) -> OneTimeLink | None:
    """Use a link up. If it is opened twice at the same time, only one request gets it."""
    if await _held(work, await find(work, key, flow=flow)) is None:
        return None
    if flow is None:
        return await work.db.one(_claim_plain, hash=hash_key(key), now=work.now)
    return await work.db.one(_claim, hash=hash_key(key), now=work.now, flow=flow)


async def find(work: Work, key: str, *, flow: str | None) -> OneTimeLink | None:
    """Look a link up without using it: mail programs open links to show a preview."""
    if flow is None:
        return await _one(work, _find_plain, hash=hash_key(key), now=work.now)
    return await _one(work, _find, hash=hash_key(key), now=work.now, flow=flow)


async def find_errand(work: Work, key: str) -> OneTimeLink | None:
    return await _one(work, _find_errand, hash=hash_key(key), now=work.now)


async def claim_errand(work: Work, key: str) -> OneTimeLink | None:
    if await _held(work, await find_errand(work, key)) is None:
        return None
    return await work.db.one(_claim_errand, hash=hash_key(key), now=work.now)


async def _held(work: Work, link: OneTimeLink | None) -> OneTimeLink | None:
    """The link, if what guards its person's account is as it was, and stays so until the transaction ends."""
    if link is None or not await still_counts(work, link.user_id, link.security_stamp):
        return None
    return link


async def _one(work: Work, statement: Query[OneTimeLink], **values: object) -> OneTimeLink | None:
    """The link that a statement finds, unless what guards its person's account has changed since it was made."""
    link = await work.db.one(statement, **values)
    if link is None or link.security_stamp != await stamp_of(work, link.user_id):
        return None
    return link


async def delete_expired(db: Session, now: datetime) -> None:
    await db.run(_expired, now=now)
