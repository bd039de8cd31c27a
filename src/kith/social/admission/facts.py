"""What the team lets in, for whoever keeps it in memory."""

from __future__ import annotations

from kith.base.news import Fact


class ServerBlockChanged(Fact, frozen=True):
    """One was made, changed or taken away."""

    domain: str


class ServerAllowChanged(Fact, frozen=True):
    """One was put on the list, or taken from it."""

    domain: str


class BlocksChanged(Fact, frozen=True):
    """Of addresses, whether people come from them or write from them."""

    kind: str
