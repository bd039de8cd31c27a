"""Posts as pages show them: what the API says of them, made safe to be put into a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from html import escape
from typing import Any

import msgspec

from kith.social.emojis.service import SHORTCODE
from kith.social.text.html import shown

__all__ = ["ShownPost", "emphasised", "shown_post", "written"]

MOST_PICTURES = 100  # of emoji in one text
_TAGS = re.compile(r"(<[^<>]*>)")
_OWN_LINK = re.compile(r"<a [^<>]*>")
_MENTION = re.compile(r' class="[^"]*\b(?:mention|hashtag)\b')


class ShownPost(msgspec.Struct, frozen=True):
    """`booster` is who passed it on, if that is why it is shown."""

    id: str
    url: str
    author: dict[str, Any]
    name: str
    at: datetime
    edited: bool
    spoiler: str
    content: str
    language: str
    media: list[dict[str, Any]]
    hides_media: bool
    poll: dict[str, Any] | None
    card: dict[str, Any] | None
    quoted: str
    is_reply: bool
    counts: tuple[int, int, int]
    booster: str = ""


def shown_post(entity: dict[str, Any]) -> ShownPost:
    """Of a boost, what it boosts."""
    boosted = entity.get("reblog")
    one = boosted or entity
    quoted = (one.get("quote") or {}).get("quoted_status") or {}
    author = one["account"]
    return ShownPost(
        id=one["id"],
        url=one["url"] or one["uri"],
        author=author,
        name=emphasised(author["display_name"] or author["username"], author["emojis"]),
        at=datetime.fromisoformat(one["created_at"]),
        edited=one["edited_at"] is not None,
        spoiler=emphasised(one["spoiler_text"], one["emojis"]) if one["spoiler_text"] else "",
        content=written(one["content"], one["emojis"]),
        language=one["language"] or "",
        media=one["media_attachments"],
        hides_media=one["sensitive"] and not one["spoiler_text"],
        poll=one["poll"],
        card=one["card"],
        quoted=quoted.get("url") or "",
        is_reply=one["in_reply_to_id"] is not None,
        counts=(one["replies_count"], one["reblogs_count"], one["favourites_count"]),
        booster=(entity["account"]["display_name"] or entity["account"]["username"]) if boosted else "",
    )


def written(html: str, emojis: Sequence[dict[str, Any]], *, own: bool = False) -> str:
    """Somebody's HTML, cleaned, with their emoji as pictures. `own` links are what they say of themselves: `me`."""
    if not html:
        return ""
    cleaned = shown(html)
    return _pictured(_OWN_LINK.sub(_with_me, cleaned) if own else cleaned, emojis)


def _with_me(match: re.Match[str]) -> str:
    """People and hashtags that are mentioned are somebody and something else."""
    tag = match[0]
    return tag if _MENTION.search(tag) else tag.replace(' rel="nofollow noopener"', ' rel="nofollow noopener me"')


def emphasised(text: str, emojis: Sequence[dict[str, Any]]) -> str:
    """Somebody's plain text as HTML, with their emoji as pictures."""
    return _pictured(escape(text), emojis)


def _pictured(html: str, emojis: Sequence[dict[str, Any]]) -> str:
    """Only in the text between tags, and only the first of very many: each is forty times as long as its name."""
    if not emojis:
        return html
    urls = {one["shortcode"]: one["static_url"] for one in emojis}
    left = MOST_PICTURES

    def picture(match: re.Match[str]) -> str:
        nonlocal left
        url, code = urls.get(match[1]), escape(match[0])
        if not url:
            return match[0]
        left -= 1
        return f'<img class="emoji" src="{escape(url)}" alt="{code}" title="{code}">'

    pieces = _TAGS.split(html)
    for place in range(0, len(pieces), 2):
        pieces[place] = SHORTCODE.sub(picture, pieces[place], count=left)
        if left <= 0:
            break
    return "".join(pieces)
