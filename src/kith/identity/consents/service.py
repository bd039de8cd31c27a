"""The facts that the consents room announces."""

from __future__ import annotations

from kith.base.news import Fact


class ConsentWithdrawn(Fact, frozen=True):
    """A person has taken back a consent."""

    user_id: int
    application: str
