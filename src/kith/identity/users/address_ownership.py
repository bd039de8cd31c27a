"""Which person an address belongs to.

An address belongs to at most one person (`owned_email_key`): whoever confirms it, even if another has claimed it.
Where addresses are not confirmed (`KITH_CONFIRM_EMAIL=off`), giving one is enough if it belongs to nobody.

People are found by what they are called, too: by the user name where somebody signs in, by `upn` at services. So nobody
gets an address that somebody else is called, and nobody is called what is somebody else's address.
"""

from __future__ import annotations

from kith.base.errors import Complaint
from kith.base.work import Work
from kith.identity.users import store
from kith.identity.users.names import email_key, spellings
from kith.identity.users.tables import User

TAKEN = "This address belongs to another account."
NAMED = "This is the e-mail address of another account."


async def prove(work: Work, user: User, address: str) -> bool:
    """Make `address` the person's confirmed one; False if it is another's."""
    await hold(work, address)
    if await belongs_to_another(work, address, user.id):
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
    is_claimed = await _find_claimant(work, address, user.id) is not None
    is_free = not is_claimed and not await is_name_of_another(work, address, user.id)
    values = {
        "email": address,
        "email_key": email_key(address),
        "owned_email_key": email_key(address) if is_free and address else None,
        "email_verified_at": None,
    }
    await store.write(work.db, user.id, values, work.now)
    return is_free


async def belongs_to_another(work: Work, address: str, user_id: int) -> bool:
    """Whether another person has confirmed the address or is called like it."""
    other = await _find_claimant(work, address, user_id)
    if other is not None and other.email_verified_at is not None:
        return True
    return await is_name_of_another(work, address, user_id)


async def find_loser(work: Work, address: str, user_id: int) -> int | None:
    """Another person who has given the address without confirming it: `prove` takes it from them."""
    other = await _find_claimant(work, address, user_id)
    return other.id if other is not None and other.email_verified_at is None else None


async def is_name_of_another(work: Work, address: str, user_id: int) -> bool:
    """Whether another person has the address as their user name or `upn`."""
    return "@" in address and await store.is_called_by_another(work.db, spellings(address), user_id)


async def complain_called(work: Work, name: str, user_id: int | None) -> Complaint | None:
    """Complaint about a user name or `upn` that is the address of another; `user_id` is None for whoever is new."""
    if "@" not in name:
        return None
    await hold(work, name)
    return Complaint(NAMED, "taken") if await _find_claimant(work, name, user_id or 0) is not None else None


async def hold(work: Work, address: str) -> None:
    """Lock an address until this work ends."""
    await work.db.hold(f"identity.address:{email_key(address)}")


async def _find_claimant(work: Work, address: str, user_id: int) -> User | None:
    """Another person to whom the address belongs, confirmed or not."""
    owner = await store.owner_of(work.db, address)
    return owner if owner is not None and owner.id != user_id else None
