"""The facts that the providers room announces."""

from __future__ import annotations

from kith.base.news import Fact


class GatewayChanged(Fact, frozen=True):
    """A gateway was made, changed or deleted."""

    provider_id: int
