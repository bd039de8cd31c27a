"""The facts that the brands room announces."""

from __future__ import annotations

from kith.base.news import Fact


class BrandChanged(Fact, frozen=True):
    """A brand was made, changed or deleted."""
