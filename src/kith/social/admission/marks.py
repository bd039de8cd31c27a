"""What the lists of the team mean for an account of another server, from the moment it is known here."""

from __future__ import annotations

from datetime import datetime

import msgspec

from kith.base.work import Work
from kith.social.admission import store
from kith.social.admission.tables import NOT_LISTED

__all__ = ["Marks", "marks_for"]


class Marks(msgspec.Struct, frozen=True):
    """Columns of an account, by their names."""

    silenced_at: datetime | None = None
    suspended_at: datetime | None = None
    pictures_rejected: bool = False


async def marks_for(work: Work, domain: str) -> Marks:
    """For whoever stores an account: what holds for its server since before it came.

    One that is stored at the very moment at which a block is made is marked a little later (`servers.ENFORCE`).
    """
    found = await store.blocks_of(work.db, domain.lower())
    rule = found[0] if found else None
    silenced = rule.created_at if rule is not None and rule.severity == "silence" else None
    suspended = rule.created_at if rule is not None and rule.severity == "suspend" else None
    if suspended is None and work.settings.is_allow_list:
        listed = await store.find_allow(work.db, domain.lower())
        suspended = NOT_LISTED if listed is None else None
    rejected = rule is not None and (rule.reject_media or rule.severity == "suspend")
    return Marks(silenced, suspended, rejected)
