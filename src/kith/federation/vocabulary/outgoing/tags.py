"""What a text names: people, hashtags, emoji."""

from __future__ import annotations

import msgspec

from kith.base.settings import Settings
from kith.federation.vocabulary.outgoing import identifiers
from kith.federation.vocabulary.outgoing.attachments import image
from kith.federation.vocabulary.outgoing.contexts import Doc
from kith.federation.vocabulary.outgoing.moments import second
from kith.social.addresses import tag_url
from kith.social.emojis.tables import Emoji

__all__ = ["Mentioned", "emoji", "featured_tag", "hashtag", "mention"]


class Mentioned(msgspec.Struct, frozen=True):
    """Somebody a post names. One who is silently meant, or may not be told, is not both named and addressed.

    `group` are the followers of a group: whoever speaks to it speaks to them.
    """

    uri: str
    username: str
    domain: str
    is_named: bool = True
    is_addressed: bool = True
    group: str | None = None


def mention(settings: Settings, one: Mentioned) -> Doc:
    return {"type": "Mention", "href": one.uri, "name": identifiers.handle(settings, one.username, one.domain)}


def hashtag(settings: Settings, name: str) -> Doc:
    return {"type": "Hashtag", "href": tag_url(settings, name), "name": f"#{name}"}


def featured_tag(profile: str, name: str) -> Doc:
    return {"type": "Hashtag", "href": identifiers.tagged(profile, name), "name": f"#{name}"}


def emoji(settings: Settings, row: Emoji) -> Doc:
    return {
        "id": row.uri or identifiers.emoji(settings, row.id),
        "type": "Emoji",
        "name": f":{row.shortcode}:",
        "updated": second(row.updated_at),
        "icon": image(settings, row.file),
    }
