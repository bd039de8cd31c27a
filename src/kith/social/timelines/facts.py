"""What happens to feeds, for whoever carries it on."""

from __future__ import annotations

from kith.base.news import Fact
from kith.social.ids import StatusId


class FeedsFilled(Fact, frozen=True):
    """New statuses stand in the feeds they belong in; of the `unfinished` ones more feeds follow."""

    status_ids: tuple[StatusId, ...]
    unfinished: tuple[StatusId, ...] = ()
