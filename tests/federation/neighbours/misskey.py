from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tests.federation.neighbours.sample import AS, PEM, PUBLIC, SECURITY, Sample, with_

M = "https://mk.example/users/9abcdef"
B = "https://b.example/users/bob"
CONTEXT = [
    AS,
    SECURITY,
    {"misskey": "https://misskey-hub.net/ns#", "_misskey_quote": "misskey:_misskey_quote", "isCat": "misskey:isCat"},
]
ACTOR: dict[str, Any] = {
    "@context": CONTEXT,
    "type": "Person",
    "id": M,
    "inbox": f"{M}/inbox",
    "outbox": f"{M}/outbox",
    "followers": f"{M}/followers",
    "following": f"{M}/following",
    "featured": f"{M}/collections/featured",
    "sharedInbox": "https://mk.example/inbox",
    "endpoints": {"sharedInbox": "https://mk.example/inbox"},
    "url": "https://mk.example/@mio",
    "preferredUsername": "mio",
    "name": None,
    "summary": None,
    "_misskey_summary": None,
    "icon": None,
    "image": {"type": "Image", "url": "https://mk.example/files/b.webp", "sensitive": False, "name": None},
    "tag": [],
    "manuallyApprovesFollowers": False,
    "discoverable": True,
    "publicKey": {"id": f"{M}#main-key", "type": "Key", "owner": M, "publicKeyPem": PEM},
    "isCat": True,
    "attachment": [{"type": "PropertyValue", "name": "Likes", "value": "fish"}],
    "vcard:Address": "Tokyo",
}
NOTE: dict[str, Any] = {
    "@context": CONTEXT,
    "id": "https://mk.example/notes/9xyz",
    "type": "Note",
    "attributedTo": M,
    "summary": None,
    "content": "<p>quoting<br><br>RE: <a href='https://b.example/@bob/1'>https://b.example/@bob/1</a></p>",
    "_misskey_content": "quoting",
    "source": {"content": "quoting", "mediaType": "text/x.misskeymarkdown"},
    "_misskey_quote": f"{B}/statuses/1",
    "quoteUrl": f"{B}/statuses/1",
    "published": "2024-03-05T10:00:00.000Z",
    "to": [PUBLIC],
    "cc": [f"{M}/followers"],
    "inReplyTo": None,
    "attachment": [
        {
            "type": "Document",
            "mediaType": "image/webp",
            "url": "https://mk.example/files/1.webp",
            "name": None,
            "sensitive": True,
        }
    ],
    "sensitive": True,
    "tag": [],
}

SAMPLES: dict[str, Sample] = {
    "actor": Sample(
        "actor",
        ACTOR,
        {
            "name": "",
            "summary": "",
            "avatar": None,
            "shared_inbox": "https://mk.example/inbox",
            "fields.0.value": "fish",
        },
    ),
    "quoting note": Sample(
        "note",
        NOTE,
        {
            "quote.uri": f"{B}/statuses/1",
            "quote.is_legacy": True,
            "is_sensitive": True,
            "attachments.files.0.description": "",
        },
    ),
    "note with an object link": Sample(
        "note",
        with_(
            NOTE,
            _misskey_quote=None,
            quoteUrl=None,
            tag=[
                {
                    "type": "Link",
                    "mediaType": 'application/ld+json; profile="https://www.w3.org/ns/activitystreams"',
                    "rel": "https://misskey-hub.net/ns#_misskey_quote",
                    "href": f"{B}/statuses/2",
                    "name": "RE: https://b.example/@bob/2",
                }
            ],
        ),
        {"quote.uri": f"{B}/statuses/2", "quote.is_legacy": True},
    ),
    "poll": Sample(
        "note",
        with_(
            NOTE,
            type="Question",
            endTime="2024-03-06T10:00:00.000Z",
            anyOf=[
                {
                    "type": "Note",
                    "_misskey_votes": 2,
                    "name": "sun",
                    "replies": {"type": "Collection", "totalItems": 2},
                },
                {"type": "Note", "_misskey_votes": 1, "name": "rain"},
            ],
        ),
        {
            "poll.multiple": True,
            "poll.options.0.votes": 2,
            "poll.options.1.votes": 1,
            "poll.voters_count": None,
            "poll.ends_at": datetime(2024, 3, 6, 10, tzinfo=UTC),
        },
    ),
    "like with a reaction": Sample(
        "activity",
        {
            "@context": CONTEXT,
            "type": "Like",
            "id": "https://mk.example/likes/1",
            "actor": M,
            "object": f"{B}/statuses/1",
            "content": ":blob:",
            "_misskey_reaction": ":blob:",
            "tag": [
                {
                    "id": "https://mk.example/emojis/blob",
                    "type": "Emoji",
                    "name": ":blob:",
                    "updated": "2024-03-05T10:00:00.000Z",
                    "icon": {"type": "Image", "mediaType": "image/png", "url": "https://mk.example/files/blob.png"},
                }
            ],
        },
        {"reaction": ":blob:", "emojis.0.shortcode": "blob"},
    ),
    "flag": Sample(
        "activity",
        {
            "@context": CONTEXT,
            "type": "Flag",
            "id": "https://mk.example/7d1c",
            "actor": "https://mk.example/users/instance.actor",
            "content": "Note: https://b.example/users/bob/statuses/1\n-----\nspam",
            "object": B,
        },
        {"objects": (B,), "links": (f"{B}/statuses/1",)},
    ),
    "delete": Sample(
        "activity",
        {
            "@context": CONTEXT,
            "type": "Delete",
            "actor": M,
            "object": {"id": "https://mk.example/notes/9xyz", "type": "Tombstone"},
            "published": "2024-03-05T10:00:00.000Z",
        },
        {"object_id": "https://mk.example/notes/9xyz", "id": None},
    ),
    "renote to followers": Sample(
        "activity",
        {
            "@context": CONTEXT,
            "id": "https://mk.example/notes/9ren/activity",
            "actor": M,
            "type": "Announce",
            "published": "2024-03-05T10:00:00.000Z",
            "to": [f"{M}/followers"],
            "cc": [],
            "object": f"{B}/statuses/1",
        },
        {"audience.is_public_to": False, "audience.to": (f"{M}/followers",)},
    ),
    "follow": Sample(
        "activity",
        {"@context": CONTEXT, "id": "https://mk.example/follows/9a/9b", "type": "Follow", "actor": M, "object": B},
        {"object_id": B},
    ),
    "webfinger": Sample(
        "webfinger",
        {
            "subject": "acct:mio@mk.example",
            "links": [
                {"rel": "self", "type": "application/activity+json", "href": M},
                {
                    "rel": "http://webfinger.net/rel/profile-page",
                    "type": "text/html",
                    "href": "https://mk.example/@mio",
                },
            ],
        },
        {"actor": M, "aliases": ()},
    ),
}
