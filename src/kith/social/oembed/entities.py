"""A post as other sites embed it. What they are given needs no script, and nothing of theirs is in it."""

from __future__ import annotations

from html import escape
from typing import Any

from kith.base.settings import Settings
from kith.social.accounts.tables import Account
from kith.social.statuses.tables import Status

KEPT = 86_400  # seconds
LONGEST_TITLE = 80


def render_embedded(
    settings: Settings, status: Status, author: Account, *, width: int, height: int | None
) -> dict[str, Any]:
    shown = author.display_name or author.username
    profile = author.url or author.uri
    return {
        "type": "rich",
        "version": "1.0",
        "title": f"{shown} (@{author.username})"[:LONGEST_TITLE],
        "author_name": shown,
        "author_url": profile,
        "provider_name": settings.title,
        "provider_url": f"{settings.base_url}/",
        "cache_age": KEPT,
        "html": render_quote(status, author, width=width),
        "width": width,
        "height": height,
    }


def render_quote(status: Status, author: Account, *, width: int | None = None) -> str:
    """The post as HTML. Behind a warning only the warning is shown."""
    address = status.url or status.uri
    said = f"<p>{escape(status.spoiler_text)}</p>" if status.spoiler_text else status.content
    who = escape(f"{author.display_name or author.username} (@{author.username})")
    date = f"{status.created_at:%Y-%m-%d}"
    style = "" if width is None else f' style="max-width: {width}px"'
    return (
        f'<blockquote class="kith-embed" cite="{escape(address)}"{style}>{said}'
        f'<footer><a href="{escape(address)}">{who}, {date}</a></footer></blockquote>'
    )
