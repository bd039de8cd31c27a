from __future__ import annotations

from typing import Any

from tests.federation.neighbours.sample import AS, PEM, PUBLIC, SECURITY, Sample, with_

W = "https://wp.example/?author=1"
POST = "https://wp.example/?p=12"
CONTEXT = [AS, SECURITY, "https://purl.archive.org/socialweb/webfinger", {"toot": "http://joinmastodon.org/ns#"}]
ARTICLE: dict[str, Any] = {
    "@context": [AS, {"Hashtag": "as:Hashtag", "sensitive": "as:sensitive"}],
    "id": POST,
    "type": "Article",
    "attachment": [{"type": "Image", "url": "https://wp.example/a.jpg", "mediaType": "image/jpeg", "name": "dough"}],
    "attributedTo": W,
    "content": "<p>How to knead</p>",
    "contentMap": {"de-DE": "<p>How to knead</p>"},
    "name": "Kneading",
    "nameMap": {"de-DE": "Kneading"},
    "published": "2024-03-05T10:00:00Z",
    "summary": "<p>In short</p>",
    "summaryMap": {"de-DE": "<p>In short</p>"},
    "tag": [{"type": "Hashtag", "href": "https://wp.example/tag/dough/", "name": "#dough"}],
    "url": "https://wp.example/kneading/",
    "to": [PUBLIC],
    "cc": ["https://wp.example/wp-json/activitypub/1.0/actors/1/followers"],
    "mediaType": "text/html",
    "sensitive": False,
    "replies": {
        "id": "https://wp.example/wp-json/activitypub/1.0/posts/12/replies",
        "type": "Collection",
        "first": {
            "id": "https://wp.example/wp-json/activitypub/1.0/posts/12/replies?page=1",
            "type": "CollectionPage",
            "partOf": "https://wp.example/wp-json/activitypub/1.0/posts/12/replies",
            "items": [],
        },
    },
    "preview": {"type": "Note", "content": "<p>Kneading, in short</p>"},
    "interactionPolicy": {"canQuote": {"automaticApproval": PUBLIC, "always": PUBLIC}},
}

SAMPLES: dict[str, Sample] = {
    "actor": Sample(
        "actor",
        {
            "@context": CONTEXT,
            "id": W,
            "type": "Person",
            "attachment": [
                {"type": "PropertyValue", "name": "Blog", "value": "<a>wp.example</a>"},
                {"type": "Link", "name": "Blog", "href": "https://wp.example/"},
            ],
            "name": "Wim",
            "icon": {"type": "Image", "url": "https://gravatar.example/w.jpg"},
            "published": "2020-01-01T00:00:00Z",
            "summary": "",
            "tag": [],
            "url": "https://wp.example/author/wim/",
            "inbox": "https://wp.example/wp-json/activitypub/1.0/actors/1/inbox",
            "outbox": "https://wp.example/wp-json/activitypub/1.0/actors/1/outbox",
            "following": "https://wp.example/wp-json/activitypub/1.0/actors/1/following",
            "followers": "https://wp.example/wp-json/activitypub/1.0/actors/1/followers",
            "preferredUsername": "wim",
            "endpoints": {"sharedInbox": "https://wp.example/wp-json/activitypub/1.0/inbox"},
            "publicKey": {"id": f"{W}#main-key", "owner": W, "publicKeyPem": PEM},
            "manuallyApprovesFollowers": False,
            "attributionDomains": ["wp.example"],
            "featured": "https://wp.example/wp-json/activitypub/1.0/actors/1/collections/featured",
            "indexable": True,
            "webfinger": "wim@wp.example",
            "discoverable": True,
        },
        {
            "id": W,
            "handle.username": "wim",
            "handle.domain": "wp.example",
            "keys.keys.0.id": f"{W}#main-key",
            "fields.0.name": "Blog",
            "fields.-1.name": "Blog",
        },
    ),
    "article": Sample(
        "note",
        ARTICLE,
        {
            "type": "Article",
            "content.title": "Kneading",
            "content.html": "<h2>Kneading</h2>\n\n<p>In short</p>\n\n"
            '<p><a href="https://wp.example/kneading/">https://wp.example/kneading/</a></p>',
            "content.language": "de-DE",
            "content.warning": "",
            "policy.can_quote.automatic": (PUBLIC,),
            "attachments.files.0.description": "dough",
        },
    ),
    "note in another language only": Sample(
        "note",
        with_(ARTICLE, type="Note", content=None, summary=None, summaryMap=None),
        {"content.html": "<p>How to knead</p>", "content.language": "de-DE", "content.warning": ""},
    ),
    "create": Sample(
        "activity",
        {
            "@context": CONTEXT,
            "id": f"{POST}#activity-create-2024-03-05T10:00:00Z",
            "type": "Create",
            "actor": W,
            "object": ARTICLE,
            "to": [PUBLIC],
        },
        {"note.id": POST},
    ),
    "event": Sample(
        "note",
        {
            "@context": AS,
            "id": "https://wp.example/?p=13",
            "type": "Event",
            "attributedTo": W,
            "name": "Baking day",
            "startTime": "2024-04-01T09:00:00Z",
            "location": {"type": "Place", "name": "Kitchen"},
            "url": "https://wp.example/baking-day/",
            "to": PUBLIC,
        },
        {
            "content.html": "<h2>Baking day</h2>\n\n"
            '<p><a href="https://wp.example/baking-day/">https://wp.example/baking-day/</a></p>'
        },
    ),
    "webfinger": Sample(
        "webfinger",
        {
            "subject": "acct:wim@wp.example",
            "aliases": [W, "https://wp.example/author/wim/"],
            "links": [
                {"rel": "self", "type": "application/activity+json", "href": W, "properties": {"x": "Person"}},
                {"rel": "http://webfinger.net/rel/profile-page", "href": W, "type": "text/html"},
            ],
        },
        {"actor": W},
    ),
    "post without an author": Sample("note", with_(ARTICLE, attributedTo=None), "no_author"),
}
