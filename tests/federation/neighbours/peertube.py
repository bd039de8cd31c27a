from __future__ import annotations

from typing import Any

from tests.federation.neighbours.sample import AS, PEM, PUBLIC, SECURITY, Sample

T = "https://pt.example/accounts/tam"
CHANNEL = "https://pt.example/video-channels/trains"
WATCH = "https://pt.example/videos/watch/9c9de5e8-0a1e-484a-b099-e80766180a6d"
CONTEXT = [
    AS,
    SECURITY,
    {"RsaSignature2017": "https://w3id.org/security#RsaSignature2017"},
    {"pt": "https://joinpeertube.org/ns#"},
]
VIDEO: dict[str, Any] = {
    "@context": CONTEXT,
    "type": "Video",
    "id": WATCH,
    "name": "Trains <at> dusk",
    "duration": "PT140S",
    "uuid": "9c9de5e8-0a1e-484a-b099-e80766180a6d",
    "tag": [{"type": "Hashtag", "name": "trains"}],
    "category": {"identifier": "2", "name": "Films"},
    "language": {"identifier": "en", "name": "English"},
    "views": 12,
    "sensitive": False,
    "waitTranscoding": True,
    "state": 1,
    "commentsEnabled": True,
    "published": "2024-03-05T10:00:00.000Z",
    "updated": "2024-03-05T11:00:00.000Z",
    "mediaType": "text/markdown",
    "content": "A **film**",
    "summary": None,
    "support": None,
    "icon": [
        {"type": "Image", "url": "https://pt.example/thumbnails/1.jpg", "mediaType": "image/jpeg", "width": 280},
        {"type": "Image", "url": "https://pt.example/previews/1.jpg", "mediaType": "image/jpeg", "width": 850},
    ],
    "url": [
        {"type": "Link", "mediaType": "text/html", "href": "https://pt.example/w/kkGMgK9ZtnKfYAgnEtQxbv"},
        {
            "type": "Link",
            "mediaType": "application/x-mpegURL",
            "href": "https://pt.example/hls/master.m3u8",
            "tag": [{"type": "Infohash", "name": "39f5"}],
        },
        {"type": "Link", "mediaType": "video/mp4", "href": "https://pt.example/webseed/1.mp4", "height": 720},
    ],
    "likes": f"{WATCH}/likes",
    "dislikes": f"{WATCH}/dislikes",
    "shares": f"{WATCH}/announces",
    "comments": f"{WATCH}/comments",
    "attributedTo": [{"type": "Group", "id": CHANNEL}, {"type": "Person", "id": T}],
    "to": [PUBLIC],
    "cc": [f"{T}/followers"],
}

SAMPLES: dict[str, Sample] = {
    "channel": Sample(
        "actor",
        {
            "@context": CONTEXT,
            "type": "Group",
            "id": CHANNEL,
            "following": f"{CHANNEL}/following",
            "followers": f"{CHANNEL}/followers",
            "playlists": f"{CHANNEL}/playlists",
            "inbox": f"{CHANNEL}/inbox",
            "outbox": f"{CHANNEL}/outbox",
            "preferredUsername": "trains",
            "url": CHANNEL,
            "name": "Trains",
            "endpoints": {"sharedInbox": "https://pt.example/inbox"},
            "publicKey": {"id": f"{CHANNEL}#main-key", "owner": CHANNEL, "publicKeyPem": PEM},
            "published": "2023-01-01T00:00:00.000Z",
            "icon": [
                {
                    "type": "Image",
                    "mediaType": "image/png",
                    "height": 48,
                    "width": 48,
                    "url": "https://pt.example/48.png",
                },
                {
                    "type": "Image",
                    "mediaType": "image/png",
                    "height": 120,
                    "width": 120,
                    "url": "https://pt.example/120.png",
                },
            ],
            "summary": None,
            "support": None,
            "postingRestrictedToMods": True,
            "attributedTo": [{"type": "Person", "id": T}],
        },
        {"type": "Group", "avatar.url": "https://pt.example/48.png", "username": "trains"},
    ),
    "film": Sample(
        "note",
        VIDEO,
        {
            "type": "Video",
            "author": T,
            "content.html": "<h2>Trains &lt;at&gt; dusk</h2>\n\n"
            '<p><a href="https://pt.example/w/kkGMgK9ZtnKfYAgnEtQxbv">https://pt.example/w/kkGMgK9ZtnKfYAgnEtQxbv</a></p>',
            "url": "https://pt.example/w/kkGMgK9ZtnKfYAgnEtQxbv",
            "tags.hashtags.0.name": "trains",
            "likes_count": None,
        },
    ),
    "create": Sample(
        "activity",
        {
            "@context": CONTEXT,
            "type": "Create",
            "id": f"{WATCH}/activity",
            "actor": T,
            "object": VIDEO,
            "to": [PUBLIC],
            "cc": [f"{T}/followers"],
        },
        {"note.type": "Video", "note.author": T},
    ),
    "announce by the channel": Sample(
        "activity",
        {
            "@context": CONTEXT,
            "type": "Announce",
            "id": f"{WATCH}/announces/3",
            "actor": CHANNEL,
            "object": WATCH,
            "to": [PUBLIC, f"{CHANNEL}/followers"],
            "cc": [],
        },
        {"object_id": WATCH, "actor": CHANNEL},
    ),
    "comment": Sample(
        "note",
        {
            "@context": CONTEXT,
            "type": "Note",
            "id": f"{WATCH}/comments/9",
            "content": "nice",
            "mediaType": "text/html",
            "inReplyTo": WATCH,
            "updated": "2024-03-05T10:00:00.000Z",
            "published": "2024-03-05T10:00:00.000Z",
            "url": f"{WATCH}/comments/9",
            "attributedTo": T,
            "tag": [],
            "to": PUBLIC,
            "cc": [f"{T}/followers"],
        },
        {"in_reply_to": WATCH, "content.html": "nice"},
    ),
    "key at the address of the actor": Sample(
        "key",
        {
            "@context": [AS, SECURITY],
            "type": "Person",
            "id": T,
            "inbox": f"{T}/inbox",
            "preferredUsername": "tam",
            "publicKey": {"id": f"{T}#main-key", "owner": T, "publicKeyPem": PEM},
        },
        {"id": f"{T}#main-key", "owner": T},
    ),
    "view": Sample(
        "activity",
        {"@context": CONTEXT, "type": "View", "id": f"{T}/views/1", "actor": T, "object": WATCH},
        "unknown_type",
    ),
    "mirrored file": Sample(
        "activity",
        {
            "@context": CONTEXT,
            "type": "Create",
            "id": "https://pt.example/redundancy/1/activity",
            "actor": T,
            "object": {"id": "https://pt.example/redundancy/1", "type": "CacheFile", "object": WATCH},
        },
        "unknown_type",
    ),
}
