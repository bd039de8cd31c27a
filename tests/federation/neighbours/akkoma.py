from __future__ import annotations

from typing import Any

from tests.federation.neighbours.sample import AS, PUBLIC, Sample, with_

K = "https://ak.example/users/kim"
CONTEXT = [AS, "https://ak.example/schemas/litepub-0.1.jsonld", {"@language": "und"}]
NOTE: dict[str, Any] = {
    "@context": CONTEXT,
    "actor": K,
    "attachment": [],
    "attributedTo": K,
    "cc": [PUBLIC],
    "content": "look :blobcat-hug:",
    "contentMap": {"en": "look :blobcat-hug:"},
    "htmlMfm": True,
    "id": "https://ak.example/objects/1",
    "published": "2024-03-05T10:00:00Z",
    "quoteUri": "https://b.example/users/bob/statuses/1",
    "source": {"content": "look :blobcat-hug:", "mediaType": "text/x.misskeymarkdown"},
    "summary": "",
    "tag": [
        {
            "icon": {"type": "Image", "url": "https://ak.example/emoji/blobcat-hug.png"},
            "id": None,
            "name": ":blobcat-hug:",
            "type": "Emoji",
            "updated": "1970-01-01T00:00:00Z",
        }
    ],
    "to": [f"{K}/followers"],
    "type": "Note",
}

SAMPLES: dict[str, Sample] = {
    "unlisted note with an emoji without id": Sample(
        "note",
        NOTE,
        {
            "audience.is_public_to": False,
            "audience.is_public_cc": True,
            "tags.emojis.0.id": None,
            "tags.emojis.0.shortcode": "blobcat-hug",
            "quote.uri": "https://b.example/users/bob/statuses/1",
            "quote.is_legacy": True,
        },
    ),
    "note to followers": Sample("note", with_(NOTE, cc=[]), {"audience.to": (f"{K}/followers",)}),
    "update without an id": Sample(
        "activity",
        {"@context": CONTEXT, "type": "Update", "actor": K, "object": NOTE, "to": [PUBLIC]},
        {"id": None, "note.id": "https://ak.example/objects/1"},
    ),
    "nodeinfo": Sample(
        "nodeinfo",
        {
            "software": {"name": "akkoma", "version": "3.15.2"},
            "usage": {"users": {"total": 4, "activeMonth": 2}, "localPosts": 99},
            "metadata": {"nodeName": "Kim's", "features": ["pleroma_api"]},
        },
        {"software": "akkoma", "name": "Kim's"},
    ),
}
