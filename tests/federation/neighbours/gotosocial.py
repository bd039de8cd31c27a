from __future__ import annotations

from typing import Any

from tests.federation.neighbours.sample import AS, PEM, PUBLIC, SECURITY, Sample, with_

G = "https://gts.example/users/gil"
NOTE_ID = f"{G}/statuses/01HEN2RZ8BG29Y5Z9VJC73HZW7"
B = "https://b.example/users/bob"
KEY = {"id": f"{G}/main-key", "owner": G, "publicKeyPem": PEM}
ACTOR: dict[str, Any] = {
    "@context": [SECURITY, AS, "http://joinmastodon.org/ns"],
    "discoverable": True,
    "featured": f"{G}/collections/featured",
    "followers": f"{G}/followers",
    "following": f"{G}/following",
    "hidesCcPublicFromUnauthedWeb": False,
    "hidesToPublicFromUnauthedWeb": True,
    "icon": {"mediaType": "image/jpeg", "name": "me", "type": "Image", "url": "https://gts.example/avatar.jpg"},
    "id": G,
    "inbox": f"{G}/inbox",
    "manuallyApprovesFollowers": True,
    "name": "Gil",
    "outbox": f"{G}/outbox",
    "preferredUsername": "gil",
    "publicKey": KEY,
    "published": "2022-06-03T12:12:12Z",
    "summary": "<p>hello</p>",
    "tag": [],
    "type": "Person",
    "url": "https://gts.example/@gil",
}
NOTE: dict[str, Any] = {
    "@context": ["https://gotosocial.org/ns", AS, {"sensitive": "as:sensitive"}],
    "attachment": {
        "blurhash": "UBL_:rOpGG-oBUNG,qRj2so|=eE1w^n4S5NH",
        "mediaType": "image/webp",
        "summary": "a hill",
        "name": "a hill",
        "type": "Image",
        "url": "https://gts.example/fileserver/1.webp",
    },
    "attributedTo": G,
    "cc": f"{G}/followers",
    "content": "<p>hills</p>",
    "contentMap": {"de": "<p>Hügel</p>", "en": "<p>hills</p>"},
    "id": NOTE_ID,
    "interactionPolicy": {
        "canAnnounce": {"always": PUBLIC, "approvalRequired": []},
        "canLike": {"always": "as:Public", "approvalRequired": []},
        "canReply": {"automaticApproval": [G, f"{G}/followers"], "manualApproval": PUBLIC},
    },
    "published": "2024-03-05T10:00:00.123456+02:00",
    "replies": {
        "first": {"id": f"{NOTE_ID}/replies?page=true", "partOf": f"{NOTE_ID}/replies", "type": "CollectionPage"},
        "id": f"{NOTE_ID}/replies",
        "type": "Collection",
    },
    "sensitive": False,
    "summary": "",
    "tag": {"href": B, "name": "@bob@b.example", "type": "Mention"},
    "to": PUBLIC,
    "type": "Note",
    "url": "https://gts.example/@gil/statuses/01HEN2RZ8BG29Y5Z9VJC73HZW7",
}


def _vote(name: str, number: int) -> dict[str, Any]:
    return {
        "attributedTo": G,
        "id": f"{G}#votes/{number}",
        "inReplyTo": f"{B}/statuses/1",
        "name": name,
        "to": B,
        "type": "Note",
    }


SAMPLES: dict[str, Sample] = {
    "actor": Sample(
        "actor",
        ACTOR,
        {
            "keys.keys.0.id": f"{G}/main-key",
            "shared_inbox": None,
            "is_locked": True,
            "hides_public_from_web": True,
            "hides_unlisted_from_web": False,
        },
    ),
    "stub at the address of the key": Sample(
        "key",
        {"@context": [SECURITY, AS], "id": G, "preferredUsername": "gil", "publicKey": KEY, "type": "Person"},
        {"id": f"{G}/main-key", "owner": G},
    ),
    "stub as an actor": Sample(
        "actor",
        {"@context": [SECURITY, AS], "id": G, "preferredUsername": "gil", "publicKey": KEY, "type": "Person"},
        "no_inbox",
    ),
    "note": Sample(
        "note",
        NOTE,
        {
            "attachments.files.0.description": "a hill",
            "audience.is_public_to": True,
            "audience.cc": (f"{G}/followers",),
            "content.html": "<p>hills</p>",
            "content.language": "en",
            "tags.mentions.0.href": B,
            "policy.can_like.automatic": (PUBLIC,),
            "policy.can_reply.automatic": (G, f"{G}/followers"),
            "policy.can_reply.manual": (PUBLIC,),
            "replies.first": f"{NOTE_ID}/replies?page=true",
            "published.hour": 8,
        },
    ),
    "create in an outbox": Sample(
        "activity",
        {"@context": AS, "id": f"{NOTE_ID}/activity#Create", "type": "Create", "actor": G, "object": NOTE_ID},
        {"object_id": NOTE_ID, "note": None},
    ),
    "votes in one activity": Sample(
        "activity",
        {
            "@context": AS,
            "id": f"{G}/activity#vote/1",
            "type": "Create",
            "actor": G,
            "to": B,
            "object": [_vote("rye", 1), _vote("wheat", 2)],
        },
        {"votes.0.name": "rye", "votes.1.name": "wheat"},
    ),
    "follow with arrays": Sample(
        "activity",
        {"@context": AS, "id": f"{G}/follow/01", "type": ["Follow"], "actor": [G], "object": [B], "to": [B]},
        {"actor": G, "object_id": B},
    ),
    "accept of a reply": Sample(
        "activity",
        {
            "@context": ["https://gotosocial.org/ns", AS],
            "actor": G,
            "id": f"{G}/accepts/01J",
            "object": f"{B}/statuses/7",
            "result": f"{G}/authorizations/01J",
            "target": NOTE_ID,
            "to": B,
            "type": "Accept",
        },
        {"object_id": f"{B}/statuses/7", "answered": None, "result": f"{G}/authorizations/01J"},
    ),
    "approved reply": Sample(
        "note",
        with_(NOTE, inReplyTo=f"{B}/statuses/1", approvedBy=f"{B}/approvals/1"),
        {"approved_by": f"{B}/approvals/1"},
    ),
    "featured": Sample(
        "collection",
        {
            "@context": AS,
            "id": f"{G}/collections/featured",
            "orderedItems": NOTE_ID,
            "totalItems": 1,
            "type": "OrderedCollection",
        },
        {"items.0.id": NOTE_ID, "items.0.document": None},
    ),
    "nodeinfo": Sample(
        "nodeinfo",
        {"software": {"name": "gotosocial", "version": "0.19.1"}, "usage": {"users": {}, "localPosts": 0}},
        {"software": "gotosocial", "posts": 0, "users": None},
    ),
}
