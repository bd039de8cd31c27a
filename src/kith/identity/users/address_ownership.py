"""Whose an address is.

An address counts (`owned_email_key`) for one person at most. Who proves it has it, and whoever had only said that it is
theirs loses it. Saying so is enough where nothing is confirmed (`KITH_CONFIRM_EMAIL=off`), as long as it is nobody's.
"""

from __future__ import annotations

from kith.base.work import Work
from kith.identity.users import store
from kith.identity.users.names import email_key
from kith.identity.users.tables import User

TAKEN = "This address belongs to another account."


async def prove(work: Work, user: User, address: str) -> bool:
    """Make `address` the proven one of this person; False when somebody else has proven it before."""
    if await is_proven_by_another(work, address, user.id):
        return False
    await store.release(work.db, address, user_id=user.id)
    values = {
        "email": address,
        "email_key": email_key(address),
        "owned_email_key": email_key(address),
        "email_verified_at": work.now,
        "confirmed_at": user.confirmed_at or work.now,
    }
    await store.write(work.db, user.id, values, work.now)
    return True


async def claim(work: Work, user: User, address: str) -> bool:
    """Have an address that nobody has proven count at once. False when it is somebody's, and then it does not."""
    await hold(work, address)
    owner = await store.owner_of(work.db, address)
    is_free = owner is None or owner.id == user.id
    values = {
        "email": address,
        "email_key": email_key(address),
        "owned_email_key": email_key(address) if is_free and address else None,
        "email_verified_at": None,
    }
    await store.write(work.db, user.id, values, work.now)
    return is_free


async def is_proven_by_another(work: Work, address: str, user_id: int) -> bool:
    """Until this work ends nobody else takes the address."""
    await hold(work, address)
    owner = await store.owner_of(work.db, address)
    return owner is not None and owner.id != user_id and owner.email_verified_at is not None


async def hold(work: Work, address: str) -> None:
    await work.db.hold(f"identity.address:{email_key(address)}")
