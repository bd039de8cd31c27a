"""What others hear of applications."""

from __future__ import annotations

from kith.base.news import Fact


class ApplicationClosed(Fact, frozen=True):
    """A provider does not lead into this application any more: it is gone, or has another one."""

    provider_id: int
