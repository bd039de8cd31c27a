"""What a page said about itself, as it comes back from the process that read it."""

from __future__ import annotations

from datetime import datetime

import msgspec

__all__ = ["PageFacts"]


class PageFacts(msgspec.Struct):
    """Plain text and sound addresses; what the page does not say is empty."""

    title: str = ""
    description: str = ""
    image: str = ""
    image_description: str = ""
    provider_name: str = ""
    provider_url: str = ""
    author_name: str = ""
    author_url: str = ""
    published_at: datetime | None = None
    language: str | None = None
    embed: str = ""
    width: int = 0
    height: int = 0
    oembed: str = ""
    creator: str = ""
