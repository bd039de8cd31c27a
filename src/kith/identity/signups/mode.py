"""Who may sign up: what the operator has set, and approval in place of everybody while the team is away."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from sqlalchemy import delete, func, select

from kith.base.db import Instant, add_once, command, query
from kith.base.work import Work
from kith.identity.signups.tables import signup_modes
from kith.identity.users.tables import users

SignupMode = Literal["open", "approval", "closed"]

_since = query(select(signup_modes.c.approval_since), datetime)
_add = command(add_once(signup_modes))
_remove = command(delete(signup_modes))
_first = query(select(func.min(users.c.created_at, type_=Instant())), datetime)


async def current(work: Work) -> SignupMode:
    if work.settings.registrations == "open" and await work.db.one(_since) is not None:
        return "approval"
    return work.settings.registrations


async def want_approval(work: Work) -> bool:
    """Have staff approve new accounts from now on; False where sign-ups are not open."""
    if await current(work) != "open":
        return False
    return bool(await work.db.run(_add, id=1, approval_since=work.now))


async def reopen(work: Work) -> bool:
    """Sign-ups are what the operator has set again; False if they were."""
    return bool(await work.db.run(_remove))


async def began_at(work: Work) -> datetime | None:
    """When the first person here was made."""
    return await work.db.one(_first)
