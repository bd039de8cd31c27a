"""What delivery needs of other rooms."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work

__all__ = ["DeliveryGate", "OpenDeliveryGate"]


class DeliveryGate(Protocol):
    """Whom we write to."""

    async def admits(self, domain: str, work: Work | None = None) -> bool:
        """`work` is one that is open already, so that no second connection is needed to look."""
        ...


class OpenDeliveryGate:
    """Everybody."""

    async def admits(self, domain: str, work: Work | None = None) -> bool:  # noqa: ARG002
        return True
