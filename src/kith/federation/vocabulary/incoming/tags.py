"""What stands under `tag`: people, words and pictures that the text speaks of, and links to other objects."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import msgspec

from kith.federation.vocabulary.incoming import limits
from kith.federation.vocabulary.incoming.fields import each, read_instant, read_text, type_of
from kith.federation.vocabulary.incoming.ids import read_id, without_fragment
from kith.federation.vocabulary.incoming.images import read_image, read_media_type
from kith.federation.vocabulary.incoming.parsing import Document

__all__ = ["IncomingEmoji", "IncomingHashtag", "IncomingMention", "IncomingTags", "read_hashtag", "read_tags"]

_KNOWN = frozenset({"Mention", "Hashtag", "Emoji", "Link"})
_SHORTCODE = re.compile(r"[A-Za-z0-9_+-]{1,2048}", re.ASCII)
_OBJECTS = frozenset({"application/activity+json", "application/ld+json"})
_QUOTE_RELATIONS = frozenset({"https://misskey-hub.net/ns#_misskey_quote", "https://w3id.org/fep/044f#quote"})


class IncomingMention(msgspec.Struct, frozen=True):
    """`href` is who; `name` is only how the author spelled them."""

    href: str
    name: str


class IncomingHashtag(msgspec.Struct, frozen=True):
    """`name` without the sign; `href` is a page, and no id."""

    name: str
    href: str | None


class IncomingEmoji(msgspec.Struct, frozen=True):
    """Known by its shortcode and the server it came from: some give it no id."""

    shortcode: str
    url: str
    media_type: str
    id: str | None
    updated: datetime | None


class IncomingTags(msgspec.Struct, frozen=True):
    """`quote` is a link to a quoted object, as FEP-e232 writes it."""

    mentions: tuple[IncomingMention, ...]
    hashtags: tuple[IncomingHashtag, ...]
    emojis: tuple[IncomingEmoji, ...]
    quote: str | None


def read_tags(value: Any) -> IncomingTags:
    mentions: dict[str, IncomingMention] = {}
    hashtags: dict[str, IncomingHashtag] = {}
    emojis: dict[str, IncomingEmoji] = {}
    quote = None
    for tag in each(value, limits.TAGS):
        if not isinstance(tag, dict):
            continue
        kind = type_of(tag, _KNOWN)
        if kind == "Mention" and len(mentions) < limits.MENTIONS:
            if (mention := _mention(tag)) is not None:
                mentions.setdefault(mention.href, mention)
        elif kind == "Hashtag" and len(hashtags) < limits.HASHTAGS:
            if (hashtag := read_hashtag(tag)) is not None:
                hashtags.setdefault(hashtag.name.lower(), hashtag)
        elif kind == "Emoji" and len(emojis) < limits.EMOJIS:
            if (emoji := _emoji(tag)) is not None:
                emojis.setdefault(emoji.shortcode, emoji)
        elif kind == "Link" and quote is None:
            quote = _quoted(tag)
    return IncomingTags(tuple(mentions.values()), tuple(hashtags.values()), tuple(emojis.values()), quote)


def _mention(tag: Document) -> IncomingMention | None:
    href = read_id(tag.get("href"))
    if href is None:
        return None
    return IncomingMention(without_fragment(href), read_text(tag.get("name"), limits.NAME_LENGTH))


def read_hashtag(tag: Document) -> IncomingHashtag | None:
    """A name that is too long to be a word is left out rather than cut: it would be another word."""
    name = read_text(tag.get("name"), limits.HASHTAG_LENGTH + 2).strip().removeprefix("#")
    if not 0 < len(name) <= limits.HASHTAG_LENGTH or any(one.isspace() for one in name):
        return None
    return IncomingHashtag(name, read_id(tag.get("href")))


def _emoji(tag: Document) -> IncomingEmoji | None:
    shortcode = read_text(tag.get("name"), limits.SHORTCODE_LENGTH + 3).removeprefix(":").removesuffix(":")
    image = read_image(tag.get("icon"))
    if image is None or not _SHORTCODE.fullmatch(shortcode):
        return None
    return IncomingEmoji(
        shortcode, image.url, image.media_type, read_id(tag.get("id")), read_instant(tag.get("updated"))
    )


def _quoted(tag: Document) -> str | None:
    relations = {one for one in each(tag.get("rel"), 10) if isinstance(one, str)}
    if relations & _QUOTE_RELATIONS and read_media_type(tag.get("mediaType")) in _OBJECTS:
        return read_id(tag.get("href"))
    return None
