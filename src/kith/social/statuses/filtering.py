"""What statuses need to know of a viewer's filters. The room of the filters knows how it is found out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from kith.base.work import Work
from kith.social.ids import AccountId, StatusId
from kith.social.statuses.tables import Status

NOTIFICATIONS = "notifications"  # a context of filters


class Filtered(NamedTuple):
    json: bytes  # FilterResults, for `filtered`
    hidden_in: frozenset[str]  # contexts in which the server leaves the status out


class ViewerFilters:
    async def who_matches(
        self, work: Work, viewers: Collection[AccountId], ids: Sequence[StatusId]
    ) -> Mapping[StatusId, set[AccountId]]:
        """Of many viewers, those of whom any filter matches each of the statuses."""
        raise NotImplementedError

    async def matches(
        self, work: Work, me: AccountId, ids: Sequence[StatusId], versions: Sequence[int]
    ) -> Mapping[StatusId, Filtered]:
        """Those statuses, each in its version, that any filter of the viewer matches."""
        raise NotImplementedError


async def is_hidden(work: Work, me: AccountId, status: Status, context: str) -> bool:
    """Whether the viewer's filters hide a status there. One's own never are."""
    if status.account_id == me:
        return False
    found = await work.find(ViewerFilters).matches(work, me, [status.id], [status.version])
    return any(context in one.hidden_in for one in found.values())
