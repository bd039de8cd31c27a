"""The security stamp of a person: a print of what guards their account.

It differs after a new password, address or sign-in method, and once they were disabled or locked. What was proved or
mailed before does not count after.
"""

from __future__ import annotations

import hashlib

import msgspec

from kith.base.errors import NotFound
from kith.base.work import Work
from kith.identity.factors import store as factors
from kith.identity.users import store as users


async def still_counts(work: Work, user_id: int, stamp: str) -> bool:
    """Whether what guards the account is as `stamp` says. Opens the transaction, in which it stays so."""
    try:
        await users.hold(work.db, user_id)
    except NotFound:
        return False
    return await stamp_of(work, user_id) == stamp


async def stamp_of(work: Work, user_id: int) -> str:
    """The stamp of this person now; empty if they are gone."""
    user = await users.find_by_id(work.db, user_id)
    if user is None:
        return ""
    devices = sorted(one.device_uuid for one in await factors.of_user(work.db, user_id))
    guards = (*user.guards, devices)
    return hashlib.sha256(msgspec.json.encode(guards)).hexdigest()
