from __future__ import annotations

from kith.base.news import Fact


class DirectMessageAsked(Fact, frozen=True):
    """Somebody is to be told something by a direct message, in the name of somebody else."""

    sender: int
    recipient: int
    text: str
