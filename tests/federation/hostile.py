"""Documents that somebody wrote to do harm, each with the reason for which it is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.federation.neighbours import SAMPLES, mastodon
from tests.federation.neighbours.mastodon import STATUS, A, B
from tests.federation.neighbours.sample import AS, PEM, PUBLIC, with_

__all__ = ["FORGED", "RAW", "WRONG", "mutants"]

EVIL = "https://evil.example/users/mallory"


class Forged(NamedTuple):
    kind: str
    document: dict[str, Any]
    reason: str


def _create(**changes: Any) -> dict[str, Any]:
    return with_(mastodon.CREATE, object=with_(mastodon.CREATE["object"], **changes))


def _does(kind: str, **fields: Any) -> dict[str, Any]:
    return {"@context": AS, "id": f"{A}#1", "type": kind, "actor": A, **fields}


_BAD_NAMES: tuple[Any, ...] = ("", None, 7, [], {}, "a b", "a@b", "a/b", "<b>", "a\0", "ä", ".a", "a.", "-", "a" * 600)
_NO_LINK = {"rel": "self", "type": "text/html", "href": A}
_BAD_IDS: tuple[Any, ...] = (
    None,
    7,
    True,
    {},
    [],
    "",
    " ",
    "alice",
    "acct:alice@a.example",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "ftp://a.example/x",
    "data:text/plain,x",
    "//a.example/x",
    "https://",
    "https:///x",
    "https://a.example@evil.example/x",
    "https://user:secret@a.example/x",
    "https://a.example\\@evil.example/x",
    "https://a.example /x",
    "https://a.example/\nx",
    "https://a.example/\0x",
    "https://a..example/x",
    "https://.example/x",
    "https://a.example./x",
    "https://-a.example/x",
    "https://a.example:99999/x",
    "https://a.example:port/x",
    "https://[::1/x",
    "https://a.example/<script>",
    f"https://a.example/{'x' * 3000}",
    "\ufeffhttps://a.example/x",
    "https://a.example\u2028/x",
    "https://xn--\u00fc.example/x",
)

FORGED: dict[str, Forged] = {
    # somebody else's
    "actor with an inbox elsewhere": Forged("actor", with_(mastodon.ACTOR, inbox=f"{EVIL}/inbox"), "no_inbox"),
    "actor with a key of somebody else": Forged(
        "actor",
        with_(mastodon.ACTOR, publicKey={"id": f"{A}#main-key", "owner": EVIL, "publicKeyPem": PEM}),
        "no_key",
    ),
    "actor with a key on another host": Forged(
        "actor",
        with_(mastodon.ACTOR, publicKey={"id": f"{EVIL}#main-key", "owner": A, "publicKeyPem": PEM}),
        "no_key",
    ),
    "actor with the address of a key elsewhere": Forged(
        "actor", with_(mastodon.ACTOR, publicKey=f"{EVIL}#main-key"), "no_key"
    ),
    "actor with a giant key": Forged(
        "actor",
        with_(mastodon.ACTOR, publicKey={"id": f"{A}#k", "owner": A, "publicKeyPem": PEM + "A" * 9000}),
        "no_key",
    ),
    "actor with a private key": Forged(
        "actor",
        with_(
            mastodon.ACTOR, publicKey={"id": f"{A}#k", "owner": A, "publicKeyPem": "-----BEGIN RSA PRIVATE KEY-----"}
        ),
        "no_key",
    ),
    "actor of no type": Forged("actor", with_(mastodon.ACTOR, type="Note"), "unknown_type"),
    "actor without a context": Forged("actor", with_(mastodon.ACTOR, **{"@context": None}), "no_context"),
    "actor with another context": Forged(
        "actor", with_(mastodon.ACTOR, **{"@context": ["https://schema.org", {"x": AS}]}), "no_context"
    ),
    "note by somebody elsewhere": Forged("note", with_(mastodon.NOTE, attributedTo=EVIL), "wrong_host"),
    "note by the same name on another port": Forged(
        "note", with_(mastodon.NOTE, attributedTo="https://a.example:8443/users/alice"), "wrong_host"
    ),
    "note by a subdomain": Forged(
        "note", with_(mastodon.NOTE, attributedTo="https://x.a.example/users/alice"), "wrong_host"
    ),
    "note by a longer domain": Forged(
        "note", with_(mastodon.NOTE, attributedTo="https://a.example.evil.example/users/alice"), "wrong_host"
    ),
    "create of a note of another host": Forged("activity", _create(id=f"{B}/statuses/1"), "wrong_host"),
    "create of somebody else's note": Forged("activity", _create(attributedTo=f"{A}2"), "wrong_actor"),
    "create of a whole foreign note": Forged("activity", _create(id=f"{B}/statuses/1", attributedTo=B), "wrong_actor"),
    "create with a foreign id": Forged("activity", with_(mastodon.CREATE, id=f"{B}/statuses/1/activity"), "wrong_host"),
    "create of a foreign id": Forged("activity", with_(mastodon.CREATE, object=f"{B}/statuses/1"), "wrong_host"),
    "update of another actor": Forged(
        "activity",
        _does(
            "Update",
            object=with_(
                mastodon.ACTOR,
                id=f"{A}2",
                publicKey={"id": f"{A}2#k", "owner": f"{A}2", "publicKeyPem": PEM},
            ),
        ),
        "wrong_actor",
    ),
    "update of an actor elsewhere": Forged(
        "activity", with_(_does("Update", object=mastodon.ACTOR), actor=EVIL, id=f"{EVIL}#1"), "wrong_host"
    ),
    "update of a foreign note": Forged(
        "activity", with_(_does("Update", object=mastodon.NOTE), actor=EVIL, id=f"{EVIL}#1"), "wrong_host"
    ),
    "delete of a foreign note": Forged("activity", _does("Delete", object=f"{B}/statuses/1"), "wrong_host"),
    "delete of a foreign actor": Forged("activity", _does("Delete", object=B), "wrong_host"),
    "delete of a foreign tombstone": Forged(
        "activity", _does("Delete", object={"id": f"{B}/statuses/1", "type": "Tombstone"}), "wrong_host"
    ),
    "undo of somebody else's follow": Forged(
        "activity", _does("Undo", object={"type": "Follow", "actor": B, "object": A}), "wrong_actor"
    ),
    "undo of a follow with a foreign id": Forged(
        "activity", _does("Undo", object={"id": f"{B}#1", "type": "Follow", "actor": A, "object": B}), "wrong_host"
    ),
    "undo of a foreign id": Forged("activity", _does("Undo", object=f"{B}#likes/1"), "wrong_host"),
    "undo of an undo": Forged("activity", _does("Undo", object=_does("Undo", object=mastodon.LIKE)), "unknown_type"),
    "undo of a delete": Forged("activity", _does("Undo", object=_does("Delete", object=STATUS)), "unknown_type"),
    "accept for somebody else": Forged(
        "activity", _does("Accept", object={"type": "Follow", "actor": B, "object": f"{A}2"}), "wrong_actor"
    ),
    "accept of the own follow": Forged(
        "activity", _does("Accept", object={"type": "Follow", "actor": A, "object": B}), "wrong_actor"
    ),
    "accept of a follow with an id of a third": Forged(
        "activity", _does("Accept", object={"id": f"{EVIL}#1", "type": "Follow", "actor": B, "object": A}), "wrong_host"
    ),
    "reject for somebody else": Forged(
        "activity", _does("Reject", object={"type": "Follow", "actor": B, "object": f"{A}2"}), "wrong_actor"
    ),
    "accept of a quote of a foreign post": Forged(
        "activity",
        _does("Accept", object={"type": "QuoteRequest", "actor": B, "object": f"{B}/statuses/1", "instrument": STATUS}),
        "wrong_host",
    ),
    "accept with a stamp elsewhere": Forged(
        "activity", _does("Accept", object=mastodon.REQUEST, result=f"{EVIL}/stamp"), "wrong_host"
    ),
    "stamp by a third": Forged("stamp", with_(SAMPLES["mastodon stamp"].document, attributedTo=EVIL), "wrong_host"),
    "stamp on another host": Forged("stamp", with_(SAMPLES["mastodon stamp"].document, id=f"{EVIL}/1"), "wrong_host"),
    "stamp for a foreign post": Forged(
        "stamp", with_(SAMPLES["mastodon stamp"].document, interactionTarget=f"{EVIL}/1"), "wrong_host"
    ),
    "quote request with a foreign instrument": Forged(
        "activity", _does("QuoteRequest", object=f"{B}/statuses/1", instrument=f"{EVIL}/1"), "wrong_host"
    ),
    "quote request with somebody else's note": Forged(
        "activity",
        _does("QuoteRequest", object=f"{B}/statuses/1", instrument=with_(mastodon.NOTE, attributedTo=f"{A}2")),
        "wrong_actor",
    ),
    "move of somebody else": Forged("activity", _does("Move", object=B, target=EVIL), "wrong_actor"),
    "move to oneself": Forged("activity", _does("Move", object=A, target=f"{A}#new"), "no_target"),
    "pin in a foreign collection": Forged(
        "activity", _does("Add", object=STATUS, target=f"{B}/collections/featured"), "wrong_host"
    ),
    "unpin in a foreign collection": Forged(
        "activity", _does("Remove", object=STATUS, target=f"{B}/collections/featured"), "wrong_host"
    ),
    "announce with a foreign id": Forged("activity", with_(mastodon.ANNOUNCE, id=f"{B}/announce/1"), "wrong_host"),
    "follow with a foreign id": Forged("activity", with_(mastodon.FOLLOW, id=f"{B}/follow/1"), "wrong_host"),
    "like with a foreign id": Forged("activity", with_(mastodon.LIKE, id=f"{B}#likes/1"), "wrong_host"),
    "collection of another host": Forged(
        "collection", {"@context": AS, "id": f"{EVIL}/outbox", "type": "OrderedCollection"}, "wrong_host"
    ),
    "collection of no type": Forged(
        "collection", {"@context": AS, "id": f"{A}/outbox", "type": "Note"}, "unknown_type"
    ),
    "webfinger without a link": Forged(
        "webfinger", {"subject": "acct:alice@a.example", "links": [_NO_LINK]}, "no_link"
    ),
    "webfinger with a link to nowhere": Forged(
        "webfinger",
        {
            "subject": "acct:alice@a.example",
            "links": [{"rel": "self", "type": "application/activity+json", "href": "javascript:x"}],
        },
        "no_link",
    ),
    "webfinger without a subject": Forged("webfinger", {"links": [with_(_NO_LINK)]}, "no_subject"),
    "webfinger with a bad subject": Forged("webfinger", {"subject": "acct:@", "links": []}, "no_subject"),
    "encrypted message without devices": Forged(
        "activity", _does("Create", object={"type": "EncryptedMessage", "attributedTo": A, "to": B}), "no_author"
    ),
    "encrypted message of a megabyte": Forged(
        "activity",
        _does(
            "Create",
            object={
                "type": "EncryptedMessage",
                "attributedTo": {"deviceId": "1"},
                "to": {"deviceId": "2"},
                "cipherText": "x" * 900_000,
                "digest": {"digestValue": "y"},
            },
        ),
        "no_content",
    ),
    **{f"actor with id {one!r}"[:80]: Forged("actor", with_(mastodon.ACTOR, id=one), "no_id") for one in _BAD_IDS},
    **{f"note with id {one!r}"[:80]: Forged("note", with_(mastodon.NOTE, id=one), "no_id") for one in _BAD_IDS},
    **{
        f"note by {one!r}"[:80]: Forged("note", with_(mastodon.NOTE, attributedTo=one), "no_author") for one in _BAD_IDS
    },
    **{f"like by {one!r}"[:80]: Forged("activity", with_(mastodon.LIKE, actor=one), "no_actor") for one in _BAD_IDS},
    **{
        f"follow of {one!r}"[:80]: Forged("activity", with_(mastodon.FOLLOW, object=one), "no_object")
        for one in _BAD_IDS
    },
    **{
        f"actor named {one!r}"[:80]: Forged("actor", with_(mastodon.ACTOR, preferredUsername=one), "no_username")
        for one in _BAD_NAMES
    },
}


def _deep(levels: int, opening: bytes = b'{"object":', closing: bytes = b"}") -> bytes:
    return opening * levels + b'"x"' + closing * levels


RAW: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "not_json"),
    "space": (b"  ", "not_json"),
    "words": (b"hello", "not_json"),
    "HTML": (b"<!doctype html><p>hello", "not_json"),
    "half a document": (b'{"id":', "not_json"),
    "two documents": (b"{}{}", "not_json"),
    "a list": (b"[]", "not_an_object"),
    "a number": (b"7", "not_an_object"),
    "a text": (b'"x"', "not_an_object"),
    "null": (b"null", "not_an_object"),
    "no number": (b'{"a":NaN}', "not_json"),
    "infinity": (b'{"a":1e999}', "not_json"),
    "half a character": (b'{"a":"\\ud800"}', "not_json"),
    "no UTF-8": (b'{"a":"\xff"}', "not_json"),
    "UTF-16": ('{"a":1}'.encode("utf-16"), "not_json"),
    "a long number": (b'{"a":' + b"1" * 100_000 + b"}", "not_json"),
    "more than a megabyte": (b'{"a":"' + b"x" * 1024 * 1024 + b'"}', "too_large"),
    "33 objects in one another": (_deep(33), "too_deep"),
    "lists in one another": (b'{"a":' + b"[" * 40 + b"]" * 40 + b"}", "too_deep"),
    "ninety thousand objects in one another": (_deep(90_000), "too_many_values"),
    "twenty thousand objects in one another": (_deep(20_000), "too_deep"),
    "a hundred thousand open lists": (b'{"a":' + b"[" * 100_000, "too_many_values"),
    "twenty thousand open lists": (b'{"a":' + b"[" * 20_000, "too_deep"),
    "too many values": (b'{"a":[' + b"0," * 200_000 + b"0]}", "too_many_values"),
    "too many names": (
        b"{" + b",".join(b'"%d":1' % number for number in range(100_001)) + b"}",
        "too_many_values",
    ),
}

WRONG: tuple[Any, ...] = (
    None,
    True,
    0,
    -1.5,
    2**70,
    "",
    "\0",
    "x" * 30_000,
    [],
    [[[]]],
    {},
    [None, 1, "x", {}, []],
    {"id": {"id": {"id": A}}},
    {"@list": [[1], {"@value": 2}]},
    {"type": ["Link", "Image", None], "href": 3, "url": {"href": []}},
    [A] * 2000,
    PUBLIC,
    EVIL,
)


def mutants() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field of every sample, and of what it embeds, with every wrong value, and without it."""
    for sample in SAMPLES.values():
        for changed in _changed(sample.document, 3):
            yield sample.kind, changed
        yield sample.kind, {}


def _changed(document: dict[str, Any], levels: int) -> Iterator[dict[str, Any]]:
    for field, value in document.items():
        yield {name: one for name, one in document.items() if name != field}
        for wrong in WRONG:
            yield {**document, field: wrong}
        if levels and isinstance(value, dict):
            for inner in _changed(value, levels - 1):
                yield {**document, field: inner}
        elif levels and isinstance(value, list) and value and isinstance(value[0], dict):
            for inner in _changed(value[0], levels - 1):
                yield {**document, field: [inner, *value[1:]]}
