"""What a page tells programs about itself: Open Graph for those who show links to it, JSON-LD for search engines."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import msgspec

from kith.base.settings import Settings
from kith.social.text.html import plain
from kith.web.translation import Translator

__all__ = ["Preview", "person_data", "post_data", "preview_of_person", "preview_of_post"]

LONGEST = 300
SCHEMA = "https://schema.org"
_VERBS = {"likes": "LikeAction", "shares": "ShareAction", "comments": "CommentAction", "follows": "FollowAction"}


class PreviewPicture(msgspec.Struct, frozen=True):
    url: str
    about: str = ""
    width: int = 0
    height: int = 0


class Preview(msgspec.Struct, frozen=True):
    """As a link to the page looks elsewhere. `kind` and `card` are Open Graph's and Twitter's words."""

    title: str
    about: str
    url: str
    kind: str
    card: str
    pictures: tuple[PreviewPicture, ...]
    published: str = ""
    name: str = ""
    oembed: str = ""


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def preview_of_person(person: dict[str, Any], handle: str, say: Translator) -> Preview:
    counts = say.count("{count} post", "{count} posts", person["statuses_count"])
    followers = say.count("{count} follower", "{count} followers", person["followers_count"])
    note = plain(person["note"])
    return Preview(
        title=f"{person['display_name'] or person['username']} ({handle})",
        about=_short(f"{counts} · {followers}{' · ' if note else ''}{note}"),
        url=person["url"],
        kind="profile",
        card="summary",
        pictures=(PreviewPicture(person["avatar_static"], person.get("avatar_description") or "", 400, 400),),
        name=handle.removeprefix("@"),
    )


def preview_of_post(settings: Settings, post: dict[str, Any], handle: str) -> Preview:
    """Behind a warning only the warning is told, and no picture that is to be hidden is shown."""
    author, address = post["account"], post["url"] or post["uri"]
    pictures = () if post["sensitive"] or post["spoiler_text"] else _pictures(post)
    face = PreviewPicture(author["avatar_static"], author.get("avatar_description") or "", 400, 400)
    at = quote(address, safe="")
    return Preview(
        title=f"{author['display_name'] or author['username']} ({handle})",
        about=_short(_said(post)),
        url=address,
        kind="article",
        card="summary_large_image" if pictures else "summary",
        pictures=pictures or (face,),
        published=post["created_at"],
        oembed="" if settings.is_members_only else f"{settings.base_url}/api/oembed?format=json&url={at}",
    )


def _said(post: dict[str, Any]) -> str:
    if post["spoiler_text"]:
        return str(post["spoiler_text"])
    options = " · ".join(one["title"] for one in (post["poll"] or {}).get("options", ()))
    return f"{plain(post['content'])} {options}"


def _pictures(post: dict[str, Any]) -> tuple[PreviewPicture, ...]:
    found = []
    for one in post["media_attachments"]:
        url = one["url"] if one["type"] == "image" else one["preview_url"]
        size = ((one["meta"] or {}).get("original" if one["type"] == "image" else "small")) or {}
        if url and one["type"] in ("image", "gifv", "video"):
            width, height = size.get("width") or 0, size.get("height") or 0
            found.append(PreviewPicture(url, one["description"] or "", width, height))
    return tuple(found)


def _count(what: str, count: int) -> dict[str, Any]:
    return {
        "@type": "InteractionCounter",
        "interactionType": f"{SCHEMA}/{_VERBS[what]}",
        "userInteractionCount": count,
    }


def _person(person: dict[str, Any], handle: str) -> dict[str, Any]:
    return {
        "@type": "Person",
        "name": person["display_name"] or person["username"],
        "alternateName": handle,
        "url": person["url"],
    }


def person_data(person: dict[str, Any], handle: str) -> dict[str, Any]:
    about = _person(person, handle) | {
        "identifier": handle,
        "description": plain(person["note"]),
        "image": person["avatar_static"],
        "interactionStatistic": [_count("follows", person["followers_count"])],
        "agentInteractionStatistic": {
            "@type": "InteractionCounter",
            "interactionType": f"{SCHEMA}/WriteAction",
            "userInteractionCount": person["statuses_count"],
        },
    }
    return {
        "@context": SCHEMA,
        "@type": "ProfilePage",
        "dateCreated": person["created_at"],
        "mainEntity": about,
    }


def post_data(post: dict[str, Any], handle: str) -> dict[str, Any]:
    hidden = post["sensitive"] or bool(post["spoiler_text"])
    data = {
        "@context": SCHEMA,
        "@type": "SocialMediaPosting",
        "url": post["url"] or post["uri"],
        "author": _person(post["account"], handle),
        "datePublished": post["created_at"],
        "text": _said(post).strip(),
        "image": [] if hidden else [one.url for one in _pictures(post)],
        "commentCount": post["replies_count"],
        "interactionStatistic": [
            _count("likes", post["favourites_count"]),
            _count("shares", post["reblogs_count"]),
            _count("comments", post["replies_count"]),
        ],
    }
    if post["edited_at"]:
        data["dateModified"] = post["edited_at"]
    if post["language"]:
        data["inLanguage"] = post["language"]
    return data
