from __future__ import annotations

from typing import Any

from tests.federation.neighbours.sample import AS, PEM, SECURITY, Sample

K = "https://takahe.example/@kim@takahe.example/"
B = "https://b.example/users/bob"
NOTE_ID = f"{K}posts/127/"
CONTEXT: list[Any] = [
    AS,
    {
        "toot": "http://joinmastodon.org/ns#",
        "Emoji": "toot:Emoji",
        "featured": {"@id": "toot:featured", "@type": "@id"},
    },
    SECURITY,
]
NOTE: dict[str, Any] = {
    "id": NOTE_ID,
    "type": "Note",
    "to": "as:Public",
    "cc": [f"{K}followers/"],
    "tag": [],
    "url": "https://takahe.example/@kim/posts/127/",
    "content": "<p>short tail</p>",
    "published": "2024-03-05T10:00:00.000Z",
    "attributedTo": K,
    "toot:votersCount": None,
    "sensitive": False,
}

SAMPLES: dict[str, Sample] = {
    "actor": Sample(
        "actor",
        {
            "@context": CONTEXT,
            "id": K,
            "type": "Person",
            "inbox": f"{K}inbox/",
            "outbox": f"{K}outbox/",
            "followers": f"{K}followers/",
            "following": f"{K}following/",
            "toot:featured": f"{K}collections/featured/",
            "preferredUsername": "kim",
            "publicKey": {"id": f"{K}#main-key", "owner": K, "publicKeyPem": PEM},
            "published": "2024-01-01T00:00:00.000Z",
            "url": "https://takahe.example/@kim/",
            "endpoints": {"sharedInbox": "https://takahe.example/inbox/"},
            "name": "Kim",
            "manuallyApprovesFollowers": False,
            "discoverable": True,
        },
        {"id": K, "username": "kim", "inbox": f"{K}inbox/", "keys.keys.0.id": f"{K}#main-key"},
    ),
    "create with a short name of everybody": Sample(
        "activity",
        {
            "@context": CONTEXT,
            "id": f"{NOTE_ID}#create",
            "type": "Create",
            "actor": K,
            "object": NOTE,
            "to": "as:Public",
        },
        {"note.id": NOTE_ID, "note.audience.is_public_to": True, "note.content.html": "<p>short tail</p>"},
    ),
    "follow": Sample(
        "activity",
        {"@context": CONTEXT, "type": "Follow", "id": f"{K}follow/9/", "actor": K, "object": B},
        {"id": f"{K}follow/9/", "object_id": B},
    ),
    "deletion of a post": Sample(
        "activity",
        {
            "@context": CONTEXT,
            "type": "Delete",
            "id": f"{NOTE_ID}#delete",
            "actor": K,
            "object": {"type": "Tombstone", "id": NOTE_ID},
            "to": "as:Public",
        },
        {"object_id": NOTE_ID},
    ),
}
