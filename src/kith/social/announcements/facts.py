"""What happens to announcements, for whoever streams it."""

from __future__ import annotations

from kith.base.news import Fact


class AnnouncementPublished(Fact, frozen=True):
    """It is shown from now on, or says something else than before."""

    announcement_id: int


class AnnouncementDeleted(Fact, frozen=True):
    """It is no longer shown: deleted, withdrawn, or over."""

    announcement_id: int


class AnnouncementReacted(Fact, frozen=True):
    """Somebody reacted with `name`, or took it back."""

    announcement_id: int
    name: str
