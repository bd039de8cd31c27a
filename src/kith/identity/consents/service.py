"""The facts that the consents room announces."""

from __future__ import annotations

from kith.base.news import Fact


class ConsentWithdrawn(Fact, frozen=True):
    """A person has taken back a consent; `app_id` is the client, if it registered itself with the application."""

    user_id: int
    application: str
    app_id: int | None = None
