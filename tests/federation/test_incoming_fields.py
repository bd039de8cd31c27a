"""Single fields of documents from elsewhere: tables of what is written and what it means."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from kith.federation.vocabulary.incoming import DocumentRefused, Handle, read_handle, read_host_meta, read_nodeinfo_link
from kith.federation.vocabulary.incoming.attachments import read_attachments
from kith.federation.vocabulary.incoming.audience import read_audience
from kith.federation.vocabulary.incoming.discovery import is_activity_type
from kith.federation.vocabulary.incoming.fields import read_instant, read_page
from kith.federation.vocabulary.incoming.ids import domain_of, read_id, same_domain
from kith.federation.vocabulary.incoming.keys import read_key, read_keys
from kith.federation.vocabulary.incoming.messages import read_device
from kith.federation.vocabulary.incoming.policies import approved, read_approval
from kith.federation.vocabulary.incoming.polls import read_poll
from kith.federation.vocabulary.incoming.quotes import read_quote
from tests.federation.neighbours.mastodon import A, B
from tests.federation.neighbours.sample import AS, PEM, PUBLIC

FOLLOWERS = f"{A}/followers"
OPTIONS = [{"name": "a"}, {"name": "b", "replies": {"totalItems": 2}}]


@pytest.mark.parametrize(
    ("uri", "domain"),
    [
        ("https://a.example/users/alice", "a.example"),
        ("HTTPS://A.Example/users/alice", "a.example"),
        ("https://a.example", "a.example"),
        ("https://a.example:443/x", "a.example"),
        ("http://a.example:80/x", "a.example"),
        ("http://a.example:443/x", "a.example:443"),
        ("https://a.example:8443/x", "a.example:8443"),
        ("http://127.0.0.1:3000/x", "127.0.0.1:3000"),
        ("http://[::1]:3000/x", "[::1]:3000"),
        ("https://a.example?author=1", "a.example"),
        ("https://a.example#x", "a.example"),
        ("https://bücher.example/ü", "xn--bcher-kva.example"),
        ("https://bücher.example:8443/", "xn--bcher-kva.example:8443"),
        ("https://a.example/ü", "a.example"),
    ],
)
def test_whose_an_id_is(uri: str, domain: str) -> None:
    assert read_id(uri) == uri
    assert domain_of(uri) == domain


def test_ids_fit_into_an_index() -> None:
    """They are counted in bytes, whatever they are written in."""
    for letter in ("a", "\u00e4", "\u4e2d", "\U0001f600"):
        fitting = "https://a.example/" + letter * (2030 // len(letter.encode()))
        assert read_id(fitting) == fitting
        assert read_id(f"{fitting}{letter}") is None


def test_texts_that_are_no_ids_are_nobodys() -> None:
    assert not same_domain("nothing", "nothing")
    assert not same_domain("", "")


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2024-03-05T10:00:00Z", datetime(2024, 3, 5, 10, tzinfo=UTC)),
        ("2024-03-05T10:00:00.5Z", datetime(2024, 3, 5, 10, 0, 0, 500_000, tzinfo=UTC)),
        ("2024-03-05T10:00:00.123456789+01:00", datetime(2024, 3, 5, 9, 0, 0, 123_456, tzinfo=UTC)),
        ("2024-03-05T10:00:00-0530", datetime(2024, 3, 5, 15, 30, tzinfo=UTC)),
        ("2024-03-05 10:00:00", datetime(2024, 3, 5, 10, tzinfo=UTC)),
        ("2024-03-05T10:00", datetime(2024, 3, 5, 10, tzinfo=UTC)),
        ("2024-03-05", datetime(2024, 3, 5, tzinfo=UTC)),
        ("2024-12-31T23:59:60Z", datetime(2024, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("9999-12-31T23:59:59Z", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("0000-01-01T00:00:00Z", None),
        ("0001-01-01T00:00:00+23:59", None),
        ("0001-01-01T00:00:00Z", None),
        ("9999-12-31T23:59:59.999999Z", None),
        ("9999-12-31T23:59:59-23:59", None),
        ("10000-01-01T00:00:00Z", None),
        ("-0001-01-01T00:00:00Z", None),
        ("2024-13-05T10:00:00Z", None),
        ("2024-02-30T10:00:00Z", None),
        ("2024-03-05T25:00:00Z", None),
        ("2024-03-05T10:00:00+99:00", None),
        ("٢٠٢٤-03-05T10:00:00Z", None),
        ("yesterday", None),
        ("", None),
        (1709632800, None),
        (None, None),
        ([], None),
    ],
)
def test_a_moment(value: Any, moment: datetime | None) -> None:
    assert read_instant(value) == moment


@pytest.mark.parametrize(
    ("to", "cc", "mentioned", "visibility", "silent"),
    [
        (PUBLIC, FOLLOWERS, [], "public", ()),
        (["as:Public"], [FOLLOWERS], [], "public", ()),
        ([FOLLOWERS, "Public"], [], [], "public", ()),
        ([{"id": PUBLIC}], [], [], "public", ()),
        ([FOLLOWERS], [PUBLIC], [], "unlisted", ()),
        (FOLLOWERS, "as:Public", [], "unlisted", ()),
        ([FOLLOWERS], [B], [B], "private", ()),
        ([FOLLOWERS], [B], [], "private", (B,)),
        ([B], [FOLLOWERS], [B], "direct", ()),
        ([B], None, [B], "direct", ()),
        ([f"{B}#x"], None, [B], "direct", ()),
        ([B, "https://c.example/users/cid"], [], [B], "limited", ("https://c.example/users/cid",)),
        ([B], [], [], "limited", (B,)),
        (["https://evil.example/followers"], [], [], "limited", ("https://evil.example/followers",)),
        (None, None, [], "direct", ()),
        ([None, 3, [PUBLIC], "public", "AS:PUBLIC"], {}, [], "direct", ()),
    ],
)
def test_visibility(to: Any, cc: Any, mentioned: list[str], visibility: str, silent: tuple[str, ...]) -> None:
    audience = read_audience({"to": to, "cc": cc})
    assert audience.visibility(FOLLOWERS, mentioned) == visibility
    assert audience.silent(FOLLOWERS, mentioned) == silent


@pytest.mark.parametrize(
    ("fields", "multiple", "ends_at", "is_closed"),
    [
        ({"oneOf": OPTIONS}, False, None, False),
        ({"anyOf": OPTIONS, "oneOf": []}, True, None, False),
        ({"oneOf": OPTIONS, "anyOf": []}, False, None, False),
        ({"oneOf": OPTIONS, "closed": True}, False, None, True),
        ({"oneOf": OPTIONS, "closed": False}, False, None, False),
        ({"oneOf": OPTIONS, "closed": "2024-03-05"}, False, datetime(2024, 3, 5, tzinfo=UTC), False),
        ({"oneOf": OPTIONS, "closed": "soon", "endTime": "2024-03-06"}, False, datetime(2024, 3, 6, tzinfo=UTC), False),
        ({"oneOf": OPTIONS, "closed": True, "endTime": "2024-03-06"}, False, datetime(2024, 3, 6, tzinfo=UTC), True),
        ({"oneOf": OPTIONS, "endTime": "2024-03-06"}, False, datetime(2024, 3, 6, tzinfo=UTC), False),
    ],
)
def test_a_poll(fields: dict[str, Any], multiple: bool, ends_at: datetime | None, is_closed: bool) -> None:
    poll = read_poll(fields)
    assert poll is not None
    assert (poll.multiple, poll.ends_at, poll.is_closed) == (multiple, ends_at, is_closed)
    assert [(option.name, option.votes) for option in poll.options] == [("a", 0), ("b", 2)]


@pytest.mark.parametrize("fields", [{}, {"oneOf": []}, {"oneOf": [{"name": 3}, "x"]}, {"anyOf": "x"}, {"oneOf": {}}])
def test_nothing_to_choose_from_is_no_poll(fields: dict[str, Any]) -> None:
    assert read_poll(fields) is None


@pytest.mark.parametrize(
    ("fields", "uri", "is_legacy"),
    [
        ({"quote": B}, B, False),
        ({"quote": {"id": B, "type": "Note"}}, B, False),
        ({"quote": B, "quoteUri": A}, B, False),
        ({"quoteUri": B}, B, True),
        ({"quoteUrl": B}, B, True),
        ({"_misskey_quote": B}, B, True),
        ({"quote": None, "quoteUrl": "x", "_misskey_quote": B}, B, True),
        ({"quote": {"type": "Tombstone"}, "quoteUri": B}, None, False),
    ],
)
def test_a_quote(fields: dict[str, Any], uri: str | None, is_legacy: bool) -> None:
    quote = read_quote(fields)
    assert quote is not None
    assert (quote.uri, quote.is_legacy) == (uri, is_legacy)


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ({"automaticApproval": PUBLIC}, {"public"}),
        ({"automaticApproval": ["as:Public"]}, {"public"}),
        ({"always": [FOLLOWERS, A]}, {"followers", "author"}),
        ({"automaticApproval": [f"{A}/following", B]}, {"following"}),
        ({"automaticApproval": []}, set()),
        ({"manualApproval": PUBLIC}, set()),
    ],
)
def test_who_may(value: Any, meant: set[str]) -> None:
    approval = read_approval(value)
    assert approval is not None
    assert approved(approval.automatic, author=A, followers=FOLLOWERS, following=f"{A}/following") == meant


@pytest.mark.parametrize(
    ("text", "handle"),
    [
        ("alice@a.example", Handle("alice", "a.example")),
        ("@alice@A.Example", Handle("alice", "a.example")),
        ("acct:Alice@a.example", Handle("Alice", "a.example")),
        ("alice@127.0.0.1:3000", Handle("alice", "127.0.0.1:3000")),
        ("alice@bücher.example", Handle("alice", "xn--bcher-kva.example")),
        (" alice@a.example ", Handle("alice", "a.example")),
        ("alice", None),
        ("@alice", None),
        ("alice@", None),
        ("alice@b@c.example", None),
        ("alice@a.example/x", None),
        ("alice@a example", None),
        ("https://a.example/@alice", None),
        ("x" * 2000, None),
        (None, None),
    ],
)
def test_a_handle(text: Any, handle: Handle | None) -> None:
    assert read_handle(text) == handle


@pytest.mark.parametrize(
    ("content_type", "is_believed"),
    [
        ("application/activity+json", True),
        ("application/activity+json; charset=utf-8", True),
        ("Application/Activity+JSON", True),
        (f'application/ld+json; profile="{AS}"', True),
        (f'application/ld+json; charset=utf-8; profile="https://example.org/x {AS}"', True),
        (f"application/ld+json;profile={AS}", True),
        ("application/ld+json", False),
        ('application/ld+json; profile="https://evil.example/"', False),
        (f'application/ld+json; profile="{AS}.evil.example"', False),
        ("application/json", False),
        ("text/html", False),
        ("image/png; x=application/activity+json", False),
        ("", False),
    ],
)
def test_a_content_type(content_type: str, is_believed: bool) -> None:
    assert is_activity_type(content_type) is is_believed


XRD = """<?xml version="1.0" encoding="UTF-8"?>
<XRD xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0">{}</XRD>"""
LINK = '<Link rel="lrdd" template="https://a.example/.well-known/webfinger?resource={uri}"/>'


@pytest.mark.parametrize(
    "raw",
    [
        XRD.replace("{}", LINK),
        XRD.replace("{}", f'<Link rel="other" template="https://x.example/{{uri}}"/>{LINK}'),
        XRD.replace("{}", LINK.replace("<Link", "<x:Link")),
        '{"links":[{"rel":"lrdd","template":"https://a.example/.well-known/webfinger?resource={uri}"}]}',
    ],
)
def test_host_meta(raw: str) -> None:
    assert read_host_meta(raw.encode()) == "https://a.example/.well-known/webfinger?resource={uri}"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("", "not_xml"),
        ("<XRD>", "not_xml"),
        (XRD.replace("{}", ""), "no_link"),
        (XRD.replace("{}", LINK.replace("{uri}", "")), "no_link"),
        (XRD.replace("{}", LINK.replace("https:", "file:")), "no_link"),
        ('{"links":"x"}', "no_link"),
        ("{", "not_json"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><XRD>&b;</XRD>', "not_xml"),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><XRD/>', "not_xml"),
        ("<a>" * 9000, "not_xml"),
        (" " * 70_000, "too_large"),
    ],
)
def test_bad_host_meta_is_refused(raw: str, reason: str) -> None:
    with pytest.raises(DocumentRefused) as caught:
        read_host_meta(raw.encode())
    assert caught.value.reason == reason


def test_the_newest_nodeinfo_is_chosen() -> None:
    schema = "http://nodeinfo.diaspora.software/ns/schema/"
    links = [{"rel": f"{schema}{version}", "href": f"https://a.example/{version}"} for version in ("2.0", "2.1", "9.9")]
    assert read_nodeinfo_link({"links": links}) == "https://a.example/2.1"
    with pytest.raises(DocumentRefused):
        read_nodeinfo_link({"links": links[2:]})


@pytest.mark.parametrize(
    ("value", "page"),
    [
        ("https://a.example/1", "https://a.example/1"),
        (["https://a.example/1", "https://a.example/2"], "https://a.example/1"),
        ({"type": "Link", "href": "https://a.example/1"}, "https://a.example/1"),
        (
            [
                {"href": "https://a.example/1.mp4", "mediaType": "video/mp4"},
                {"href": "https://a.example/2", "mediaType": "text/html"},
            ],
            "https://a.example/2",
        ),
        ([{"href": "https://a.example/1.mp4", "mediaType": "video/mp4"}], None),
        (7, None),
    ],
)
def test_the_page_for_people(value: Any, page: str | None) -> None:
    assert read_page(value) == page


@pytest.mark.parametrize(
    ("duration", "seconds"),
    [("PT1M30.5S", 90.5), ("P1DT1H", 90_000.0), ("PT140S", 140.0), (12, 12.0), ("P", None), ("x", None), (-3, None)],
)
def test_how_long_something_plays(duration: Any, seconds: float | None) -> None:
    [file] = read_attachments({"type": "Video", "url": "https://a.example/1.mp4", "duration": duration}).files
    assert (file.kind, file.seconds) == ("video", seconds)


@pytest.mark.parametrize(
    ("blurhash", "is_taken"),
    [
        ("UBL_:rOpGG-oBUNG,qRj2so|=eE1w^n4S5NH", True), ("00OZZy", True), ("UBL_:rOpGG-oBUNG,qRj2so|=eE1w^n4S5N", False),
        ("UBL_", False), ("00OZZ<", False), ("00OZZé", False), ("~" * 166, False), (5, False),
    ],
)  # fmt: skip
def test_a_blurhash_is_as_long_as_it_says(blurhash: Any, is_taken: bool) -> None:
    sent = {"type": "Image", "url": "https://a.example/1.png", "mediaType": "image/png", "blurhash": blurhash}
    [file] = read_attachments(sent).files
    assert file.blurhash == (blurhash if is_taken else None)


ED25519 = "z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2"  # the example of FEP-521a


def test_keys_in_lists_elsewhere_and_multikeys() -> None:
    keys = read_keys(
        {
            "publicKey": [
                {"id": f"{A}#rsa-1", "owner": f"{A}#x", "publicKeyPem": PEM},
                f"{A}/keys/2",
                f"{A}#in-this-document",
                {"id": f"{A}#rsa-3", "owner": A, "publicKeyPem": PEM},
            ],
            "assertionMethod": [
                {"id": f"{A}#ed", "type": "Multikey", "controller": A, "publicKeyMultibase": ED25519},
                {"id": f"{A}#of-bob", "type": "Multikey", "controller": B, "publicKeyMultibase": ED25519},
                {"id": f"{A}#short", "type": "Multikey", "controller": A, "publicKeyMultibase": "z6Mk"},
            ],
        },
        A,
    )
    assert [key.id for key in keys.keys] == [f"{A}#rsa-1", f"{A}#rsa-3", f"{A}#ed"]
    assert keys.elsewhere == (f"{A}/keys/2",)


def test_a_key_document_names_its_owner() -> None:
    document = {"id": f"{A}/key", "type": "CryptographicKey", "owner": A, "publicKeyPem": PEM}
    assert read_key(document, f"{A}/key").owner == A
    for changed, reason in (({"id": f"{A}/other"}, "no_key"), ({"owner": B}, "wrong_host"), ({"owner": 1}, "no_key")):
        with pytest.raises(DocumentRefused) as caught:
            read_key({**document, **changed}, f"{A}/key")
        assert caught.value.reason == reason


def test_a_device_gives_its_keys_out_at_home() -> None:
    document = {
        "type": "Device",
        "deviceId": "11",
        "name": "phone",
        "claim": f"{A}/claim?id=11",
        "fingerprintKey": {"type": "Ed25519Key", "publicKeyBase64": "ff"},
        "identityKey": {"type": "Curve25519Key", "publicKeyBase64": "ii"},
    }
    device = read_device(document, A)
    assert (device.id, device.fingerprint_key, device.identity_key) == ("11", "ff", "ii")
    for changed, reason in (
        ({"claim": f"{B}/claim"}, "wrong_host"),
        ({"claim": 1}, "no_link"),
        ({"identityKey": {}}, "no_key"),
        ({"deviceId": ""}, "unknown_type"),
    ):
        with pytest.raises(DocumentRefused) as caught:
            read_device({**document, **changed}, A)
        assert caught.value.reason == reason
