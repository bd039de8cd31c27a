from __future__ import annotations

from typing import Any

from tests.federation.neighbours.sample import AS, PEM, PUBLIC, Sample

L = "https://lm.example/u/lou"
GROUP = "https://lm.example/c/bread"
POST = "https://lm.example/post/1"
CONTEXT = ["https://join-lemmy.org/context.json", AS]
PAGE: dict[str, Any] = {
    "type": "Page",
    "id": POST,
    "attributedTo": L,
    "to": [GROUP, PUBLIC],
    "cc": [],
    "audience": GROUP,
    "name": "Which flour?",
    "content": "<p>asking</p>",
    "mediaType": "text/html",
    "source": {"content": "asking", "mediaType": "text/markdown"},
    "attachment": [{"href": "https://flour.example/", "mediaType": "text/html; charset=utf-8", "type": "Link"}],
    "image": {"type": "Image", "url": "https://lm.example/pictrs/1.webp"},
    "sensitive": False,
    "published": "2024-03-05T10:00:00.123456Z",
    "language": {"identifier": "en", "name": "English"},
    "tag": [{"href": POST, "name": "#bread", "type": "Hashtag"}],
}
CREATE: dict[str, Any] = {
    "@context": CONTEXT,
    "actor": L,
    "to": [GROUP, PUBLIC],
    "object": PAGE,
    "cc": [],
    "audience": GROUP,
    "type": "Create",
    "id": "https://lm.example/activities/create/1",
}


def _announced(activity: dict[str, Any]) -> dict[str, Any]:
    return {
        "@context": CONTEXT,
        "actor": GROUP,
        "to": [PUBLIC],
        "object": activity,
        "cc": [f"{GROUP}/followers"],
        "type": "Announce",
        "id": "https://lm.example/activities/announce/1",
    }


SAMPLES: dict[str, Sample] = {
    "community": Sample(
        "actor",
        {
            "@context": CONTEXT,
            "type": "Group",
            "id": GROUP,
            "preferredUsername": "bread",
            "inbox": f"{GROUP}/inbox",
            "followers": f"{GROUP}/followers",
            "publicKey": {"id": f"{GROUP}#main-key", "owner": GROUP, "publicKeyPem": PEM},
            "name": "Bread",
            "summary": "<p>all of it</p>",
            "source": {"content": "all of it", "mediaType": "text/markdown"},
            "sensitive": False,
            "attributedTo": f"{GROUP}/moderators",
            "postingRestrictedToMods": False,
            "outbox": f"{GROUP}/outbox",
            "endpoints": {"sharedInbox": "https://lm.example/inbox"},
            "featured": f"{GROUP}/featured",
            "language": [{"identifier": "en", "name": "English"}],
            "published": "2023-01-01T00:00:00.000000Z",
        },
        {"type": "Group", "name": "Bread", "url": None},
    ),
    "page": Sample(
        "note",
        {"@context": CONTEXT, **PAGE},
        {
            "type": "Page",
            "content.title": "Which flour?",
            "content.html": f'<h2>Which flour?</h2>\n\n<p><a href="{POST}">{POST}</a></p>',
            "attachments.link": "https://flour.example/",
            "attachments.files": (),
            "audience.is_public_to": True,
        },
    ),
    "create": Sample("activity", CREATE, {"note.type": "Page"}),
    "announced create": Sample("activity", _announced(CREATE), {"object_id": POST, "note": None, "actor": GROUP}),
    "announced vote": Sample(
        "activity",
        _announced({"id": "https://lm.example/activities/like/1", "type": "Like", "actor": L, "object": POST}),
        "unknown_type",
    ),
    "comment": Sample(
        "note",
        {
            "@context": CONTEXT,
            "type": "Note",
            "id": "https://lm.example/comment/2",
            "attributedTo": L,
            "to": PUBLIC,
            "cc": [GROUP, "https://b.example/users/bob"],
            "audience": GROUP,
            "content": "<p>rye</p>",
            "inReplyTo": POST,
            "mediaType": "text/html",
            "distinguished": False,
            "language": {"identifier": "en", "name": "English"},
            "published": "2024-03-05T10:00:00.123456Z",
            "tag": [{"href": "https://b.example/users/bob", "type": "Mention", "name": "@bob@b.example"}],
        },
        {"in_reply_to": POST, "tags.mentions.0.href": "https://b.example/users/bob"},
    ),
    "downvote": Sample(
        "activity",
        {
            "@context": CONTEXT,
            "id": "https://lm.example/activities/dislike/1",
            "type": "Dislike",
            "actor": L,
            "object": POST,
        },
        "unknown_type",
    ),
    "removal by a moderator elsewhere": Sample(
        "activity",
        {
            "@context": CONTEXT,
            "id": "https://lm.example/activities/delete/1",
            "type": "Delete",
            "actor": L,
            "object": "https://other.example/post/9",
            "summary": "spam",
        },
        "wrong_host",
    ),
    "follow": Sample(
        "activity",
        {
            "@context": CONTEXT,
            "id": "https://lm.example/activities/follow/1",
            "type": "Follow",
            "actor": L,
            "to": ["https://b.example/users/bob"],
            "object": "https://b.example/users/bob",
        },
        {"object_id": "https://b.example/users/bob"},
    ),
}
