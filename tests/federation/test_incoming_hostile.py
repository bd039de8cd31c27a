"""Documents written to do harm are refused with a reason, whatever stands in whichever field."""

from __future__ import annotations

import copy
from collections import Counter
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.federation.vocabulary.incoming import (
    DocumentRefused,
    IncomingActor,
    IncomingNote,
    parse_document,
    read_actor,
    read_collection,
    read_host_meta,
    read_note,
)
from kith.federation.vocabulary.incoming.ids import domain_of
from tests.federation.hostile import FORGED, RAW, Forged, mutants
from tests.federation.neighbours import SAMPLES, mastodon
from tests.federation.neighbours.mastodon import STATUS, A
from tests.federation.neighbours.sample import AS, with_
from tests.federation.readers import READERS

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from([A, STATUS, AS]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "type", "href", "url", "name", "@list", "@value", "x"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_a_forged_document_is_refused(forged: Forged) -> None:
    with pytest.raises(DocumentRefused) as caught:
        READERS[forged.kind](forged.document)
    assert caught.value.reason == forged.reason


@pytest.mark.parametrize(("raw", "reason"), RAW.values(), ids=RAW)
def test_bytes_that_are_no_bounded_document_are_refused(raw: bytes, reason: str) -> None:
    with pytest.raises(DocumentRefused) as caught:
        parse_document(raw)
    assert caught.value.reason == reason


def test_a_document_at_the_limits_is_read() -> None:
    assert parse_document(b'{"a":' + b"[" * 31 + b"]" * 31 + b"}")
    assert parse_document(b'{"a":[' + b"0," * 29_000 + b"0]}")
    assert parse_document(b'{"a":"' + b"x" * (1024 * 1024 - 8) + b'"}')


def test_a_wrong_value_in_any_field_is_refused_or_left_out() -> None:
    seen: Counter[str] = Counter()
    for kind, document in mutants():
        try:
            found = READERS[kind](document)
        except DocumentRefused as refused:
            seen[refused.reason] += 1
        else:
            _check_sound(found)
            seen["understood"] += 1
    assert seen.total() > 5000
    assert seen["understood"] > 2000
    assert seen["wrong_host"] > 20


@given(st.data())
def test_a_document_with_any_changes_is_understood_or_refused(data: st.DataObject) -> None:
    sample = data.draw(st.sampled_from(list(SAMPLES.values())))
    document = copy.deepcopy(sample.document)
    for _ in range(data.draw(st.integers(1, 4))):
        _change(document, data)
    with suppress(DocumentRefused):
        _check_sound(READERS[sample.kind](document))


def _change(document: Any, data: st.DataObject) -> None:
    """Drop or replace one value, somewhere."""
    node = document
    while True:
        places = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not places:
            return
        place = data.draw(st.sampled_from(places))
        inner = node[place]
        if isinstance(inner, dict | list) and inner and data.draw(st.booleans()):
            node = inner
            continue
        if data.draw(st.integers(0, 4)) == 0:
            del node[place]
        else:
            node[place] = data.draw(ANY_JSON)
        return


@given(st.binary(max_size=300))
def test_any_bytes_are_a_document_or_refused(raw: bytes) -> None:
    for read in (parse_document, read_host_meta):
        with suppress(DocumentRefused):
            read(raw)


def _check_sound(found: Any) -> None:
    """What was understood belongs to whoever said it, and can be kept."""
    if isinstance(found, IncomingActor):
        owned = (found.inbox, found.shared_inbox, found.outbox, found.followers, found.following, found.url)
        assert {domain_of(one) for one in owned if one is not None} == {found.domain}
        assert {key.owner for key in found.keys.keys} <= {found.id}
    if isinstance(found, IncomingNote):
        assert domain_of(found.author) == found.domain
        assert found.in_reply_to != found.id
    note = getattr(found, "note", None)
    if note is not None:
        assert note.author == found.actor
    if not hasattr(found, "items") and not hasattr(note or found, "replies"):
        assert b"\\u0000" not in msgspec.json.encode(found, enc_hook=str)


def test_what_comes_in_masses_is_kept_in_bounds() -> None:
    mention = {"type": "Mention", "href": "https://b.example/users/", "name": "@x"}
    tags = [with_(mention, href=f"https://b.example/users/{number}") for number in range(5000)]
    emoji = {"type": "Emoji", "icon": {"url": "https://a.example/x.png"}}
    tags[100:100] = [with_(emoji, name=f":e{number}:") for number in range(400)]
    note = read_note(
        with_(
            mastodon.NOTE,
            type="Question",
            tag=tags,
            to=[f"https://b.example/users/{number}" for number in range(5000)] + ["as:Public"],
            attachment=[{"type": "Image", "url": f"https://a.example/{number}.png"} for number in range(50)],
            oneOf=[{"name": f"{number}" * 1000} for number in range(2000)],
        )
    )
    assert len(note.tags.mentions) == 250
    assert len(note.tags.emojis) == 250
    assert len(note.audience.to) == 1000
    assert note.audience.is_public_to
    assert [one.url for one in note.attachments.files] == [f"https://a.example/{number}.png" for number in range(4)]
    assert note.poll is not None
    assert len(note.poll.options) == 500
    assert sum(len(one.name) for one in note.poll.options) <= 64_000
    assert {len(one.name) for one in note.poll.options} == {128}
    few = read_note(with_(mastodon.NOTE, type="Question", oneOf=[{"name": "a" * 9000}])).poll
    assert few is not None
    assert len(few.options[0].name) == 2000

    actor = read_actor(
        with_(
            mastodon.ACTOR,
            name="n" * 5000,
            summary="ü" * 50_000,
            attachment=[{"type": "PropertyValue", "name": "n" * 3000, "value": "v" * 3000}] * 80,
            alsoKnownAs=[f"https://b.example/{number}" for number in range(1000)],
            attributionDomains=[f"b{number}.example" for number in range(1000)],
        )
    )
    assert len(actor.name) == 2048
    assert len(actor.summary.encode()) == 20 * 1024
    assert (len(actor.fields), len(actor.fields[0].name), len(actor.fields[0].value)) == (50, 2047, 2047)
    assert (len(actor.aliases), len(actor.attribution_domains)) == (256, 256)

    collection = {"@context": AS, "id": f"{A}/outbox", "type": "Collection", "items": [STATUS] * 5000}
    assert len(read_collection(collection, "a.example").items) == 1000


def test_nothing_answers_or_quotes_itself() -> None:
    note = read_note(with_(mastodon.NOTE, inReplyTo=STATUS, quote=STATUS))
    assert (note.in_reply_to, note.quote) == (None, None)


def test_pages_elsewhere_and_pages_that_lead_to_themselves_are_left_out() -> None:
    page = {"@context": AS, "id": f"{A}/o?page=1", "type": "OrderedCollectionPage"}
    pages = {"next": f"{A}/o?page=1", "prev": "https://evil.example/o", "last": f"{A}/o?page=9"}
    found = read_collection(with_(page, first="https://evil.example/o?page=1", **pages), "a.example")
    assert (found.first, found.next, found.prev, found.last) == (None, None, None, f"{A}/o?page=9")


def test_pages_inside_pages_are_not_followed() -> None:
    inner: dict[str, Any] = {"type": "CollectionPage", "items": [STATUS]}
    for _ in range(500):
        inner = {"type": "CollectionPage", "items": [], "first": inner}
    found = read_collection({"@context": AS, "type": "Collection", "first": inner}, "a.example")
    assert found.first_page is not None
    assert found.first_page.first_page is None


def test_the_number_of_hostile_documents() -> None:
    assert len(FORGED) + len(RAW) >= 200
