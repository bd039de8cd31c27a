"""The facts that the applications room announces."""

from __future__ import annotations

from kith.base.news import Fact


class ApplicationClosed(Fact, frozen=True):
    """An application was deleted or got another provider, so this provider leads nowhere any more."""

    provider_id: int
