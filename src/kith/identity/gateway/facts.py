"""The facts that the gateway announces."""

from __future__ import annotations

from kith.base.news import Fact


class GatewayLeft(Fact, frozen=True):
    """Somebody has signed out at a gateway."""

    provider_id: int
