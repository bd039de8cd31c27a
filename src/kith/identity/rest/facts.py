"""The facts that the API announces."""

from __future__ import annotations

from kith.base.news import Fact


class AccessChanged(Fact, frozen=True):
    """A group, binding or policy has changed, so other people may be allowed to enter applications."""
