"""How many groups of notifications somebody has not read yet: what stands beside the bell on every page."""

from __future__ import annotations

from kith.base.caches import UntilWritten
from kith.base.work import Work
from kith.social.ids import AccountId
from kith.social.notifications import groups, service
from kith.social.notifications.groups import NotificationSelection
from kith.social.timelines import markers

__all__ = ["MOST", "unread_groups"]

MOST = 100
_ALL = NotificationSelection(types=None, grouped=tuple(sorted(service.GROUPED)))


async def unread_groups(work: Work, me: AccountId) -> int:
    """Counted up to `MOST`; kept while nobody writes."""

    async def count() -> int:
        read = await markers.last_read(work, me, "notifications")
        return await groups.count_since(work.db, me, read, _ALL, most=MOST)

    return await work.find(UntilWritten).look_up(work.db, ("unread", me), count) or 0
