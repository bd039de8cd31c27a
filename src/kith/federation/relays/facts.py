"""What relays are told."""

from __future__ import annotations

from kith.base.news import Fact


class RelayAsked(Fact, frozen=True):
    """To pass our public posts on, and to tell us of others'."""

    inbox: str
    follow_uri: str


class RelayLeft(Fact, frozen=True):
    inbox: str
    follow_uri: str
