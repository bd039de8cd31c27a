from __future__ import annotations

from typing import Any

from tests.federation.neighbours.sample import AS, PEM, PUBLIC, SECURITY, Sample

X = "https://px.example/users/xia"
POST = "https://px.example/p/xia/700000000000000001"
B = "https://b.example/users/bob"
NOTE: dict[str, Any] = {
    "@context": [AS, SECURITY, {"sc": "http://schema.org#", "commentsEnabled": {"@id": "pixelfed:commentsEnabled"}}],
    "id": POST,
    "type": "Note",
    "summary": None,
    "content": "dusk #sky",
    "inReplyTo": None,
    "published": "2024-03-05T10:00:00+00:00",
    "url": POST,
    "attributedTo": X,
    "to": [PUBLIC],
    "cc": [f"{X}/followers"],
    "sensitive": False,
    "attachment": [
        {
            "type": "Image",
            "mediaType": "image/jpeg",
            "url": f"https://px.example/storage/m/{number}.jpg",
            "name": f"dusk {number}",
            "summary": f"dusk {number}",
            "blurhash": "UBL_:rOpGG-oBUNG,qRj2so|=eE1w^n4S5NH",
            "width": 1440,
            "height": 1080,
            "focalPoint": [0, 0],
        }
        for number in range(6)
    ],
    "tag": [{"type": "Hashtag", "href": "https://px.example/discover/tags/sky", "name": "#sky"}],
    "commentsEnabled": True,
    "capabilities": {"announce": PUBLIC, "like": PUBLIC, "reply": PUBLIC},
    "location": {"type": "Place", "name": "Lisbon", "longitude": "-9.1", "latitude": "38.7", "country": "Portugal"},
}

SAMPLES: dict[str, Sample] = {
    "actor": Sample(
        "actor",
        {
            "@context": [SECURITY, AS, {"toot": "http://joinmastodon.org/ns#"}],
            "id": X,
            "type": "Person",
            "following": f"{X}/following",
            "followers": f"{X}/followers",
            "inbox": f"{X}/inbox",
            "outbox": f"{X}/outbox",
            "preferredUsername": "xia",
            "name": "Xia",
            "summary": None,
            "url": "https://px.example/xia",
            "manuallyApprovesFollowers": False,
            "indexable": True,
            "published": "2023-01-01T00:00:00Z",
            "publicKey": {"id": f"{X}#main-key", "owner": X, "publicKeyPem": PEM},
            "icon": {"type": "Image", "mediaType": "image/jpeg", "url": "https://px.example/storage/avatars/xia.jpg"},
            "endpoints": {"sharedInbox": "https://px.example/f/inbox"},
        },
        {"shared_inbox": "https://px.example/f/inbox", "url": "https://px.example/xia", "is_indexable": True},
    ),
    "album": Sample(
        "note",
        NOTE,
        {
            "attachments.files.0.url": "https://px.example/storage/m/0.jpg",
            "attachments.files.3.url": "https://px.example/storage/m/3.jpg",
            "attachments.files.-1.url": "https://px.example/storage/m/3.jpg",
            "attachments.files.0.kind": "image",
            "attachments.files.0.focus": (0.0, 0.0),
            "tags.hashtags.0.name": "sky",
        },
    ),
    "create": Sample(
        "activity",
        {
            "@context": NOTE["@context"],
            "id": f"{POST}/activity",
            "type": "Create",
            "actor": X,
            "published": "2024-03-05T10:00:00+00:00",
            "to": [PUBLIC],
            "cc": [f"{X}/followers"],
            "object": NOTE,
        },
        {"note.id": POST},
    ),
    "like": Sample(
        "activity",
        {"@context": AS, "id": f"{X}#likes/8", "type": "Like", "actor": X, "object": f"{B}/statuses/1"},
        {"object_id": f"{B}/statuses/1"},
    ),
    "delete": Sample(
        "activity",
        {
            "@context": AS,
            "id": f"{POST}#delete",
            "type": "Delete",
            "actor": X,
            "to": [PUBLIC],
            "object": {"id": POST, "type": "Tombstone"},
        },
        {"object_id": POST},
    ),
    "story": Sample(
        "activity",
        {
            "@context": AS,
            "id": "https://px.example/stories/xia/1/activity",
            "type": "Add",
            "actor": X,
            "to": [f"{X}/followers"],
            "object": {
                "id": "https://px.example/stories/xia/1",
                "type": "Story",
                "object": "bear:?t=secret&u=https://px.example/stories/xia/1",
            },
        },
        "no_target",
    ),
}
