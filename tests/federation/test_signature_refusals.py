"""What is not believed, and why: tables of requests, each with one thing wrong."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from hypothesis import given, settings
from hypothesis import strategies as st

from kith.federation.signatures.digests import sha256
from kith.federation.signatures.key_ids import read_key_id
from kith.federation.signatures.received import MOST_HEADERS, ReceivedRequest, SignatureClaim
from kith.federation.signatures.refusals import Fault, SignatureRefused
from kith.federation.signatures.signing import RequestToSign, Signer, SigningScheme, sign
from kith.federation.signatures.verifying import is_signed, is_valid, read_claim, verify
from tests.federation import vectors
from tests.federation.vectors import AT, GET_HEADERS, KEY_ID, MESSAGE_HEADERS, POST_HEADERS, received

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
ED25519 = ed25519.Ed25519PrivateKey.generate()
NOW = 1709632800
EMPTY = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="  # the SHA-256 of nothing


def refused(request: ReceivedRequest, at: datetime = AT) -> SignatureRefused:
    with pytest.raises(SignatureRefused) as caught:
        verify(read_claim(request, at), vectors.public_key())
    assert caught.value.status == (400 if caught.value.fault is Fault.MALFORMED_DIGEST else 401)
    return caught.value


def cavage_header(covered: str | None = "(request-target) host date digest", **parameters: Any) -> dict[str, str]:
    """A header that is well-formed; its signature is nobody's."""
    found = {"keyId": KEY_ID, "algorithm": "rsa-sha256", "headers": covered, "signature": "AAAA"} | parameters
    text = ",".join(
        f"{name}={value}" if isinstance(value, int) else f'{name}="{value}"'
        for name, value in found.items()
        if value is not None
    )
    return POST_HEADERS | {"signature": text}


CAVAGE: dict[str, tuple[dict[str, str], Fault, str]] = {
    "no signature": ({"host": "b.example"}, Fault.UNSIGNED, "Request not signed"),
    "an empty signature": (
        POST_HEADERS | {"signature": ""},
        Fault.MALFORMED,
        "Incompatible request signature. keyId and signature are required",
    ),
    "no key": (
        cavage_header(keyId=None),
        Fault.MALFORMED,
        "Incompatible request signature. keyId and signature are required",
    ),
    "no bytes": (
        cavage_header(signature=None),
        Fault.MALFORMED,
        "Incompatible request signature. keyId and signature are required",
    ),
    "not a list": (POST_HEADERS | {"signature": "Bearer abc"}, Fault.MALFORMED, "Error parsing signature parameters"),
    "a key without an end": (
        POST_HEADERS | {"signature": 'keyId="abc'},
        Fault.MALFORMED,
        "Error parsing signature parameters",
    ),
    "the same twice": (
        POST_HEADERS | {"signature": POST_HEADERS["signature"] + ',keyId="https://evil.example/x"'},
        Fault.MALFORMED,
        "Signature parameter keyId is there twice",
    ),
    "two signatures in one": (
        POST_HEADERS | {"signature": f"{POST_HEADERS['signature']}, {POST_HEADERS['signature']}"},
        Fault.MALFORMED,
        "Signature parameter keyId is there twice",
    ),
    "too long": (cavage_header(more="x" * 9000), Fault.TOO_LONG, "The signature header is too long"),
    "too many parameters": (
        cavage_header(**{f"p{number}": "x" for number in range(20)}),
        Fault.TOO_LONG,
        "Too many signature parameters",
    ),
    "too many headers": (
        cavage_header(" ".join(f"x{number}" for number in range(40))),
        Fault.TOO_LONG,
        "Too many headers are signed",
    ),
    "a header twice": (cavage_header("date digest Date"), Fault.MALFORMED, "A header is signed twice"),
    "not base64": (cavage_header(signature="%%%"), Fault.MALFORMED, "The signature is not valid base64"),
    "a symmetric algorithm": (
        cavage_header(algorithm="hmac-sha256"),
        Fault.ALGORITHM,
        "Unsupported signature algorithm (only rsa-sha256 and hs2019 are supported)",
    ),
    "an algorithm for other keys": (
        cavage_header(algorithm="ed25519"),
        Fault.ALGORITHM,
        "Unsupported signature algorithm (only rsa-sha256 and hs2019 are supported)",
    ),
    "a key that is not an address": (
        cavage_header(keyId="main-key"),
        Fault.KEY_ID,
        "Public key not found for key main-key",
    ),
    "a key that is too long": (
        cavage_header(keyId="https://a.example/" + "x" * 3000),
        Fault.TOO_LONG,
        "The keyId is too long",
    ),
    "no time": (
        cavage_header("(request-target) host digest"),
        Fault.COVERAGE,
        "Kith requires the Date header or (created) pseudo-header to be signed",
    ),
    "only the time, by default": (
        cavage_header(None),
        Fault.COVERAGE,
        "Kith requires the Digest header or (request-target) pseudo-header to be signed",
    ),
    "hs2019 without created, by default": (
        cavage_header(None, algorithm=None),
        Fault.MALFORMED,
        "Pseudo-header (created) used but corresponding argument missing",
    ),
    "created of the old algorithm": (
        cavage_header("(request-target) (created) host digest", created=NOW),
        Fault.COVERAGE,
        "Invalid pseudo-header (created) for rsa-sha256",
    ),
    "expires of the old algorithm": (
        cavage_header("(request-target) (expires) date host digest", expires=NOW),
        Fault.COVERAGE,
        "Invalid pseudo-header (expires) for rsa-sha256",
    ),
    "expires that is not there": (
        cavage_header("(request-target) (expires) date host digest", algorithm="hs2019"),
        Fault.MALFORMED,
        "Pseudo-header (expires) used but corresponding argument missing",
    ),
    "created that is no time": (
        cavage_header("(request-target) (created) host digest", algorithm="hs2019", created="now"),
        Fault.MALFORMED,
        "Invalid created of the signature: now",
    ),
    "no target and no digest": (
        cavage_header("host date"),
        Fault.COVERAGE,
        "Kith requires the Digest header or (request-target) pseudo-header to be signed",
    ),
    "no digest": (
        cavage_header("(request-target) host date"),
        Fault.COVERAGE,
        "Kith requires the Digest header to be signed when doing a POST request",
    ),
    "a digest that is not sent": (
        {name: value for name, value in POST_HEADERS.items() if name != "digest"},
        Fault.DIGEST,
        "Digest header missing",
    ),
    "another digest": (
        POST_HEADERS | {"digest": f"SHA-256={EMPTY}"},
        Fault.DIGEST,
        f"Invalid Digest value. Computed SHA-256 digest: {vectors.DIGEST[8:]}; given: {EMPTY}",
    ),
    "another hash": (
        POST_HEADERS | {"digest": "MD5=abc, SHA-512=def"},
        Fault.DIGEST,
        "Only SHA-256 is supported in Digest header. Offered algorithms: MD5, SHA-512",
    ),
    "a digest that is not base64": (
        POST_HEADERS | {"digest": "SHA-256=###"},
        Fault.DIGEST,
        "Invalid Digest value. The provided Digest value is not valid base64. Given digest: ###",
    ),
    "a digest that is too long": (
        POST_HEADERS | {"digest": "SHA-256=" + "A" * 2000},
        Fault.TOO_LONG,
        "The digest header is too long",
    ),
    "a date that is none": (
        POST_HEADERS | {"date": "yesterday"},
        Fault.MALFORMED,
        "Invalid Date header: yesterday",
    ),
    "a date that never was": (
        POST_HEADERS | {"date": "Tue, 31 Feb 2024 10:00:00 GMT"},
        Fault.MALFORMED,
        "Invalid Date header: Tue, 31 Feb 2024 10:00:00 GMT",
    ),
    "a date that is too long": (POST_HEADERS | {"date": "x" * 100}, Fault.TOO_LONG, "The date header is too long"),
    "no date": (
        {name: value for name, value in POST_HEADERS.items() if name != "date"},
        Fault.COVERAGE,
        "The date header is signed but was not sent",
    ),
    "a header that is not sent": (
        cavage_header("(request-target) host date digest x-more"),
        Fault.COVERAGE,
        "The x-more header is signed but was not sent",
    ),
    "a header of several lines": (
        cavage_header("(request-target) host date digest x-more") | {"x-more": "a\nhost: b"},
        Fault.MALFORMED,
        "The x-more header has more than one line",
    ),
    "another host": (
        POST_HEADERS | {"host": "c.example"},
        Fault.HOST,
        "The request was signed for another host: c.example",
    ),
    "somebody else's signature": (cavage_header(), Fault.WRONG, f"Verification failed for {KEY_ID}"),
}


@pytest.mark.parametrize("name", CAVAGE)
def test_a_post_is_refused(name: str) -> None:
    headers, fault, words = CAVAGE[name]

    problem = refused(received(headers))

    assert (problem.fault, problem.message) == (fault, words)


def test_a_get_must_name_its_host() -> None:
    problem = refused(received(cavage_header("(request-target) date"), "GET", body=b""))

    assert problem.fault is Fault.COVERAGE
    assert problem.message == "Kith requires the Host header to be signed when doing a GET request"


def test_too_many_headers_are_not_looked_at() -> None:
    with pytest.raises(SignatureRefused) as caught:
        ReceivedRequest("GET", b"/", headers=[(b"x", b"y")] * (MOST_HEADERS + 1), origins=())

    assert caught.value.fault is Fault.TOO_LONG


def message_header(
    components: str = '"@method" "@target-uri" "content-digest"', parameters: str | None = None, **changed: str
) -> dict[str, str]:
    parameters = f'created={NOW};keyid="{KEY_ID}"' if parameters is None else parameters
    return (
        MESSAGE_HEADERS | {"signature-input": f"sig1=({components});{parameters}", "signature": "sig1=:AAAA:"} | changed
    )


MESSAGES: dict[str, tuple[dict[str, str], Fault, str]] = {
    "only what is signed": (
        {name: value for name, value in MESSAGE_HEADERS.items() if name != "signature"},
        Fault.UNSIGNED,
        "Request not signed",
    ),
    "not a dictionary": (
        MESSAGE_HEADERS | {"signature-input": "(("},
        Fault.MALFORMED,
        "Error parsing signature-input",
    ),
    "not bytes": (
        MESSAGE_HEADERS | {"signature": 'sig1="abc"'},
        Fault.MALFORMED,
        "Signature and Signature-Input do not fit together",
    ),
    "not a list": (
        MESSAGE_HEADERS | {"signature-input": "sig1=1"},
        Fault.MALFORMED,
        "Signature and Signature-Input do not fit together",
    ),
    "another label": (
        message_header(signature="sig2=:AAAA:"),
        Fault.MALFORMED,
        "Signature and Signature-Input do not fit together",
    ),
    "two signatures": (
        message_header(signature="sig1=:AAAA:, sig2=:AAAA:"),
        Fault.MALFORMED,
        "Exactly one signature is supported",
    ),
    "a label twice": (
        message_header(signature="sig1=:AAAA:, sig1=:BBBB:"),
        Fault.MALFORMED,
        "Signature parameter sig1 is there twice",
    ),
    "a parameter twice": (
        message_header(parameters=f'created={NOW};created={NOW + 1};keyid="{KEY_ID}"'),
        Fault.MALFORMED,
        "Signature parameter created is there twice",
    ),
    "too long": (
        message_header(parameters=f'nonce="{"x" * 9000}"'),
        Fault.TOO_LONG,
        "The signature-input header is too long",
    ),
    "too many components": (
        message_header(" ".join(f'"x{number}"' for number in range(40))),
        Fault.TOO_LONG,
        "Too many components or parameters are signed",
    ),
    "too many parameters": (
        message_header(parameters=";".join(f"p{number}" for number in range(20))),
        Fault.TOO_LONG,
        "Too many components or parameters are signed",
    ),
    "no key": (
        message_header(parameters=f"created={NOW}"),
        Fault.MALFORMED,
        "Incompatible request signature. keyid and created are required",
    ),
    "no time": (
        message_header(parameters=f'keyid="{KEY_ID}"'),
        Fault.MALFORMED,
        "Incompatible request signature. keyid and created are required",
    ),
    "a time that is none": (
        message_header(parameters=f'created=?1;keyid="{KEY_ID}"'),
        Fault.MALFORMED,
        "Incompatible request signature. keyid and created are required",
    ),
    "an end that is none": (
        message_header(parameters=f'created={NOW};expires="x";keyid="{KEY_ID}"'),
        Fault.MALFORMED,
        "Invalid expires of the signature",
    ),
    "an unknown algorithm": (
        message_header(parameters=f'created={NOW};keyid="{KEY_ID}";alg="hmac-sha256"'),
        Fault.ALGORITHM,
        "Unsupported signature algorithm (only rsa-v1_5-sha256 and ed25519 are supported)",
    ),
    "an algorithm that is no text": (
        message_header(parameters=f'created={NOW};keyid="{KEY_ID}";alg=1'),
        Fault.ALGORITHM,
        "Unsupported signature algorithm (only rsa-v1_5-sha256 and ed25519 are supported)",
    ),
    "a key that is no address": (
        message_header(parameters=f'created={NOW};keyid="x"'),
        Fault.KEY_ID,
        "Public key not found for key x",
    ),
    "no method": (
        message_header('"@target-uri" "content-digest"'),
        Fault.COVERAGE,
        "Kith requires the @method derived component to be signed",
    ),
    "no target": (
        message_header('"@method" "content-digest"'),
        Fault.COVERAGE,
        "Kith requires the @target-uri derived component to be signed",
    ),
    "no digest": (
        message_header('"@method" "@target-uri"'),
        Fault.COVERAGE,
        "Kith requires the Content-Digest header to be signed when doing a POST request",
    ),
    "a component twice": (
        message_header('"@method" "@target-uri" "content-digest" "@method"'),
        Fault.MALFORMED,
        "A component is signed twice",
    ),
    "a component with parameters": (
        message_header('"@method" "@target-uri" "content-digest";sf'),
        Fault.COVERAGE,
        "Parameters of signed components are not supported: content-digest",
    ),
    "a component that is no text": (
        message_header('"@method" "@target-uri" 7'),
        Fault.MALFORMED,
        "A component that is signed has no proper name",
    ),
    "an unknown derived component": (
        message_header('"@method" "@target-uri" "content-digest" "@status"'),
        Fault.COVERAGE,
        "Unknown derived component: @status",
    ),
    "a header that is not sent": (
        message_header('"@method" "@target-uri" "content-digest" "x-more"'),
        Fault.COVERAGE,
        "The x-more header is signed but was not sent",
    ),
    "a digest that is not sent": (
        {name: value for name, value in MESSAGE_HEADERS.items() if name != "content-digest"},
        Fault.DIGEST,
        "Content-Digest header missing",
    ),
    "a malformed digest": (
        MESSAGE_HEADERS | {"content-digest": "sha-256=abc=="},
        Fault.MALFORMED_DIGEST,
        "Content-Digest could not be parsed",
    ),
    "a digest that is no bytes": (
        MESSAGE_HEADERS | {"content-digest": 'sha-256="abc"'},
        Fault.MALFORMED_DIGEST,
        "Content-Digest could not be parsed",
    ),
    "another hash": (
        MESSAGE_HEADERS | {"content-digest": "md5=:AAAA:"},
        Fault.DIGEST,
        "Only SHA-256 and SHA-512 are supported in Content-Digest header",
    ),
    "another digest": (
        MESSAGE_HEADERS | {"content-digest": "sha-256=:AAAA:"},
        Fault.DIGEST,
        "Invalid Content-Digest value. Computed SHA-256 digest: iZDpgAFjykL8bygj68wKIPxOFRvFjPgXF84nDpT+zUk=; given: AAAA",
    ),
    "one right and one wrong digest": (
        MESSAGE_HEADERS | {"content-digest": MESSAGE_HEADERS["content-digest"] + ", sha-512=:AAAA:"},
        Fault.DIGEST,
        "Invalid Content-Digest value. Computed SHA-512 digest: ",
    ),
    "another host": (
        message_header('"@method" "@target-uri" "content-digest" "host"', host="c.example"),
        Fault.HOST,
        "The request was signed for another host: c.example",
    ),
    "somebody else's signature": (message_header(), Fault.WRONG, f"Verification failed for {KEY_ID}"),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_is_refused(name: str) -> None:
    headers, fault, words = MESSAGES[name]

    problem = refused(received(headers))

    assert problem.fault is fault
    assert problem.message.startswith(words)


# The clock


def signed_at(created: int, expires: int | None, *, covers_expires: bool, scheme: str) -> ReceivedRequest:
    """What KEY signs, with times of one's own."""
    if scheme == "rfc9421":
        end = "" if expires is None else f";expires={expires}"
        parameters = f'("@method" "@target-uri");created={created}{end};keyid="{KEY_ID}"'
        base = f'"@method": GET\n"@target-uri": https://b.example/x\n"@signature-params": {parameters}'
        headers = {"signature-input": f"sig1={parameters}", "signature": f"sig1=:{_signed(base)}:"}
        return received(headers, "GET", "/x", b"")
    lines = ["(request-target): get /x", f"(created): {created}", "host: b.example"]
    lines += [f"(expires): {expires}"] if covers_expires else []
    covered = " ".join(line.partition(": ")[0] for line in lines)
    end = "" if expires is None else f",expires={expires}"
    text = f'keyId="{KEY_ID}",created={created}{end},headers="{covered}",signature="{_signed(chr(10).join(lines))}"'
    return received({"host": "b.example", "signature": text}, "GET", "/x", b"")


def _signed(base: str) -> str:
    return base64.b64encode(KEY.sign(base.encode(), PKCS1v15(), SHA256())).decode()


HOUR = 3600


@pytest.mark.parametrize("scheme", ["cavage", "rfc9421"])
@pytest.mark.parametrize(
    ("created", "expires", "is_taken"),
    [
        (0, None, True),
        (HOUR, None, True),
        (HOUR + 1, None, False),
        (-HOUR - 300, None, True),
        (-HOUR - 301, None, False),
        (-2 * HOUR, -HOUR, True),
        (-2 * HOUR, -HOUR - 1, False),
        (-13 * HOUR, HOUR, True),
        (-13 * HOUR - 1, HOUR, False),
        (HOUR + 1, 2 * HOUR, False),
    ],
)
def test_a_signature_counts_for_its_time(created: int, expires: int | None, is_taken: bool, scheme: str) -> None:
    end = None if expires is None else NOW + expires
    request = signed_at(NOW + created, end, covers_expires=expires is not None, scheme=scheme)

    if is_taken:
        assert is_valid(read_claim(request, AT), KEY.public_key())
    else:
        problem = refused(request)
        assert (problem.fault, problem.message) == (
            Fault.WINDOW,
            "Signed request date outside acceptable time window",
        )


def test_an_end_that_is_not_signed_makes_nothing_last_longer() -> None:
    request = signed_at(NOW - 2 * HOUR, NOW + HOUR, covers_expires=False, scheme="cavage")

    assert refused(request).fault is Fault.WINDOW


def test_an_end_that_is_not_signed_counts_when_it_comes_earlier() -> None:
    request = signed_at(NOW - HOUR - 200, NOW - HOUR - 100, covers_expires=False, scheme="cavage")

    assert refused(request).fault is Fault.WINDOW


@pytest.mark.parametrize(
    ("at", "is_taken"),
    [
        (AT - timedelta(hours=1), True),
        (AT - timedelta(hours=1, seconds=1), False),
        (AT + timedelta(hours=1, minutes=5), True),
        (AT + timedelta(hours=1, minutes=5, seconds=1), False),
    ],
)
def test_a_date_counts_as_long(at: datetime, is_taken: bool) -> None:
    request = received(GET_HEADERS, "GET", "/users/bob/outbox?page=true", b"")

    if is_taken:
        verify(read_claim(request, at), vectors.public_key())
    else:
        assert refused(request, at).fault is Fault.WINDOW


# Tampering

TAMPERED_POST: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "method": ({}, {"method": "PUT"}),
    "path": ({}, {"target": "/users/eve/inbox"}),
    "query": ({}, {"target": "/users/bob/inbox/?a=b"}),
    "body": ({}, {"body": b"{}"}),
    "host": ({"host": "c.example"}, {}),
    "another host of ours": ({"host": "c.example"}, {"origins": ("https://c.example",)}),
    "date": ({"date": "Tue, 05 Mar 2024 10:00:01 GMT"}, {}),
    "type": ({"content-type": "application/ld+json"}, {}),
    "digest and body": ({"digest": f"SHA-256={EMPTY}"}, {"body": b""}),
    "a second date": ({"Date": "Tue, 05 Mar 2024 10:00:00 GMT"}, {}),
    "order": ({"signature": POST_HEADERS["signature"].replace("host date", "date host")}, {}),
    "less": ({"signature": POST_HEADERS["signature"].replace(" content-type", "")}, {}),
    "signature": ({"signature": POST_HEADERS["signature"].replace("H1UY", "H1UZ")}, {}),
    "a shorter signature": ({"signature": POST_HEADERS["signature"].replace("H1UY", "")}, {}),
}


@pytest.mark.parametrize("what", TAMPERED_POST)
def test_whatever_is_signed_cannot_be_changed(what: str) -> None:
    headers, options = TAMPERED_POST[what]

    refused(received(POST_HEADERS | headers, **options))


TAMPERED_MESSAGE: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "method": ({}, {"method": "PUT"}),
    "path": ({}, {"target": "/users/eve/inbox"}),
    "query": ({}, {"target": "/users/bob/inbox?a=b"}),
    "body": ({}, {"body": b"{}"}),
    "scheme": ({}, {"origins": ("http://b.example",)}),
    "server": ({}, {"origins": ("https://c.example",)}),
    "digest and body": ({"content-digest": f"sha-256=:{EMPTY}:"}, {"body": b""}),
    "time": ({"signature-input": MESSAGE_HEADERS["signature-input"].replace("800", "801")}, {}),
    "key": ({"signature-input": MESSAGE_HEADERS["signature-input"].replace("alice", "eve")}, {}),
    "an end": ({"signature-input": MESSAGE_HEADERS["signature-input"] + ";expires=1709632900"}, {}),
    "an algorithm": ({"signature-input": MESSAGE_HEADERS["signature-input"] + ';alg="rsa-v1_5-sha256"'}, {}),
    "order": (
        {
            "signature-input": MESSAGE_HEADERS["signature-input"].replace(
                '"@method" "@target-uri"', '"@target-uri" "@method"'
            )
        },
        {},
    ),
    "signature": ({"signature": MESSAGE_HEADERS["signature"].replace("iod2", "iod3")}, {}),
}


@pytest.mark.parametrize("what", TAMPERED_MESSAGE)
def test_whatever_a_message_signs_cannot_be_changed(what: str) -> None:
    headers, options = TAMPERED_MESSAGE[what]

    refused(received(MESSAGE_HEADERS | headers, **options))


def test_a_key_of_another_kind_is_no_key() -> None:
    for headers in (POST_HEADERS, MESSAGE_HEADERS):
        assert not is_valid(read_claim(received(headers), AT), ED25519.public_key())


# Names of keys


@pytest.mark.parametrize(
    ("text", "document", "host", "is_handle"),
    [
        ("https://a.example/users/ada#main-key", "https://a.example/users/ada", "a.example", False),
        ("https://A.Example/users/ada/main-key", "https://A.Example/users/ada/main-key", "a.example", False),
        ("https://a.example/u?id=1#rsa-0123456789abcdef", "https://a.example/u?id=1", "a.example", False),
        ("http://127.0.0.1:3000/users/ada#main-key", "http://127.0.0.1:3000/users/ada", "127.0.0.1:3000", False),
        ("https://[::1]:8/x#k", "https://[::1]:8/x", "[::1]:8", False),
        ("acct:ada@A.Example", "acct:ada@a.example", "a.example", True),
    ],
)
def test_names_of_keys_say_where_they_are(text: str, document: str, host: str, is_handle: bool) -> None:
    found = read_key_id(text)

    assert (found.id, found.document, found.host, found.is_handle) == (text, document, host, is_handle)


@pytest.mark.parametrize(
    "text",
    [
        "", "main-key", "ftp://a.example/x", "https://", "https:///x", "https://ada@a.example/x", "https://[::1/x",
        "https://a.example:99999/x", "https://a.example/\n", "https://a.example/ü", "https://a.example/a b", "acct:ada",
        "acct:ada@a@b", "javascript:alert(1)", "https://a.example\\@b.example/", "file:///etc/passwd", "x" * 3000,
    ],
)  # fmt: skip
def test_other_names_are_refused(text: str) -> None:
    with pytest.raises(SignatureRefused):
        read_key_id(text)


# Anything at all

NAMES = st.sampled_from(
    [b"signature", b"signature-input", b"digest", b"content-digest", b"date", b"host", b"Host", b"x", b""]
)
BITS = st.sampled_from(
    ['keyId="https://a.example/x"', 'signature="AAAA"', "created=1709632800", "expires=1", 'algorithm="hs2019"', ",",
     'headers="(request-target) (created) host digest date x"', "sig1=", '("@method" "@target-uri" "x" "@query")',
     ";created=1709632800", ';keyid="https://a.example/x"', ":AAAA:", ";", "=", "(", ")", '"', "\\", "?1", "@1", '%"a"',
     "SHA-256=", "sha-256=:AAAA:", "1.5", "999999999999999", "-1", ";alg=x", "*", "\x00", "\xff", " ", "\t", "\n"]
)  # fmt: skip
VALUES = st.one_of(
    st.binary(max_size=60), st.lists(BITS, max_size=8).map(lambda parts: "".join(parts).encode("latin-1"))
)


@settings(max_examples=400)
@given(
    st.sampled_from(["GET", "POST", "DELETE", "", "x y"]),
    st.binary(max_size=20),
    st.binary(max_size=20),
    st.lists(st.tuples(NAMES, VALUES), max_size=10),
    st.binary(max_size=20),
    st.sampled_from([(), ("https://b.example",), ("",), ("http://[::1]:80", "x")]),
)
def test_whatever_is_sent_is_refused_or_read(
    method: str,
    path: bytes,
    query: bytes,
    headers: list[tuple[bytes, bytes]],
    body: bytes,
    origins: tuple[str, ...],
) -> None:
    request = ReceivedRequest(method, path, query, headers, body, origins=origins)
    refusal, claim = _read(request)

    if refusal is not None:
        # 400 of what cannot be read, 401 of what is not believed.
        assert refusal.status in (400, 401)
        assert len(refusal.message) < 1000
    if claim is not None:
        assert is_signed(request)
        assert not is_valid(claim, KEY.public_key())


def _read(request: ReceivedRequest) -> tuple[SignatureRefused | None, SignatureClaim | None]:
    try:
        return None, read_claim(request, AT)
    except SignatureRefused as refusal:
        return refusal, None


@settings(max_examples=400)
@given(
    st.dictionaries(
        st.sampled_from(list(POST_HEADERS)), st.text(max_size=30).map(lambda one: one.encode("utf-8").decode("latin-1"))
    )
)
def test_no_header_that_is_signed_can_be_another(changed: dict[str, str]) -> None:
    request = received(POST_HEADERS | changed)

    if all(POST_HEADERS[name] == value for name, value in changed.items()):
        verify(read_claim(request, AT), vectors.public_key())
    else:
        refused(request)


TOKENS = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters='"\\'), min_size=1, max_size=20)
WORDS = st.from_regex(r"x-[a-z]{1,10}", fullmatch=True)


@settings(max_examples=60)
@given(
    scheme=st.sampled_from(list(SigningScheme)),
    path=st.text("abcxyz019/%-._~", max_size=30),
    query=st.text("abc=&%20", max_size=20),
    body=st.one_of(st.none(), st.binary(max_size=200)),
    headers=st.dictionaries(WORDS, TOKENS, max_size=5),
    fragment=st.from_regex(r"#[a-z0-9-]{1,20}|", fullmatch=True),
    at=st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1)).map(lambda at: at.replace(tzinfo=UTC)),  # noqa: DTZ001
)
def test_there_and_back(
    scheme: SigningScheme,
    path: str,
    query: str,
    body: bytes | None,
    headers: dict[str, str],
    fragment: str,
    at: datetime,
) -> None:
    key_id = f"https://b.example/users/bob{fragment}"
    target = f"/{path}?{query}" if query else f"/{path}"
    method = "GET" if body is None else "POST"
    digest = None if body is None else sha256(body)
    request = RequestToSign(method, f"https://a.example{target}", digest, headers)

    sent = sign(Signer(key_id, KEY), request, scheme, at)

    got = received(sent, method, target, body or b"", origins=("https://a.example",))
    claim = read_claim(got, at)
    assert claim.key_id.id == key_id
    verify(claim, KEY.public_key())


# Kinds of keys


def test_a_signature_of_a_kind_that_its_scheme_does_not_have_is_none() -> None:
    """They are genuine; but nobody may choose by which rules their key is used."""
    claim = read_claim(
        received(POST_HEADERS | {"signature": POST_HEADERS["signature"].replace("rsa-sha256", "hs2019")}), AT
    )
    by_ed25519 = msgspec.structs.replace(claim, signature=ED25519.sign(claim.bases[0]))

    assert not is_valid(by_ed25519, ED25519.public_key())


@pytest.mark.parametrize(("named", "key"), [("ed25519", KEY), ("rsa-v1_5-sha256", ED25519)])
def test_a_key_of_another_kind_than_the_algorithm_says_is_none(
    named: str, key: rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey
) -> None:
    claim = read_claim(received(message_header(parameters=f'created={NOW};keyid="{KEY_ID}";alg="{named}"')), AT)
    [base] = claim.bases
    signed = key.sign(base, PKCS1v15(), SHA256()) if isinstance(key, rsa.RSAPrivateKey) else key.sign(base)

    assert not is_valid(msgspec.structs.replace(claim, signature=signed), key.public_key())
