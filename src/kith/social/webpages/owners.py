"""Where the owner of a page is to be found, too, by what the page says."""

from __future__ import annotations

from kith.social.text.tags import start_tags

__all__ = ["own_links"]

MOST_LINKS = 1000
LONGEST_URL = 2048


def own_links(page: str) -> list[str]:
    """The addresses of its links with `rel="me"`."""
    found = [
        tag["href"]
        for tag in start_tags(page, "a", "link")
        if "me" in tag.get("rel", "").lower().split() and 0 < len(tag.get("href", "")) <= LONGEST_URL
    ]
    return found[:MOST_LINKS]
