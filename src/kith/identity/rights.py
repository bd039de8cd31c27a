"""The permissions of a person, by roles and groups."""

from __future__ import annotations

from kith.base.db import Session
from kith.identity.caller import ADMINISTRATORS
from kith.identity.groups import store as groups
from kith.identity.roles import store as roles

RIGHTS = "identity.rights"


async def rights_of(db: Session, user_id: int, role: str) -> frozenset[str] | None:
    """The permissions; None means all."""
    if role in ADMINISTRATORS or await groups.is_mighty(db, user_id):
        return None
    return await roles.permissions_of(db, user_id)


async def hold_rights(db: Session) -> None:
    """Wait until nobody else changes what people may do, or uses a right to change others; then nobody does to the end.

    Whoever takes a right away and whoever still uses it would not see each other. Hold this before any row: in another
    order two would wait for each other.
    """
    await db.hold(RIGHTS)
