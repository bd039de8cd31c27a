"""Which person an address belongs to.

An address belongs to at most one person (`owned_email_key`): whoever confirms it, even if another has claimed it.
Where addresses are not confirmed (`KITH_CONFIRM_EMAIL=off`), giving one is enough if it belongs to nobody.
"""

from __future__ import annotations

from kith.base.work import Work
from kith.identity.users import store
from kith.identity.users.names import email_key
from kith.identity.users.tables import User

TAKEN = "This address belongs to another account."


async def prove(work: Work, user: User, address: str) -> bool:
    """Make `address` the person's confirmed one; False if another person has confirmed it."""
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
    """Give the person an address without confirmation; False if it belongs to somebody."""
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
    """Whether another person has confirmed the address, which is locked until this work ends."""
    await hold(work, address)
    owner = await store.owner_of(work.db, address)
    return owner is not None and owner.id != user_id and owner.email_verified_at is not None


async def hold(work: Work, address: str) -> None:
    await work.db.hold(f"identity.address:{email_key(address)}")
