"""What other rooms announce to be streamed."""

from __future__ import annotations

from kith.base.news import Fact


class Published(Fact, frozen=True):
    """An event on a channel (`channels`), for every process. `payload` is one line: JSON, or a bare id."""

    channel: str
    event: str
    payload: str | None = None
