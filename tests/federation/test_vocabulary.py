"""What we tell other servers, document by document, without any server."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from kith.base.settings import Settings
from kith.federation.vocabulary.outgoing import activities, collections, encryption, identifiers, quotes
from kith.federation.vocabulary.outgoing.actors import ActorParts, actor, server
from kith.federation.vocabulary.outgoing.addressing import audience_of, boost_audience
from kith.federation.vocabulary.outgoing.contexts import with_context
from kith.federation.vocabulary.outgoing.notes import NoteParts, Quoted, note
from kith.federation.vocabulary.outgoing.tags import Mentioned, featured_tag
from kith.social.accounts.new_rows import new_account
from kith.social.accounts.tables import Account
from kith.social.emojis.tables import Emoji
from kith.social.encryption.tables import Device, EncryptedMessage, OneTimeKey
from kith.social.ids import AccountId, StatusId
from kith.social.media.tables import Media
from kith.social.statuses.tables import DIRECT, LIMITED, PRIVATE, PUBLIC, UNLISTED, Poll, Status
from tests.federation.asking import AS, check_context, terms_of
from tests.federation.asking import PUBLIC as EVERYBODY

HERE = Settings(base_url="https://a.example", data=Path())
A, B = "https://a.example/users/alice", "https://b.example/users/bob"
STATUS = f"{A}/statuses/112000000000000001"
THEIRS = "https://b.example/users/bob/statuses/111999999999999999"
AT = datetime(2024, 3, 5, 10, 0, tzinfo=UTC)
NAME = UUID(int=7)
FOLLOW = {"id": f"https://a.example/{NAME}", "type": "Follow", "actor": A, "object": B}


def alice(**differing: Any) -> Account:
    values: dict[str, Any] = {
        "username": "alice", "domain": "", "uri": A, "url": "https://a.example/@alice", "now": AT,
        "display_name": "Alice :cat:", "note": "Writes about #Bread", "note_html": "<p>Writes about #Bread</p>",
        "fields": [{"name": "Site", "value": "https://alice.example", "html": '<a href="https://alice.example">x</a>'}],
        "avatar": "avatars/1/a.png", "avatar_static": "avatars/1/a.png", "avatar_description": "My face",
        "discoverable": True, "created_at": datetime(2024, 2, 1, 17, 30, tzinfo=UTC),
    }  # fmt: skip
    return new_account(AccountId(1), **(values | differing))


def said(**differing: Any) -> Status:
    values: dict[str, Any] = {
        "id": StatusId(112000000000000001), "version": 1, "account_id": AccountId(1), "local": True, "uri": STATUS,
        "url": "https://a.example/@alice/112000000000000001", "visibility": PUBLIC, "in_reply_to_id": None,
        "in_reply_to_account_id": None, "reblog_of_id": None, "conversation_id": 112000000000000001, "text": "fresh",
        "content": "<p>fresh</p>", "spoiler_text": "", "sensitive": False, "language": "en", "media_ids": [],
        "tag_names": [], "poll_id": None, "card_id": None, "quoted_id": None, "quote_state": None,
        "quote_policy": "public", "application": None, "replies_count": 0, "reblogs_count": 0, "favourites_count": 0,
        "quotes_count": 0, "created_at": AT, "edited_at": None, "deleted_at": None, "fetched_at": None,
    }  # fmt: skip
    return Status(**(values | differing))


CAT = Emoji(7, "cat", "", "emojis/7.png", "emojis/7.png", None, True, False, None, datetime(2024, 2, 2, 8, tzinfo=UTC))
CAT_TAG = {
    "id": "https://a.example/emojis/7",
    "type": "Emoji",
    "name": ":cat:",
    "updated": "2024-02-02T08:00:00Z",
    "icon": {"type": "Image", "mediaType": "image/png", "url": "https://a.example/media/emojis/7.png"},
}


def test_a_person_is_told_as_the_sample_has_it() -> None:
    made = with_context(actor(HERE, ActorParts(alice(), "PEM", [CAT])))

    check_context(made)
    assert made["@context"][:2] == [AS, "https://w3id.org/security/v1"]
    del made["@context"]
    assert made == {
        "id": A,
        "type": "Person",
        "following": f"{A}/following",
        "followers": f"{A}/followers",
        "inbox": f"{A}/inbox",
        "outbox": f"{A}/outbox",
        "featured": f"{A}/collections/featured",
        "featuredTags": f"{A}/collections/tags",
        "devices": f"{A}/collections/devices",
        "preferredUsername": "alice",
        "name": "Alice :cat:",
        "summary": "<p>Writes about #Bread</p>",
        "url": "https://a.example/@alice",
        "manuallyApprovesFollowers": False,
        "discoverable": True,
        "indexable": False,
        "published": "2024-02-01T00:00:00Z",
        "memorial": False,
        "showFeatured": True,
        "showMedia": True,
        "showRepliesInMedia": True,
        "publicKey": {"id": f"{A}#main-key", "owner": A, "publicKeyPem": "PEM"},
        "tag": [CAT_TAG, {"type": "Hashtag", "href": "https://a.example/tags/bread", "name": "#bread"}],
        "attachment": [{"type": "PropertyValue", "name": "Site", "value": '<a href="https://alice.example">x</a>'}],
        "endpoints": {"sharedInbox": "https://a.example/inbox"},
        "icon": {
            "type": "Image",
            "mediaType": "image/png",
            "url": "https://a.example/media/avatars/1/a.png",
            "summary": "My face",
        },
    }


def test_somebody_who_moved_says_where_and_who_they_were() -> None:
    row = alice(also_known_as=["https://c.example/users/al"], attribution_domains=["alice.example"], locked=True)

    made = with_context(actor(HERE, ActorParts(row, "PEM", [], "https://d.example/users/alice")))

    assert made["movedTo"] == "https://d.example/users/alice"
    assert made["alsoKnownAs"] == ["https://c.example/users/al"]
    assert made["attributionDomains"] == ["alice.example"]
    assert made["manuallyApprovesFollowers"] is True
    assert {"movedTo", "alsoKnownAs", "attributionDomains"} <= terms_of(made)
    assert "Emoji" not in terms_of(made)


def test_of_somebody_shut_out_nothing_is_told_but_that() -> None:
    made = actor(HERE, ActorParts(alice(suspended_at=AT), "PEM"))

    assert made["suspended"] is True
    assert (made["name"], made["summary"], made["attachment"], made["tag"]) == ("", "", [], [])
    assert not {"icon", "image"} & set(made)
    assert made["publicKey"]["publicKeyPem"] == "PEM"


def test_the_server_is_an_application() -> None:
    made = server(HERE, "PEM")

    assert (made["id"], made["type"]) == ("https://a.example/actor", "Application")
    assert made["preferredUsername"] == "a.example"
    assert made["publicKey"]["owner"] == made["id"]


@pytest.mark.parametrize(
    ("visibility", "to", "cc"),
    [
        (PUBLIC, [EVERYBODY], [f"{A}/followers", B]),
        (UNLISTED, [f"{A}/followers"], [EVERYBODY, B]),
        (PRIVATE, [f"{A}/followers"], [B]),
        (DIRECT, [B], []),
        (LIMITED, [B], []),
    ],
)
def test_posts_are_addressed_by_their_visibility(visibility: int, to: list[str], cc: list[str]) -> None:
    found = audience_of(visibility, A, [B, B])

    assert (found.to, found.cc) == (to, cc)


@pytest.mark.parametrize(
    ("visibility", "to", "cc"),
    [
        (PUBLIC, [EVERYBODY], [B, f"{A}/followers"]),
        (UNLISTED, [f"{A}/followers"], [B, EVERYBODY]),
        (PRIVATE, [f"{A}/followers"], [B]),
    ],
)
def test_boosts_go_to_the_author_as_well(visibility: int, to: list[str], cc: list[str]) -> None:
    found = boost_audience(visibility, A, B)

    assert (found.to, found.cc) == (to, cc)


def picture(**differing: Any) -> Media:
    values: dict[str, Any] = {
        "id": 1, "account_id": AccountId(1), "status_id": None, "scheduled_id": None, "kind": "image", "state": "ready",
        "file": "attachments/1/o.jpg", "preview": "attachments/1/s.jpg", "source": "", "mime": "image/jpeg",
        "description": "A loaf on a board", "blurhash": "UBL_", "remote_url": None, "preview_remote_url": None,
        "meta": {"original": {"width": 1600, "height": 1200}, "focus": {"x": 0.0, "y": 0.25}}, "error": "",
        "created_at": AT,
    }  # fmt: skip
    return Media(**(values | differing))


def test_a_reply_with_mention_tag_and_picture_is_told_as_the_sample_has_it() -> None:
    parts = NoteParts(
        said(tag_names=["bread"]), alice(), THEIRS, [Mentioned(B, "bob", "b.example")], [picture()], [CAT]
    )

    made = with_context(activities.create(note(HERE, parts, AT)))

    check_context(made)
    assert terms_of(made) >= {"Hashtag", "Emoji", "blurhash", "focalPoint", "sensitive", "atomUri", "conversation"}
    assert "votersCount" not in terms_of(made)
    inner = made.pop("object")
    cc = [f"{A}/followers", B]
    assert {name: value for name, value in made.items() if name != "@context"} == {
        "id": f"{STATUS}/activity",
        "type": "Create",
        "actor": A,
        "published": "2024-03-05T10:00:00Z",
        "to": [EVERYBODY],
        "cc": cc,
    }
    assert inner == {
        "id": STATUS,
        "type": "Note",
        "summary": None,
        "inReplyTo": THEIRS,
        "published": "2024-03-05T10:00:00Z",
        "url": "https://a.example/@alice/112000000000000001",
        "attributedTo": A,
        "to": [EVERYBODY],
        "cc": cc,
        "sensitive": False,
        "atomUri": STATUS,
        "inReplyToAtomUri": THEIRS,
        "conversation": inner["conversation"],
        "content": "<p>fresh</p>",
        "contentMap": {"en": "<p>fresh</p>"},
        "attachment": [
            {
                "type": "Document",
                "mediaType": "image/jpeg",
                "url": "https://a.example/media/attachments/1/o.jpg",
                "name": "A loaf on a board",
                "blurhash": "UBL_",
                "focalPoint": [0.0, 0.25],
                "width": 1600,
                "height": 1200,
            }
        ],
        "tag": [
            {"type": "Mention", "href": B, "name": "@bob@b.example"},
            {"type": "Hashtag", "href": "https://a.example/tags/bread", "name": "#bread"},
            CAT_TAG,
        ],
        "replies": {
            "id": f"{STATUS}/replies",
            "type": "Collection",
            "first": {
                "type": "CollectionPage",
                "next": f"{STATUS}/replies?only_other_accounts=true&page=true",
                "partOf": f"{STATUS}/replies",
                "items": [],
            },
        },
        "likes": {"id": f"{STATUS}/likes", "type": "Collection", "totalItems": 0},
        "shares": {"id": f"{STATUS}/shares", "type": "Collection", "totalItems": 0},
        "interactionPolicy": {"canQuote": {"automaticApproval": [EVERYBODY]}},
    }
    assert inner["conversation"].startswith("tag:a.example,")


def test_films_and_sound_tell_how_long_they_last() -> None:
    film = picture(kind="video", mime="video/mp4", meta={"original": {"width": 640, "height": 360, "duration": 12.5}})

    [made] = note(HERE, NoteParts(said(), alice(), media=[film]), AT)["attachment"]

    assert (made["duration"], made["width"], made["height"]) == ("PT12.5S", 640, 360)
    assert made["icon"]["url"] == "https://a.example/media/attachments/1/s.jpg"
    assert "focalPoint" not in made


def test_who_is_meant_silently_is_addressed_and_not_named_and_some_are_neither() -> None:
    mentioned = [Mentioned(B, "bob", "b.example", is_named=False), Mentioned(A, "al", "", is_addressed=False)]

    made = note(HERE, NoteParts(said(visibility=DIRECT), alice(), mentioned=mentioned), AT)

    assert (made["to"], made["cc"]) == ([B], [])
    assert [tag["name"] for tag in made["tag"]] == ["@al@a.example"]


def test_who_speaks_to_a_group_speaks_to_those_who_follow_it() -> None:
    mentioned = [Mentioned(B, "bob", "b.example", group=f"{B}/followers")]

    made = note(HERE, NoteParts(said(visibility=UNLISTED), alice(), mentioned=mentioned), AT)

    assert made["cc"] == [EVERYBODY, B, f"{B}/followers"]


def test_warnings_edits_and_limited_authors_show() -> None:
    row = said(spoiler_text="Food", sensitive=True, edited_at=datetime(2024, 3, 6, tzinfo=UTC), language=None)

    made = note(HERE, NoteParts(row, alice()), AT)

    assert (made["summary"], made["sensitive"], made["updated"]) == ("Food", True, "2024-03-06T00:00:00Z")
    assert "contentMap" not in made
    marked = NoteParts(said(), alice(sensitized_at=AT), media=[picture()])
    assert note(HERE, marked, AT)["sensitive"] is True


def poll(**differing: Any) -> Poll:
    values: dict[str, Any] = {
        "id": 1, "status_id": StatusId(1), "account_id": AccountId(1), "options": ["rye", "wheat"], "tallies": [3, 5],
        "voters_count": 8, "multiple": False, "hide_totals": False,
        "expires_at": datetime(2024, 3, 6, 10, tzinfo=UTC), "ended_at": None, "fetched_at": None,
    }  # fmt: skip
    return Poll(**(values | differing))


def _option(name: str, count: int | None) -> dict[str, Any]:
    replies: dict[str, Any] = {"type": "Collection"}
    return {"type": "Note", "name": name, "replies": replies if count is None else replies | {"totalItems": count}}


OPEN, OVER = AT, datetime(2024, 3, 7, tzinfo=UTC)
END = "2024-03-06T10:00:00Z"


@pytest.mark.parametrize(
    ("row", "now", "expected"),
    [
        (poll(), OVER, {"oneOf": [3, 5], "endTime": END, "closed": END, "votersCount": 8}),
        (poll(), OPEN, {"oneOf": [3, 5], "endTime": END, "votersCount": 8}),
        (poll(multiple=True), OPEN, {"anyOf": [3, 5], "endTime": END, "votersCount": 8}),
        (poll(hide_totals=True), OPEN, {"oneOf": [None, None], "endTime": END, "votersCount": 8}),
        (poll(hide_totals=True), OVER, {"oneOf": [3, 5], "endTime": END, "closed": END, "votersCount": 8}),
        (poll(expires_at=None, voters_count=None), OVER, {"oneOf": [3, 5]}),
    ],
)
def test_a_poll_makes_a_question(row: Poll, now: datetime, expected: dict[str, Any]) -> None:
    made = note(HERE, NoteParts(said(poll_id=1), alice(), poll=row), now)

    kind = "anyOf" if row.multiple else "oneOf"
    wanted = expected | {kind: [_option(*one) for one in zip(row.options, expected[kind], strict=True)]}
    names = {"oneOf", "anyOf", "endTime", "closed", "votersCount"}
    assert made["type"] == "Question"
    assert {name: value for name, value in made.items() if name in names} == wanted


@pytest.mark.parametrize(
    ("policy", "visibility", "who"),
    [
        ("public", PUBLIC, EVERYBODY),
        ("followers", UNLISTED, f"{A}/followers"),
        ("nobody", PUBLIC, A),
        ("public", PRIVATE, A),
        ("public", DIRECT, A),
    ],
)
def test_who_may_quote_is_told(policy: str, visibility: int, who: str) -> None:
    made = note(HERE, NoteParts(said(quote_policy=policy, visibility=visibility), alice()), AT)

    assert made["interactionPolicy"] == {"canQuote": {"automaticApproval": [who]}}


def test_a_quote_is_told_in_three_ways_with_its_stamp() -> None:
    stamp = f"{B}/quote_authorizations/1"
    parts = NoteParts(said(), alice(), quotes=True, quoted=Quoted(THEIRS, "https://b.example/@bob/1?a&b", stamp))

    made = with_context(note(HERE, parts, AT))

    assert {made[name] for name in ("quote", "_misskey_quote", "quoteUri")} == {THEIRS}
    assert made["quoteAuthorization"] == stamp
    assert made["content"].startswith('<p class="quote-inline">RE: <a href="https://b.example/@bob/1?a&amp;b">')
    assert terms_of(made) >= {"quote", "_misskey_quote", "quoteUri", "quoteAuthorization"}
    gone = note(HERE, NoteParts(said(), alice(), quotes=True), AT)
    assert gone["quote"] == {"type": "Tombstone"}
    assert "quote" not in note(HERE, NoteParts(said(), alice()), AT)


def test_a_thread_of_ones_own_is_in_the_post() -> None:
    five = [f"{STATUS}{number}" for number in range(5)]

    first = note(HERE, NoteParts(said(), alice(), answers=five, has_more_answers=9), AT)["replies"]["first"]

    assert first["items"] == five
    assert first["next"] == f"{STATUS}/replies?min_id=9&page=true"


def test_a_preview_is_a_link_and_a_thread_a_list() -> None:
    parts = NoteParts(said(), alice(), link="https://news.example/1", context="https://a.example/contexts/1-2")

    made = note(HERE, parts, AT)

    assert made["attachment"] == [{"type": "Link", "href": "https://news.example/1"}]
    assert made["context"] == identifiers.context(HERE, 1, 2)


def test_devices_keys_and_encrypted_messages() -> None:
    phone = Device(1, AccountId(1), 1, "hash", "dev/1", "Phone", "F", "I", AT)
    letter = EncryptedMessage(4, 1, AccountId(1), "dev/1", 1, "secret", "digest", "franking", AT)

    listed = with_context(encryption.devices(A, [phone]))
    sent = with_context(encryption.message(A, B, letter, "far"))

    check_context(listed)
    assert listed["items"] == [
        {
            "type": "Device",
            "deviceId": "dev/1",
            "name": "Phone",
            "claim": f"{A}/claim?id=dev%2F1",
            "fingerprintKey": {"type": "Ed25519Key", "publicKeyBase64": "F"},
            "identityKey": {"type": "Curve25519Key", "publicKeyBase64": "I"},
        }
    ]
    check_context(sent)
    assert (sent["type"], sent["to"], sent["actor"]) == ("Create", [B], A)
    assert sent["object"]["to"] == {"type": "Device", "deviceId": "far"}
    assert (sent["object"]["cipherText"], sent["object"]["messageType"]) == ("secret", 1)
    assert sent["object"]["digest"]["digestValue"] == "digest"
    assert encryption.claimed_key(OneTimeKey(1, 1, "k", "key", "sig")) == {
        "keyId": "k",
        "type": "Curve25519Key",
        "publicKeyBase64": "key",
        "signature": {"type": "Ed25519Signature", "signatureValue": "sig"},
    }


ANNOUNCE = {
    "id": f"{A}/statuses/9/activity",
    "type": "Announce",
    "actor": A,
    "published": "2024-03-05T10:00:00Z",
    "to": [EVERYBODY],
    "cc": [B, f"{A}/followers"],
    "object": THEIRS,
}
LIKE = {"id": f"{A}#likes/5", "type": "Like", "actor": A, "object": THEIRS}
BLOCK = {"id": f"https://a.example/{NAME}", "type": "Block", "actor": A, "object": B}
TAG = {"type": "Hashtag", "href": "https://a.example/@alice/tagged/bread", "name": "#bread"}
REQUEST = {
    "id": f"{A}/quote_requests/{NAME}",
    "type": "QuoteRequest",
    "actor": A,
    "object": THEIRS,
    "instrument": {"id": STATUS, "attributedTo": A},
}

SMALL: list[tuple[Any, Any]] = [
    (activities.follow(A, B, identifiers.any_id(HERE, NAME)), FOLLOW),
    (
        activities.accept_follow(FOLLOW, 12),
        {"id": f"{B}#accepts/follows/12", "type": "Accept", "actor": B, "object": FOLLOW},
    ),
    (
        activities.reject_follow(FOLLOW, 12),
        {"id": f"{B}#rejects/follows/12", "type": "Reject", "actor": B, "object": FOLLOW},
    ),
    (activities.undo_follow(FOLLOW, 12), {"id": f"{A}#follows/12/undo", "type": "Undo", "actor": A, "object": FOLLOW}),
    (activities.like(A, 5, THEIRS), LIKE),
    (activities.undo_like(A, 5, THEIRS), {"id": f"{A}#likes/5/undo", "type": "Undo", "actor": A, "object": LIKE}),
    (activities.announce(A, f"{A}/statuses/9/activity", THEIRS, B, PUBLIC, AT), ANNOUNCE),
    (activities.announce(A, f"{A}/statuses/9", THEIRS, B, PUBLIC, AT), ANNOUNCE),
    (
        activities.undo_announce(ANNOUNCE, 9),
        {"id": f"{A}#announces/9/undo", "type": "Undo", "actor": A, "to": [EVERYBODY], "object": ANNOUNCE},
    ),
    (activities.block(A, B, identifiers.any_id(HERE, NAME)), BLOCK),
    (activities.undo_block(BLOCK, 3), {"id": f"{A}#blocks/3/undo", "type": "Undo", "actor": A, "object": BLOCK}),
    (
        activities.delete_status(A, STATUS),
        {
            "id": f"{STATUS}#delete",
            "type": "Delete",
            "actor": A,
            "to": [EVERYBODY],
            "object": {"id": STATUS, "type": "Tombstone", "atomUri": STATUS},
        },
    ),
    (activities.delete_actor(A), {"id": f"{A}#delete", "type": "Delete", "actor": A, "to": [EVERYBODY], "object": A}),
    (
        activities.update_actor({"id": A, "name": "Al"}, AT),
        {
            "id": f"{A}#updates/1709632800",
            "type": "Update",
            "actor": A,
            "to": [EVERYBODY],
            "object": {"id": A, "name": "Al"},
        },
    ),
    (
        activities.update_note({"id": STATUS, "attributedTo": A, "to": [B], "cc": []}, AT),
        {
            "id": f"{STATUS}#updates/1709632800",
            "type": "Update",
            "actor": A,
            "published": "2024-03-05T10:00:00Z",
            "to": [B],
            "cc": [],
            "object": {"id": STATUS, "attributedTo": A, "to": [B], "cc": []},
        },
    ),
    (
        activities.flag(HERE, NAME, B, [THEIRS], "spam"),
        {
            "id": f"https://a.example/{NAME}",
            "type": "Flag",
            "actor": "https://a.example/actor",
            "content": "spam",
            "object": [B, THEIRS],
        },
    ),
    (activities.add(A, STATUS), {"type": "Add", "actor": A, "object": STATUS, "target": f"{A}/collections/featured"}),
    (
        activities.remove(A, featured_tag("https://a.example/@alice", "bread")),
        {"type": "Remove", "actor": A, "object": TAG, "target": f"{A}/collections/featured"},
    ),
    (activities.move(A, B, 1), {"id": f"{A}#moves/1", "type": "Move", "actor": A, "object": A, "target": B}),
    (
        activities.vote(A, 4, "rye", THEIRS, B),
        {
            "id": f"{A}#votes/4/activity",
            "type": "Create",
            "actor": A,
            "to": B,
            "object": {
                "id": f"{A}#votes/4",
                "type": "Note",
                "name": "rye",
                "attributedTo": A,
                "inReplyTo": THEIRS,
                "to": B,
            },
        },
    ),
    (quotes.request({"id": STATUS, "attributedTo": A}, THEIRS, NAME), REQUEST),
    (
        quotes.accept(B, REQUEST, 6),
        {
            "id": f"{B}#accepts/quote_requests/6",
            "type": "Accept",
            "actor": B,
            "object": REQUEST,
            "result": f"{B}/quote_authorizations/6",
        },
    ),
    (
        quotes.reject(B, REQUEST, 6),
        {"id": f"{B}#rejects/quote_requests/6", "type": "Reject", "actor": B, "object": REQUEST},
    ),
    (
        quotes.authorization(B, STATUS, 6, THEIRS),
        {
            "id": f"{B}/quote_authorizations/6",
            "type": "QuoteAuthorization",
            "attributedTo": B,
            "interactingObject": STATUS,
            "interactionTarget": THEIRS,
        },
    ),
    (
        quotes.revoke(B, 6),
        {
            "id": f"{B}/quote_authorizations/6#delete",
            "type": "Delete",
            "actor": B,
            "to": [EVERYBODY],
            "object": f"{B}/quote_authorizations/6",
        },
    ),
]


@pytest.mark.parametrize(("made", "expected"), SMALL, ids=[str(one["type"]) for _, one in SMALL])
def test_small_activities_are_as_the_samples_have_them(made: dict[str, Any], expected: dict[str, Any]) -> None:
    assert made == expected
    check_context(with_context(made))


def test_a_plain_activity_needs_no_terms_of_its_own() -> None:
    assert with_context(LIKE)["@context"] == AS
    assert terms_of(with_context(REQUEST)) == {"QuoteRequest"}


def test_lists_are_as_the_samples_have_them() -> None:
    assert collections.outbox(f"{A}/outbox", 120) == {
        "id": f"{A}/outbox",
        "type": "OrderedCollection",
        "totalItems": 120,
        "first": f"{A}/outbox?page=true",
        "last": f"{A}/outbox?min_id=0&page=true",
    }
    assert collections.numbered_page(f"{A}/followers", 30, 1, [B], has_more=True) == {
        "id": f"{A}/followers?page=1",
        "type": "OrderedCollectionPage",
        "totalItems": 30,
        "next": f"{A}/followers?page=2",
        "partOf": f"{A}/followers",
        "orderedItems": [B],
    }
