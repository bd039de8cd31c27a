"""Signatures that others made, and ours as others check them."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from http_message_signatures import HTTPMessageSigner, HTTPMessageVerifier, algorithms
from http_message_signatures.resolvers import MappingKeyResolver

from kith.federation.delivery.signing_desk import SigningDesk
from kith.federation.signatures.digests import (
    check_content_digest,
    check_digest,
    content_digest_field,
    digest_field,
    sha256,
)
from kith.federation.signatures.refusals import Fault, SignatureRefused
from kith.federation.signatures.signing import RequestToSign, Signer, SigningScheme, sign
from kith.federation.signatures.verifying import is_signed, is_valid, read_claim, verify
from tests.federation import vectors
from tests.federation.vectors import AT, BODY, GET_HEADERS, KEY_ID, MESSAGE_HEADERS, POST_HEADERS, received

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
SIGNER = Signer("https://b.example/users/bob#main-key", KEY)
INBOX = "https://a.example/users/alice/inbox"

VECTORS = {
    "cavage POST": (
        received(POST_HEADERS),
        (
            f"(request-target): post /users/bob/inbox\nhost: b.example\ndate: {vectors.DATE}\n"
            f"digest: {vectors.DIGEST}\ncontent-type: application/activity+json"
        ),
    ),
    "cavage GET": (
        received(GET_HEADERS, "GET", "/users/bob/outbox?page=true", b""),
        f"(request-target): get /users/bob/outbox?page=true\nhost: b.example\ndate: {vectors.DATE}",
    ),
    "RFC 9421": (
        received(MESSAGE_HEADERS),
        (
            '"@method": POST\n"@target-uri": https://b.example/users/bob/inbox\n'
            f'"content-digest": {vectors.CONTENT_DIGEST}\n"@signature-params": {vectors.MESSAGE_PARAMETERS}'
        ),
    ),
}


@pytest.mark.parametrize("name", VECTORS)
def test_a_signature_of_somebody_else_is_understood(name: str) -> None:
    request, base = VECTORS[name]

    claim = read_claim(request, AT)

    assert is_signed(request)
    assert claim.key_id.id == KEY_ID
    assert claim.key_id.document == "https://a.example/users/alice"
    assert claim.bases[0].decode() == base
    assert claim.created == 1709632800
    verify(claim, vectors.public_key())


def test_digests_are_written_as_others_write_them() -> None:
    assert len(BODY) == 201
    assert digest_field(sha256(BODY)) == vectors.DIGEST
    assert content_digest_field(sha256(BODY)) == vectors.CONTENT_DIGEST


def test_we_sign_what_the_vectors_sign() -> None:
    """PKCS#1 v1.5 always gives the same signature, so what we sign is known by signing it once more."""
    headers = {"content-type": "application/activity+json"}
    request = RequestToSign("POST", "https://b.example/users/bob/inbox", sha256(BODY), headers)
    signer = Signer(KEY_ID, KEY)
    [_, base], [_, message] = VECTORS["cavage POST"], VECTORS["RFC 9421"]

    cavage = sign(signer, request, SigningScheme.CAVAGE, AT)
    rfc9421 = sign(signer, request, SigningScheme.RFC9421, AT)

    assert cavage == POST_HEADERS | {
        "signature": POST_HEADERS["signature"].replace(vectors.POST_SIGNATURE, _signed(base))
    }
    assert {name: rfc9421[name] for name in MESSAGE_HEADERS} == MESSAGE_HEADERS | {
        "signature": f"sig1=:{_signed(message)}:"
    }


def _signed(base: str) -> str:
    return base64.b64encode(KEY.sign(base.encode(), PKCS1v15(), SHA256())).decode()


@pytest.mark.parametrize("scheme", list(SigningScheme))
@pytest.mark.parametrize("target", ["/users/alice/inbox", "/users/alice/outbox?page=true&min_id=1"])
@pytest.mark.parametrize("body", [None, BODY])
def test_what_we_sign_we_would_believe(scheme: SigningScheme, target: str, body: bytes | None) -> None:
    method = "GET" if body is None else "POST"
    digest = None if body is None else sha256(body)
    request = RequestToSign(method, f"https://a.example{target}", digest)

    headers = sign(SIGNER, request, scheme, AT)

    got = received(headers, method, target, body or b"", origins=("https://a.example",))
    verify(read_claim(got, AT), KEY.public_key())


@pytest.mark.parametrize("scheme", list(SigningScheme))
@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://A.example:443/inbox", "a.example"),
        ("http://127.0.0.1:3000/inbox", "127.0.0.1:3000"),
        ("https://a.example", "a.example"),
        ("http://[::1]:80/inbox", "[::1]"),
    ],
)
def test_the_host_is_named_as_it_is_asked(scheme: SigningScheme, url: str, host: str) -> None:
    headers = sign(SIGNER, RequestToSign("POST", url, sha256(b"{}")), scheme, AT)

    scheme_name = url.partition(":")[0]
    target = "/inbox" if "/inbox" in url else "/"
    got = received(headers, "POST", target, b"{}", origins=(f"{scheme_name}://{host}",))

    assert headers["host"] == host
    verify(read_claim(got, AT), KEY.public_key())


@pytest.mark.parametrize("scheme", list(SigningScheme))
def test_what_is_given_with_a_request_is_under_the_signature(scheme: SigningScheme) -> None:
    headers = {"content-type": "application/activity+json", "collection-synchronization": 'collectionId="x"'}
    sent = sign(SIGNER, RequestToSign("POST", INBOX, sha256(BODY), headers), scheme, AT)

    def check(**changed: str) -> bool:
        request = received(sent | changed, target="/users/alice/inbox", origins=("https://a.example",))
        return is_valid(read_claim(request, AT), KEY.public_key())

    assert check()
    assert not check(**{"collection-synchronization": 'collectionId="y"'})


async def test_many_are_signed_at_once() -> None:
    requests = [RequestToSign("POST", f"https://h{n}.example/inbox", sha256(BODY)) for n in range(20)]

    desk = SigningDesk()
    signed = await asyncio.gather(*(desk.sign(SIGNER, request, SigningScheme.CAVAGE) for request in requests))
    await desk.close()
    now = datetime.now(UTC)

    assert [one["host"] for one in signed] == [f"h{n}.example" for n in range(20)]
    for number, headers in enumerate(signed):
        got = received(headers, target="/inbox", origins=(f"https://h{number}.example",))
        verify(read_claim(got, now), KEY.public_key())


# Another implementation of RFC 9421

ED25519 = ed25519.Ed25519PrivateKey.generate()
OTHERS: dict[str, tuple[type[algorithms.HTTPSignatureAlgorithm], rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey]] = {
    "rsa-v1_5-sha256": (algorithms.RSA_V1_5_SHA256, KEY),
    "ed25519": (algorithms.ED25519, ED25519),
}


def _message(headers: dict[str, str], method: str = "POST") -> SimpleNamespace:
    return SimpleNamespace(method=method, url=INBOX, headers=headers, body=BODY)


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("names_algorithm", [True, False])
def test_what_another_implementation_signs_is_believed(name: str, names_algorithm: bool) -> None:
    algorithm, key = OTHERS[name]
    resolver = MappingKeyResolver(public_keys={}, private_keys={KEY_ID: key})
    message = _message({"Content-Type": "application/activity+json"})
    signer = HTTPMessageSigner(signature_algorithm=algorithm, key_resolver=resolver)
    components = (
        "@method",
        "@target-uri",
        "@authority",
        "@scheme",
        "@path",
        "@query",
        "@request-target",
        "content-type",
    )

    signer.sign(
        message,
        key_id=KEY_ID,
        created=AT,
        expires=datetime(2024, 3, 5, 11, tzinfo=UTC),
        nonce="n1",
        include_alg=names_algorithm,
        covered_component_ids=components,
        body=BODY,
    )

    got = received(message.headers, target="/users/alice/inbox", origins=("https://other.example", "https://a.example"))
    claim = read_claim(got, AT)
    verify(claim, key.public_key())
    other = ED25519 if key is KEY else KEY
    assert not is_valid(claim, other.public_key())


def test_another_implementation_believes_what_we_sign() -> None:
    now = datetime.now(UTC)
    headers = sign(SIGNER, RequestToSign("POST", INBOX, sha256(BODY)), SigningScheme.RFC9421, now)
    resolver = MappingKeyResolver(public_keys={SIGNER.key_id: KEY.public_key()}, private_keys={})
    verifier = HTTPMessageVerifier(signature_algorithm=algorithms.RSA_V1_5_SHA256, key_resolver=resolver)

    [result] = verifier.verify(
        _message(headers), require_components=("@method", "@target-uri", "content-digest"), body=BODY
    )

    assert result.parameters["keyid"] == SIGNER.key_id


# Words that several implementations differ in


def test_a_target_may_be_signed_without_its_query() -> None:
    headers = sign(SIGNER, RequestToSign("GET", "https://a.example/users/alice/outbox"), SigningScheme.CAVAGE, AT)
    got = received(headers, "GET", "/users/alice/outbox?page=true", b"", origins=("https://a.example",))

    verify(read_claim(got, AT), KEY.public_key())


def test_hs2019_with_created_and_expires_is_rsa() -> None:
    created = 1709632800
    body_digest = base64.b64encode(hashlib.sha256(BODY).digest()).decode()
    base = (
        f"(request-target): post /users/bob/inbox\n(created): {created}\n(expires): {created + 30000}\n"
        f"host: b.example\ndigest: sha-256={body_digest}"
    )
    headers = {
        "host": "b.example",
        "digest": f"sha-256={body_digest}",
        "signature": (
            f'keyId="https://gts.example/users/zork/main-key",algorithm="hs2019",created={created},'
            f'expires={created + 30000},headers="(request-target) (created) (expires) host digest",'
            f'signature="{_signed(base)}"'
        ),
    }

    claim = read_claim(received(headers), datetime.fromtimestamp(created + 33000, UTC))

    assert claim.key_id.document == "https://gts.example/users/zork/main-key"
    verify(claim, KEY.public_key())


def test_a_wrong_key_is_told_apart() -> None:
    with pytest.raises(SignatureRefused) as refused:
        verify(read_claim(received(POST_HEADERS), AT), KEY.public_key())

    assert refused.value.fault is Fault.WRONG
    assert refused.value.status == 401
    assert refused.value.message == f"Verification failed for {KEY_ID}"


FORMS: dict[str, dict[str, str]] = {
    "spaces": POST_HEADERS
    | {"signature": POST_HEADERS["signature"].replace(",a", " ,\t a").replace("keyId=", " keyId = ")},
    "a comma at the end": POST_HEADERS | {"signature": POST_HEADERS["signature"] + ","},
    "something unknown": POST_HEADERS | {"signature": POST_HEADERS["signature"] + ',version="2",opaque=7'},
    "names in capitals": POST_HEADERS | {"signature": POST_HEADERS["signature"].replace(" host date ", " Host DATE ")},
    "hs2019": POST_HEADERS | {"signature": POST_HEADERS["signature"].replace("rsa-sha256", "hs2019")},
    "no algorithm": POST_HEADERS | {"signature": POST_HEADERS["signature"].replace('algorithm="rsa-sha256",', "")},
    "an early end that is not signed": POST_HEADERS | {"signature": POST_HEADERS["signature"] + ",expires=1709632801"},
    "another header": POST_HEADERS | {"x-unsigned": "anything"},
    "spaces around a value": POST_HEADERS | {"date": f" {vectors.DATE}\t"},
    "RFC 9421 with another label": MESSAGE_HEADERS
    | {name: MESSAGE_HEADERS[name].replace("sig1=", "sig-b26=") for name in ("signature", "signature-input")},
    "RFC 9421 with spaces": MESSAGE_HEADERS
    | {"signature-input": MESSAGE_HEADERS["signature-input"].replace('("@method" ', '( "@method"  ')},
}


@pytest.mark.parametrize("name", FORMS)
def test_the_same_may_be_written_in_other_ways(name: str) -> None:
    verify(read_claim(received(FORMS[name]), AT), vectors.public_key())


@pytest.mark.parametrize(
    ("field", "body"),
    [
        (f"sha-256={base64.b64encode(hashlib.sha256(b'x').digest()).decode()}", b"x"),
        (f"MD5=abc, {digest_field(sha256(b'x'))}", b"x"),
        (digest_field(sha256(b"")), b""),
    ],
)
def test_digests_may_name_other_hashes_too(field: str, body: bytes) -> None:
    check_digest(field.encode(), body)


def test_content_digests_may_name_either_hash_or_both() -> None:
    long = f"sha-512=:{base64.b64encode(hashlib.sha512(b'x').digest()).decode()}:"
    for field in (long, f"{long}, {content_digest_field(sha256(b'x'))}", f"md5=:AAAA:, {long}"):
        check_content_digest(field.encode(), b"x")


@pytest.mark.parametrize("host", ["b.example", "B.EXAMPLE", "b.example:443"])
def test_a_host_is_ours_however_it_is_written(host: str) -> None:
    received({"host": host}).check_host()


@pytest.mark.parametrize(
    "host", ["b.example:80", "b.example:8443", "b.example.evil.example", "xb.example", "", "b.exampl"]
)
def test_another_host_is_not(host: str) -> None:
    with pytest.raises(SignatureRefused) as caught:
        received({"host": host}).check_host()

    assert caught.value.fault is Fault.HOST
