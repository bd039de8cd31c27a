"""What statuses need to know of a viewer's filters. The room of the filters knows how it is found out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from kith.base.work import Work
from kith.social.ids import AccountId, StatusId


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
