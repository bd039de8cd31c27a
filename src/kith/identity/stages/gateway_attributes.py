"""Attributes of people that applications behind a gateway believe."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work

__all__ = ["CHANGES_GATEWAYS", "GatewayAttributes"]

CHANGES_GATEWAYS = "providers.change_applicationgatewayprovider"  # the right to say what they are


class GatewayAttributes(Protocol):
    async def names(self, work: Work) -> set[str]:
        """The attributes of which headers are made, and those that gateways sign in with."""
        ...
