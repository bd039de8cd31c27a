"""What others hear of consents."""

from __future__ import annotations

from kith.base.news import Fact


class ConsentWithdrawn(Fact, frozen=True):
    """Somebody does not let an application know about them any more."""

    user_id: int
    application: str
