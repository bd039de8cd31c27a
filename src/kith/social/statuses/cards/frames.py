"""The link of a post that a card is made for, and the frame in which a player elsewhere may be shown."""

from __future__ import annotations

from html import escape

from kith.social.text.tags import start_tags
from kith.social.webpages.values import is_web, pixels

__all__ = ["clean_embed", "first_link", "player"]

LONGEST_EMBED = 16 * 1024
SANDBOX = "allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-forms"


def first_link(content: str, is_ours: tuple[str, ...]) -> str | None:
    """The first link of a post that is neither a mention nor a tag, nor leads back here."""
    for link in start_tags(content, "a"):
        words = f"{link.get('class', '')} {link.get('rel', '')}".split()
        url = link.get("href", "").strip()
        if {"mention", "hashtag", "u-url", "tag"}.intersection(words) or not is_web(url):
            continue
        if not f"{url.rstrip('/')}/".lower().startswith(is_ours):
            return url
    return None


def clean_embed(html: str) -> str:
    """The one frame in what a page offers to embed, made anew; nothing else of it is kept."""
    for frame in start_tags(html[:LONGEST_EMBED], "iframe"):
        if "src" in frame:
            return player(frame["src"], pixels(frame.get("width")), pixels(frame.get("height")))
    return ""


def player(url: str, width: int, height: int) -> str:
    """A frame for a player elsewhere, which may do nothing here."""
    if not url.lower().startswith("https://") or not is_web(url):
        return ""
    return (
        f'<iframe src="{escape(url)}" width="{width}" height="{height}" allowfullscreen="true" '
        f'frameborder="0" scrolling="no" sandbox="{SANDBOX}"></iframe>'
    )
