"""What the team lets in, for whoever keeps it in memory."""

from __future__ import annotations

from datetime import datetime

from kith.base.news import Fact


class ServerBlockChanged(Fact, frozen=True):
    """One was made, changed or taken away."""

    domain: str


class ServerAllowChanged(Fact, frozen=True):
    """One was put on the list, or taken from it."""

    domain: str


class ServerLetIn(Fact, frozen=True):
    """One that was shut out since then is so no longer, as far as this rule goes: another may still hold."""

    domain: str
    since: datetime


class BlocksChanged(Fact, frozen=True):
    """Of addresses, whether people come from them or write from them."""

    kind: str
