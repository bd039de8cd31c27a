"""A port: what the social half keeps with a browser's session, and what becomes of it when the session is renewed."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work

__all__ = ["SessionBelongings"]


class SessionBelongings(Protocol):
    async def move(self, work: Work, old: str, new: str) -> None:
        """From one session to that in its place, by the hashes of their keys; what stays behind ends with the old."""
        ...
