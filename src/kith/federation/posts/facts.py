"""What came of posts from elsewhere, for whoever asks other servers on."""

from __future__ import annotations

from kith.base.news import Fact
from kith.social.ids import StatusId

__all__ = ["NoteChanged", "ParentMissing", "QuoteSeen", "RepliesSeen"]


class ParentMissing(Fact, frozen=True):
    """Something answers a post that is not known here. `steps`: how many have led to it one by one."""

    uri: str
    steps: int = 0


class RepliesSeen(Fact, frozen=True):
    """A post came with the ids of some of its answers."""

    status_id: StatusId
    uris: tuple[str, ...]


class QuoteSeen(Fact, frozen=True):
    """A post quotes something whose author's word has to be looked up, or which is not known here."""

    status_id: StatusId
    steps: int = 0


class NoteChanged(Fact, frozen=True):
    """A post elsewhere is said to be another now, and has to be asked for."""

    uri: str
