"""Names that several groups have, as LDAP compares names: from before such names were refused.

None of these groups is in the tree, so that nobody is taken for a member of another.
"""

from __future__ import annotations

from kith.base.caches import ForAWhile
from kith.base.db import Session
from kith.identity.groups.names import groups_alike

__all__ = ["DoubledNames"]

SECONDS = 2.0


class DoubledNames:
    """Kept for a moment: all names are read to find them."""

    def __init__(self) -> None:
        self._kept: ForAWhile[frozenset[str]] = ForAWhile("doubled_names", seconds=SECONDS, most=2)

    async def read(self, db: Session) -> frozenset[str]:
        found = self._kept.get("")
        if found is None:
            alike = (await groups_alike(db)).values()
            found = frozenset(name for some in alike if len(some) > 1 for name, _ in some)
            self._kept.put("", found)
        return found
