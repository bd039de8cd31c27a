from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tests.federation.neighbours.sample import AS, PEM, PUBLIC, Sample, with_

P = "https://pl.example/users/pat"
OBJECT = "https://pl.example/objects/2a7c7a8d-6f0c-4c9a-8a5b-1f6c2b0c9e11"
B = "https://b.example/users/bob"
CONTEXT = [AS, "https://pl.example/schemas/litepub-0.1.jsonld", {"@language": "und"}]
ACTOR: dict[str, Any] = {
    "@context": CONTEXT,
    "alsoKnownAs": [],
    "attachment": [],
    "capabilities": {"acceptsChatMessages": True},
    "discoverable": False,
    "endpoints": {
        "oauthAuthorizationEndpoint": "https://pl.example/oauth/authorize",
        "sharedInbox": "https://pl.example/inbox",
        "uploadMedia": "https://pl.example/api/ap/upload_media",
    },
    "featured": f"{P}/collections/featured",
    "followers": f"{P}/followers",
    "following": f"{P}/following",
    "icon": {"type": "Image", "url": "https://pl.example/media/pat.png"},
    "id": P,
    "image": {"type": "Image", "url": "https://pl.example/images/banner.png"},
    "inbox": f"{P}/inbox",
    "manuallyApprovesFollowers": False,
    "name": "Pat",
    "outbox": f"{P}/outbox",
    "preferredUsername": "pat",
    "publicKey": {"id": f"{P}#main-key", "owner": P, "publicKeyPem": f"{PEM}\n"},
    "summary": "",
    "tag": [],
    "type": "Person",
    "url": P,
}
NOTE: dict[str, Any] = {
    "@context": CONTEXT,
    "actor": P,
    "attachment": [
        {
            "mediaType": "image/png",
            "name": "graph.png",
            "type": "Document",
            "url": [{"href": "https://pl.example/media/graph.png", "mediaType": "image/png", "type": "Link"}],
        }
    ],
    "attributedTo": P,
    "cc": [f"{P}/followers"],
    "content": "a graph",
    "context": "https://pl.example/contexts/5f0c",
    "conversation": "https://pl.example/contexts/5f0c",
    "id": OBJECT,
    "published": "2024-03-05T10:00:00.123456Z",
    "sensitive": None,
    "source": {"content": "a graph", "mediaType": "text/plain"},
    "summary": "",
    "tag": ["graphs", {"href": "https://pl.example/tag/graphs", "name": "#graphs", "type": "Hashtag"}],
    "to": [PUBLIC],
    "type": "Note",
}

SAMPLES: dict[str, Sample] = {
    "actor": Sample(
        "actor",
        ACTOR,
        {"shared_inbox": "https://pl.example/inbox", "url": P, "header.url": "https://pl.example/images/banner.png"},
    ),
    "note": Sample(
        "note",
        NOTE,
        {
            "attachments.files.0.url": "https://pl.example/media/graph.png",
            "attachments.files.0.media_type": "image/png",
            "tags.hashtags.0.name": "graphs",
            "context": "https://pl.example/contexts/5f0c",
            "is_sensitive": False,
            "published": datetime(2024, 3, 5, 10, 0, 0, 123456, tzinfo=UTC),
        },
    ),
    "create": Sample(
        "activity",
        {
            "@context": CONTEXT,
            "id": "https://pl.example/activities/1",
            "type": "Create",
            "actor": P,
            "directMessage": False,
            "to": [PUBLIC],
            "cc": [f"{P}/followers"],
            "object": NOTE,
        },
        {"note.id": OBJECT},
    ),
    "question that closes later": Sample(
        "note",
        with_(
            NOTE,
            type="Question",
            anyOf=[{"name": "tea", "type": "Note", "replies": {"totalItems": 1, "type": "Collection"}}],
            oneOf=[],
            closed="2099-01-01T00:00:00Z",
        ),
        {"poll.multiple": True, "poll.ends_at": datetime(2099, 1, 1, tzinfo=UTC), "poll.is_closed": False},
    ),
    "reaction": Sample(
        "activity",
        {
            "@context": CONTEXT,
            "id": "https://pl.example/activities/2",
            "type": "EmojiReact",
            "actor": P,
            "object": f"{B}/statuses/1",
            "content": "🔥",
            "to": [B],
        },
        {"reaction": "🔥", "object_id": f"{B}/statuses/1"},
    ),
    "undo of a reaction": Sample(
        "activity",
        {
            "@context": CONTEXT,
            "id": "https://pl.example/activities/3",
            "type": "Undo",
            "actor": P,
            "object": {
                "id": "https://pl.example/activities/2",
                "type": "EmojiReact",
                "actor": P,
                "object": f"{B}/statuses/1",
                "content": "🔥",
            },
        },
        {"undone.reaction": "🔥"},
    ),
    "undo by id": Sample(
        "activity",
        {
            "@context": CONTEXT,
            "id": "https://pl.example/activities/4",
            "type": "Undo",
            "actor": P,
            "object": "https://pl.example/activities/2",
        },
        {"undone": None, "object_id": "https://pl.example/activities/2"},
    ),
    "chat message": Sample(
        "activity",
        {
            "@context": CONTEXT,
            "id": "https://pl.example/activities/5",
            "type": "Create",
            "actor": P,
            "to": [B],
            "object": {"id": OBJECT, "type": "ChatMessage", "actor": P, "attributedTo": P, "content": "hi", "to": [B]},
        },
        "unknown_type",
    ),
    "followers of somebody who hides them": Sample(
        "collection",
        {
            "@context": CONTEXT,
            "id": f"{P}/followers",
            "type": "OrderedCollection",
            "totalItems": 0,
            "first": {
                "id": f"{P}/followers?page=1",
                "type": "OrderedCollectionPage",
                "orderedItems": [],
                "totalItems": 0,
                "partOf": f"{P}/followers",
            },
        },
        {"total": 0, "first_page.items": ()},
    ),
}
