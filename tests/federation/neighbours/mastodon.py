from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tests.federation.neighbours.sample import AS, PEM, PUBLIC, SECURITY, Sample, with_

A = "https://a.example/users/alice"
B = "https://b.example/users/bob"
STATUS = f"{A}/statuses/112000000000000001"
CONTEXT: list[Any] = [
    AS,
    {
        "ostatus": "http://ostatus.org#",
        "atomUri": "ostatus:atomUri",
        "sensitive": "as:sensitive",
        "toot": "http://joinmastodon.org/ns#",
        "votersCount": "toot:votersCount",
        "focalPoint": {"@container": "@list", "@id": "toot:focalPoint"},
    },
]
ACTOR: dict[str, Any] = {
    "@context": [AS, SECURITY, {"toot": "http://joinmastodon.org/ns#"}],
    "id": A,
    "type": "Person",
    "following": f"{A}/following",
    "followers": f"{A}/followers",
    "inbox": f"{A}/inbox",
    "outbox": f"{A}/outbox",
    "featured": f"{A}/collections/featured",
    "featuredTags": f"{A}/collections/tags",
    "preferredUsername": "alice",
    "name": "Alice :cat:",
    "summary": "<p>Writes about bread</p>",
    "url": "https://a.example/@alice",
    "manuallyApprovesFollowers": False,
    "discoverable": True,
    "indexable": False,
    "published": "2024-02-01T00:00:00Z",
    "memorial": False,
    "devices": f"{A}/collections/devices",
    "movedTo": "https://c.example/users/alice",
    "alsoKnownAs": ["https://old.example/users/alice"],
    "attributionDomains": ["Blog.example"],
    "publicKey": {"id": f"{A}#main-key", "owner": A, "publicKeyPem": PEM},
    "tag": [
        {
            "id": "https://a.example/emojis/7",
            "type": "Emoji",
            "name": ":cat:",
            "updated": "2024-02-02T08:00:00Z",
            "icon": {"type": "Image", "mediaType": "image/png", "url": "https://a.example/media/emoji/7.png"},
        },
        {"type": "Hashtag", "href": "https://a.example/tags/bread", "name": "#bread"},
    ],
    "attachment": [
        {"type": "PropertyValue", "name": "Site", "value": '<a href="https://alice.example" rel="me">alice</a>'}
    ],
    "endpoints": {"sharedInbox": "https://a.example/inbox"},
    "icon": {"type": "Image", "mediaType": "image/png", "url": "https://a.example/media/alice.png", "summary": "me"},
}
NOTE: dict[str, Any] = {
    "@context": CONTEXT,
    "id": STATUS,
    "type": "Note",
    "summary": None,
    "inReplyTo": f"{B}/statuses/111999999999999999",
    "published": "2024-03-05T10:00:00Z",
    "url": "https://a.example/@alice/112000000000000001",
    "attributedTo": A,
    "to": [PUBLIC],
    "cc": [f"{A}/followers", B],
    "sensitive": False,
    "atomUri": STATUS,
    "inReplyToAtomUri": f"{B}/statuses/111999999999999999",
    "conversation": "tag:b.example,2024-03-05:objectId=41:objectType=Conversation",
    "content": "<p>@bob fresh #bread</p>",
    "contentMap": {"en": "<p>@bob fresh #bread</p>"},
    "attachment": [
        {
            "type": "Document",
            "mediaType": "image/jpeg",
            "url": "https://a.example/media/1/original.jpg",
            "name": "A loaf on a board",
            "blurhash": "UBL_:rOpGG-oBUNG,qRj2so|=eE1w^n4S5NH",
            "focalPoint": [0.0, 0.25],
            "width": 1600,
            "height": 1200,
        }
    ],
    "tag": [
        {"type": "Mention", "href": B, "name": "@bob@b.example"},
        {"type": "Hashtag", "href": "https://a.example/tags/bread", "name": "#bread"},
    ],
    "replies": {
        "id": f"{STATUS}/replies",
        "type": "Collection",
        "first": {
            "type": "CollectionPage",
            "partOf": f"{STATUS}/replies",
            "next": f"{STATUS}/replies?only_other_accounts=true&page=true",
            "items": [f"{A}/statuses/112000000000000002"],
        },
    },
    "likes": {"id": f"{STATUS}/likes", "type": "Collection", "totalItems": 3},
    "shares": {"id": f"{STATUS}/shares", "type": "Collection", "totalItems": 1},
}
QUESTION = with_(
    NOTE,
    type="Question",
    oneOf=[
        {"type": "Note", "name": "rye", "replies": {"type": "Collection", "totalItems": 3}},
        {"type": "Note", "name": "wheat", "replies": {"type": "Collection", "totalItems": 5}},
    ],
    endTime="2024-03-06T10:00:00Z",
    closed="2024-03-06T10:00:00Z",
    votersCount=8,
)
QUOTING = with_(
    NOTE,
    quote=f"{B}/statuses/1",
    quoteUri=f"{B}/statuses/1",
    _misskey_quote=f"{B}/statuses/1",
    quoteAuthorization=f"{B}/quote_authorizations/6",
    interactionPolicy={"canQuote": {"automaticApproval": [PUBLIC], "manualApproval": [f"{A}/followers"]}},
)
CREATE: dict[str, Any] = {
    "@context": CONTEXT,
    "id": f"{STATUS}/activity",
    "type": "Create",
    "actor": A,
    "published": "2024-03-05T10:00:00Z",
    "to": [PUBLIC],
    "cc": [f"{A}/followers", B],
    "object": {name: value for name, value in NOTE.items() if name != "@context"},
}


def _activity(**fields: Any) -> dict[str, Any]:
    return {"@context": AS, "actor": A, **fields}


FOLLOW = _activity(id="https://a.example/0e3a", type="Follow", object=B)
LIKE = _activity(id=f"{A}#likes/5", type="Like", object=f"{B}/statuses/1")
ANNOUNCE = _activity(
    id=f"{A}/statuses/9/activity",
    type="Announce",
    published="2024-03-05T10:00:00Z",
    to=[PUBLIC],
    cc=[B, f"{A}/followers"],
    object=f"{B}/statuses/1",
)
BLOCK = _activity(id="https://a.example/77b1", type="Block", object=B)
THEIR_FOLLOW = {"id": "https://b.example/9f", "type": "Follow", "actor": B, "object": A}
REQUEST = {
    "id": f"{B}/quote_requests/6",
    "type": "QuoteRequest",
    "actor": B,
    "object": STATUS,
    "instrument": f"{B}/statuses/2",
}

SAMPLES: dict[str, Sample] = {
    "actor": Sample(
        "actor",
        ACTOR,
        {
            "id": A,
            "domain": "a.example",
            "username": "alice",
            "shared_inbox": "https://a.example/inbox",
            "followers": f"{A}/followers",
            "featured_tags": f"{A}/collections/tags",
            "devices": f"{A}/collections/devices",
            "keys.keys.0.id": f"{A}#main-key",
            "keys.keys.0.owner": A,
            "url": "https://a.example/@alice",
            "avatar.description": "me",
            "fields.0.name": "Site",
            "emojis.0.shortcode": "cat",
            "emojis.0.updated": datetime(2024, 2, 2, 8, tzinfo=UTC),
            "hashtags.0.name": "bread",
            "is_discoverable": True,
            "is_indexable": False,
            "is_locked": False,
            "moved_to": "https://c.example/users/alice",
            "aliases": ("https://old.example/users/alice",),
            "attribution_domains": ("blog.example",),
            "published": datetime(2024, 2, 1, tzinfo=UTC),
        },
    ),
    "suspended actor": Sample(
        "actor",
        with_(ACTOR, name="", summary="", attachment=[], suspended=True),
        {"is_suspended": True, "fields": (), "name": ""},
    ),
    "instance actor": Sample(
        "actor",
        {
            "@context": [AS, SECURITY],
            "id": "https://a.example/actor",
            "type": "Application",
            "inbox": "https://a.example/actor/inbox",
            "outbox": "https://a.example/actor/outbox",
            "preferredUsername": "a.example",
            "publicKey": {
                "id": "https://a.example/actor#main-key",
                "owner": "https://a.example/actor",
                "publicKeyPem": PEM,
            },
            "endpoints": {"sharedInbox": "https://a.example/inbox"},
        },
        {"type": "Application", "username": "a.example", "shared_inbox": "https://a.example/inbox"},
    ),
    "note": Sample(
        "note",
        NOTE,
        {
            "author": A,
            "in_reply_to": f"{B}/statuses/111999999999999999",
            "content.language": "en",
            "content.warning": "",
            "audience.is_public_to": True,
            "audience.cc": (f"{A}/followers", B),
            "tags.mentions.0.href": B,
            "tags.hashtags.0.name": "bread",
            "attachments.files.0.description": "A loaf on a board",
            "attachments.files.0.kind": "image",
            "attachments.files.0.focus": (0.0, 0.25),
            "attachments.files.0.width": 1600,
            "replies.first_page.items.0.id": f"{A}/statuses/112000000000000002",
            "replies.first_page.next": f"{STATUS}/replies?only_other_accounts=true&page=true",
            "likes_count": 3,
            "shares_count": 1,
            "published": datetime(2024, 3, 5, 10, tzinfo=UTC),
            "url": "https://a.example/@alice/112000000000000001",
        },
    ),
    "note with a warning": Sample(
        "note", with_(NOTE, summary="food", sensitive=True), {"content.warning": "food", "is_sensitive": True}
    ),
    "question": Sample(
        "note",
        QUESTION,
        {
            "poll.multiple": False,
            "poll.options.1.name": "wheat",
            "poll.options.1.votes": 5,
            "poll.ends_at": datetime(2024, 3, 6, 10, tzinfo=UTC),
            "poll.voters_count": 8,
        },
    ),
    "quote": Sample(
        "note",
        QUOTING,
        {
            "quote.uri": f"{B}/statuses/1",
            "quote.is_legacy": False,
            "quote.stamp": f"{B}/quote_authorizations/6",
            "policy.can_quote.automatic": (PUBLIC,),
            "policy.can_quote.manual": (f"{A}/followers",),
            "policy.can_like": None,
        },
    ),
    "quote of something gone": Sample(
        "note", with_(NOTE, quote={"type": "Tombstone"}), {"quote.uri": None, "quote.is_legacy": False}
    ),
    "stamp": Sample(
        "stamp",
        {
            "@context": AS,
            "id": f"{B}/quote_authorizations/6",
            "type": "QuoteAuthorization",
            "attributedTo": B,
            "interactingObject": STATUS,
            "interactionTarget": f"{B}/statuses/1",
        },
        {"author": B, "quoting": STATUS, "quoted": f"{B}/statuses/1"},
    ),
    "create": Sample("activity", CREATE, {"actor": A, "object_id": STATUS, "note.content.language": "en"}),
    "vote": Sample(
        "activity",
        _activity(
            id=f"{A}#votes/4/activity",
            type="Create",
            to=B,
            object={
                "id": f"{A}#votes/4",
                "type": "Note",
                "name": "rye",
                "attributedTo": A,
                "inReplyTo": f"{B}/statuses/1",
                "to": B,
            },
        ),
        {"votes.0.name": "rye", "votes.0.question": f"{B}/statuses/1", "votes.0.id": f"{A}#votes/4"},
    ),
    "update of a status": Sample(
        "activity",
        with_(
            CREATE,
            id=f"{STATUS}#updates/1709632800",
            type="Update",
            object=with_(CREATE["object"], updated="2024-03-05T11:00:00Z"),
        ),
        {"note.updated": datetime(2024, 3, 5, 11, tzinfo=UTC), "profile": None},
    ),
    "update of an actor": Sample(
        "activity",
        _activity(id=f"{A}#updates/1", type="Update", to=[PUBLIC], object=ACTOR),
        {"profile.username": "alice", "note": None, "object_id": A},
    ),
    "delete of a status": Sample(
        "activity",
        _activity(
            id=f"{STATUS}#delete",
            type="Delete",
            to=[PUBLIC],
            object={"id": STATUS, "type": "Tombstone", "atomUri": STATUS},
        ),
        {"object_id": STATUS, "atom_uri": STATUS, "is_of_actor": False},
    ),
    "delete of an actor": Sample(
        "activity",
        _activity(id=f"{A}#delete", type="Delete", to=[PUBLIC], object=A),
        {"object_id": A, "is_of_actor": True},
    ),
    "announce": Sample(
        "activity", ANNOUNCE, {"object_id": f"{B}/statuses/1", "note": None, "audience.is_public_to": True}
    ),
    "announce of an own private post": Sample(
        "activity",
        with_(ANNOUNCE, to=[f"{A}/followers"], cc=[], object=CREATE["object"]),
        {"object_id": STATUS, "note.id": STATUS},
    ),
    "undo of an announce": Sample(
        "activity",
        _activity(id=f"{A}#announces/9/undo", type="Undo", to=[PUBLIC], object=ANNOUNCE),
        {"undone.object_id": f"{B}/statuses/1", "object_id": ANNOUNCE["id"]},
    ),
    "like": Sample("activity", LIKE, {"object_id": f"{B}/statuses/1", "reaction": ""}),
    "undo of a like": Sample(
        "activity",
        _activity(id=f"{A}#likes/5/undo", type="Undo", object=LIKE),
        {"undone.object_id": f"{B}/statuses/1"},
    ),
    "follow": Sample("activity", FOLLOW, {"object_id": B, "id": "https://a.example/0e3a"}),
    "undo of a follow": Sample(
        "activity", _activity(id=f"{A}#follows/12/undo", type="Undo", object=FOLLOW), {"undone.object_id": B}
    ),
    "accept of a follow": Sample(
        "activity",
        _activity(id=f"{A}#accepts/follows/12", type="Accept", object=THEIR_FOLLOW),
        {"object_id": "https://b.example/9f", "answered.actor": B, "answered.object_id": A},
    ),
    "undo of an accept": Sample(
        "activity",
        _activity(type="Undo", object={"type": "Accept", "actor": A, "object": THEIR_FOLLOW}),
        {"undone.answered.actor": B},
    ),
    "reject of a follow": Sample(
        "activity",
        _activity(id=f"{A}#rejects/follows/12", type="Reject", object=THEIR_FOLLOW),
        {"answered.actor": B},
    ),
    "block": Sample("activity", BLOCK, {"object_id": B}),
    "undo of a block": Sample(
        "activity", _activity(id=f"{A}#blocks/3/undo", type="Undo", object=BLOCK), {"undone.object_id": B}
    ),
    "flag": Sample(
        "activity",
        _activity(
            id="https://a.example/5c0d",
            type="Flag",
            actor="https://a.example/actor",
            content="spam",
            object=[B, f"{B}/statuses/1"],
        ),
        {"objects": (B, f"{B}/statuses/1"), "comment": "spam", "links": ()},
    ),
    "add of a pin": Sample(
        "activity",
        _activity(type="Add", object=STATUS, target=f"{A}/collections/featured"),
        {"object_id": STATUS, "hashtag": None, "target": f"{A}/collections/featured", "id": None},
    ),
    "remove of a tag": Sample(
        "activity",
        _activity(
            type="Remove",
            object={"type": "Hashtag", "href": "https://a.example/@alice/tagged/bread", "name": "#bread"},
            target=f"{A}/collections/featured",
        ),
        {"hashtag.name": "bread", "object_id": None},
    ),
    "move": Sample(
        "activity",
        _activity(id=f"{A}#moves/1", type="Move", object=A, target="https://c.example/users/alice"),
        {"target": "https://c.example/users/alice"},
    ),
    "quote request": Sample(
        "activity",
        _activity(
            id=f"{A}/quote_requests/1",
            type="QuoteRequest",
            object=f"{B}/statuses/1",
            instrument=with_(CREATE["object"], quote=f"{B}/statuses/1"),
        ),
        {"quoted": f"{B}/statuses/1", "quoting": STATUS, "note.quote.uri": f"{B}/statuses/1"},
    ),
    "accept of a quote": Sample(
        "activity",
        _activity(
            id=f"{A}#accepts/quote_requests/6", type="Accept", object=REQUEST, result=f"{A}/quote_authorizations/6"
        ),
        {"answered.quoted": STATUS, "answered.quoting": f"{B}/statuses/2", "result": f"{A}/quote_authorizations/6"},
    ),
    "reject of a quote": Sample(
        "activity",
        _activity(id=f"{A}#rejects/quote_requests/6", type="Reject", object=REQUEST),
        {"answered.quoting": f"{B}/statuses/2"},
    ),
    "delete of a stamp": Sample(
        "activity",
        _activity(
            id=f"{A}/quote_authorizations/6#delete",
            type="Delete",
            object={"id": f"{A}/quote_authorizations/6", "type": "QuoteAuthorization"},
        ),
        {"object_id": f"{A}/quote_authorizations/6"},
    ),
    "encrypted message": Sample(
        "activity",
        _activity(
            id=f"{A}#encrypted/1",
            type="Create",
            object={
                "type": "EncryptedMessage",
                "attributedTo": {"type": "Device", "deviceId": "11"},
                "to": {"type": "Device", "deviceId": "22"},
                "messageType": 1,
                "cipherText": "c2VjcmV0",
                "digest": {"type": "Digest", "digestAlgorithm": "x", "digestValue": "ab"},
                "messageFranking": "frank",
            },
        ),
        {"messages.0.sender_device": "11", "messages.0.recipient_device": "22", "messages.0.cipher_text": "c2VjcmV0"},
    ),
    "outbox": Sample(
        "collection",
        {
            "@context": AS,
            "id": f"{A}/outbox",
            "type": "OrderedCollection",
            "totalItems": 120,
            "first": f"{A}/outbox?page=true",
            "last": f"{A}/outbox?min_id=0&page=true",
        },
        {"total": 120, "first": f"{A}/outbox?page=true", "items": ()},
    ),
    "page of followers": Sample(
        "collection",
        {
            "@context": AS,
            "id": f"{A}/followers?page=1",
            "type": "OrderedCollectionPage",
            "totalItems": 30,
            "next": f"{A}/followers?page=2",
            "partOf": f"{A}/followers",
            "orderedItems": [B],
        },
        {"items.0.id": B, "next": f"{A}/followers?page=2"},
    ),
    "webfinger": Sample(
        "webfinger",
        {
            "subject": "acct:alice@a.example",
            "aliases": ["https://a.example/@alice", A],
            "links": [
                {
                    "rel": "http://webfinger.net/rel/profile-page",
                    "type": "text/html",
                    "href": "https://a.example/@alice",
                },
                {"rel": "self", "type": "application/activity+json", "href": A},
                {
                    "rel": "http://ostatus.org/schema/1.0/subscribe",
                    "template": "https://a.example/authorize_interaction?uri={uri}",
                },
            ],
        },
        {
            "subject.username": "alice",
            "subject.domain": "a.example",
            "actor": A,
            "subscribe_template": "https://a.example/authorize_interaction?uri={uri}",
        },
    ),
    "nodeinfo": Sample(
        "nodeinfo",
        {
            "version": "2.0",
            "software": {"name": "mastodon", "version": "4.5.0"},
            "protocols": ["activitypub"],
            "services": {"outbound": [], "inbound": []},
            "usage": {"users": {"total": 12, "activeMonth": 5, "activeHalfyear": 9}, "localPosts": 900},
            "openRegistrations": True,
            "metadata": {"nodeName": "Bakers"},
        },
        {
            "software": "mastodon",
            "version": "4.5.0",
            "users": 12,
            "active_month": 5,
            "posts": 900,
            "has_open_registrations": True,
            "name": "Bakers",
        },
    ),
    "read receipt of a future version": Sample("activity", _activity(type="Read", object=STATUS), "unknown_type"),
}
