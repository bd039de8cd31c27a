from __future__ import annotations

from typing import Any

from tests.federation.neighbours.sample import AS, PEM, PUBLIC, SECURITY, Sample, with_

S = "https://snac.example/sid"
B = "https://b.example/users/bob"
NOTE_ID = f"{S}/p/1709632800.123456"
NOTE: dict[str, Any] = {
    "@context": AS,
    "type": "Note",
    "id": NOTE_ID,
    "published": "2024-03-05T10:00:00Z",
    "attributedTo": S,
    "summary": "",
    "content": "<p>small</p>",
    "context": f"{NOTE_ID}#ctxt",
    "url": NOTE_ID,
    "to": [PUBLIC],
    "cc": [B],
    "inReplyTo": None,
    "tag": [{"type": "Mention", "href": B, "name": "@bob@b.example"}],
    "sourceContent": "small",
    "source": {"content": "small", "mediaType": "text/markdown"},
    "attachment": [],
    "sensitive": False,
}
FOLLOW = {"@context": AS, "type": "Follow", "id": f"{S}/d/1709632801.1/Follow", "actor": S, "object": B}

SAMPLES: dict[str, Sample] = {
    "actor": Sample(
        "actor",
        {
            "@context": [AS, SECURITY],
            "type": "Person",
            "id": S,
            "url": S,
            "name": "Sid",
            "preferredUsername": "sid",
            "published": "2024-01-01T00:00:00Z",
            "updated": "2024-02-01T00:00:00Z",
            "summary": "<p>small</p>",
            "manuallyApprovesFollowers": False,
            "discoverable": True,
            "inbox": f"{S}/inbox",
            "outbox": f"{S}/outbox",
            "followers": f"{S}/followers",
            "following": f"{S}/following",
            "featured": f"{S}/featured",
            "endpoints": {"sharedInbox": "https://snac.example/shared-inbox"},
            "publicKey": {"id": f"{S}#main-key", "owner": S, "publicKeyPem": PEM},
            "icon": {"type": "Image", "mediaType": "image/jpeg", "url": "https://snac.example/susie.png"},
            "attachment": [{"type": "PropertyValue", "name": "Web", "value": "<a href='https://sid.example'>sid</a>"}],
        },
        {"username": "sid", "shared_inbox": "https://snac.example/shared-inbox", "fields.0.name": "Web"},
    ),
    "note": Sample("note", NOTE, {"content.html": "<p>small</p>", "tags.mentions.0.href": B, "in_reply_to": None}),
    "vote that has a content and a mention": Sample(
        "note",
        with_(NOTE, name="rye", content="rye", inReplyTo=f"{B}/statuses/1", to=[B], cc=[]),
        {"content.title": "rye", "in_reply_to": f"{B}/statuses/1", "audience.is_public_to": False},
    ),
    "undo of a follow": Sample(
        "activity",
        {"@context": AS, "type": "Undo", "id": f"{S}/d/1709632802.1/Undo", "actor": S, "object": FOLLOW},
        {"undone.id": FOLLOW["id"], "undone.object_id": B},
    ),
    "boost": Sample(
        "activity",
        {
            "@context": AS,
            "type": "Announce",
            "id": f"{S}/d/1709632803.1/Announce",
            "actor": S,
            "published": "2024-03-05T10:00:03Z",
            "object": f"{B}/statuses/1",
            "to": [PUBLIC],
            "cc": [B, f"{S}/followers"],
        },
        {"object_id": f"{B}/statuses/1"},
    ),
}
