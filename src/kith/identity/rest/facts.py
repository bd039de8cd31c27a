"""The facts that the API announces."""

from __future__ import annotations

from datetime import datetime

from kith.base.news import Fact


class AccessChanged(Fact, frozen=True):
    """A group, binding or policy has changed, so other people may be allowed to enter applications."""


class EndPlanned(Fact, frozen=True):
    """A person, a membership or a binding was given a moment at which it ends."""

    at: datetime
