"""The end of somebody's stay: setting it, and what happens when it has come."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import and_, bindparam, select, update

from kith.base.db import Instant, command, query
from kith.base.errors import Conflict, Invalid
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.rest.facts import EndPlanned
from kith.identity.users import store, team
from kith.identity.users.service import UserBarred, UserChanged
from kith.identity.users.tables import User, users

_now = bindparam("now", type_=Instant())
_is_over = and_(users.c.expires <= _now, users.c.is_active)
_over = query(select(users).where(_is_over).order_by(users.c.expires).limit(bindparam("most")), User)
# Somebody may have set another end meanwhile.
_disable = command(
    update(users)
    .where(and_(users.c.id == bindparam("user"), _is_over))
    .values(is_active=False, disabled_at=_now, disabled_by=None, updated_at=_now)
)


async def set_end(work: Work, user: User, expires: datetime | None, *, by_name: str) -> None:
    """None: they have no end any more."""
    if expires is not None and expires <= work.now:
        raise Invalid(expires="Choose a moment in the future.")
    if expires is not None and await team.is_last_superuser(work.db, user.id):
        raise Conflict("The last active superuser cannot be given an end.")
    await store.change(work.db, user.id, "expires", expires, work.now)
    diff = audit.difference({"expires": user.expires}, {"expires": expires})
    await _record(work, "model_updated", user, by_name, diff=diff)
    if expires is not None:
        work.announce(EndPlanned(at=expires))
    work.announce(UserChanged(user_id=user.id))


async def end_due(work: Work, most: int) -> int:
    """Disable those whose end has come, as an administrator would."""
    found = await work.db.all(_over, now=work.now, most=most)
    for user in found:
        if await work.db.run(_disable, user=user.id, now=work.now):
            diff = audit.difference({"is_active": True}, {"is_active": False})
            reason = "The end that was set for this account has come."
            await _record(work, "user_expired", user, "", diff=diff, reason=reason, expires=user.expires)
            work.announce(UserBarred(user_id=user.id, at=work.now))
            work.announce(UserChanged(user_id=user.id))
    return len(found)


async def _record(work: Work, action: str, user: User, by_name: str, **context: object) -> None:
    model = {"app": "core", "model_name": "user", "pk": user.id, "name": user.username}
    await audit.record(work, action, "core.users", username=by_name, context={"model": model, **context})
