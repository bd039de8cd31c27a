"""Keys that others publish: read where they are sound, refused where they are not."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from kith.federation.keys.remote_keys import LONGEST_PEM, read_multikey, read_pem, write_pem
from kith.federation.signatures.refusals import Fault, SignatureRefused
from kith.federation.vocabulary.incoming import DocumentRefused
from kith.federation.vocabulary.incoming.keys import read_key, read_keys
from tests import dear_keys
from tests.federation.vectors import PEM, public_key

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
ADA = "https://a.example/users/ada"
SPKI = PublicFormat.SubjectPublicKeyInfo
ED25519 = ed25519.Ed25519PrivateKey.generate().public_key()
# The example of FEP-521a.
EXAMPLE = "z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2"


def pem(key: Any) -> str:
    text: bytes = key.public_bytes(Encoding.PEM, SPKI)
    return text.decode()


def rsa_of(bits: int, exponent: int = 65537) -> rsa.RSAPublicKey:
    """A public key of that size; nobody has the private one."""
    return rsa.RSAPublicNumbers(exponent, (1 << (bits - 1)) + 12345).public_key()


def base58(raw: bytes) -> str:
    number, text = int.from_bytes(raw, "big"), ""
    while number:
        number, rest = divmod(number, 58)
        text = BASE58[rest] + text
    return "z" + "1" * (len(raw) - len(raw.lstrip(b"\0"))) + text


def multikey(key: rsa.RSAPublicKey | ed25519.Ed25519PublicKey) -> str:
    if isinstance(key, rsa.RSAPublicKey):
        return base58(b"\x85\x24" + key.public_bytes(Encoding.DER, PublicFormat.PKCS1))
    return base58(b"\xed\x01" + key.public_bytes(Encoding.Raw, PublicFormat.Raw))


def test_keys_are_read_from_pem_and_multikey() -> None:
    assert read_pem(PEM) == public_key()
    assert read_pem(PEM.replace("\n", "\r\n")) == public_key()
    assert read_pem(pem(ED25519)) == ED25519
    assert read_multikey(multikey(public_key())) == public_key()
    assert read_multikey(multikey(ED25519)) == ED25519
    assert isinstance(read_multikey(EXAMPLE), ed25519.Ed25519PublicKey)
    assert multikey(read_multikey(EXAMPLE)) == EXAMPLE
    assert write_pem(read_multikey(multikey(public_key()))) == PEM


@pytest.mark.parametrize("bits", [2048, 3072, 4096, 8192])
def test_long_keys_are_read_up_to_a_limit(bits: int) -> None:
    key = rsa_of(bits)

    assert read_pem(pem(key)) == key
    assert read_multikey(multikey(key)) == key


DEAR = {"PEM": dear_keys.public_pem(), "Multikey": base58(b"\x85\x24" + dear_keys.public_key())}


@pytest.mark.parametrize("form", DEAR)
def test_what_is_dear_to_read_is_not_read(form: str) -> None:
    begun = time.process_time()
    with pytest.raises(SignatureRefused):
        (read_pem if form == "PEM" else read_multikey)(DEAR[form])

    assert time.process_time() - begun < 0.5  # several seconds, if the library looks at it


REFUSED: dict[str, Any] = {
    "nothing": None,
    "a number": 7,
    "no text": "",
    "no key": "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
    "not ASCII": PEM.replace("MIIB", "MIÎB"),
    "a surrogate": "-----BEGIN PUBLIC KEY-----\n\ud800",
    "a short key": pem(rsa_of(1024)),
    "nearly long enough": pem(rsa_of(2047)),
    "too long a key": pem(rsa_of(8193)),
    "a long exponent": pem(rsa_of(2048, (1 << 40) + 1)),
    "an elliptic curve": pem(ec.generate_private_key(ec.SECP256R1()).public_key()),
    "DSA": pem(dsa.generate_private_key(1024).public_key()),
    "too long a text": PEM + " " * LONGEST_PEM,
    "a certificate": PEM.replace("PUBLIC KEY", "CERTIFICATE"),
    "a private key": PEM.replace("PUBLIC KEY", "PRIVATE KEY"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_sound_pem_is_refused(name: str) -> None:
    with pytest.raises(SignatureRefused) as caught:
        read_pem(REFUSED[name])

    assert caught.value.fault is Fault.KEY
    assert caught.value.status == 401


@pytest.mark.parametrize(
    "text",
    [
        None, 7, "", "z", "z0OIl", "m" + EXAMPLE[1:], EXAMPLE[:-3], EXAMPLE + "1", base58(b"\xec\x01" + bytes(32)),
        base58(b"\xed\x01" + bytes(31)), base58(b"\x85\x24" + b"x"), multikey(rsa_of(1024)), "z" + "1" * 2000,
        multikey(rsa_of(2048, (1 << 40) + 1)), multikey(rsa_of(8200)),
    ],
)  # fmt: skip
def test_what_is_no_sound_multikey_is_refused(text: Any) -> None:
    with pytest.raises(SignatureRefused) as caught:
        read_multikey(text)

    assert caught.value.fault is Fault.KEY


def _main(**changed: Any) -> dict[str, Any]:
    return {"id": f"{ADA}#main-key", "owner": ADA, "publicKeyPem": PEM} | changed


def _method(**changed: Any) -> dict[str, Any]:
    return {"id": f"{ADA}#ed", "type": "Multikey", "controller": ADA, "publicKeyMultibase": EXAMPLE} | changed


@pytest.mark.parametrize(
    ("actor", "ids"),
    [
        ({"publicKey": _main()}, ["#main-key"]),
        ({"publicKey": [_main(), _main(id=f"{ADA}#second")]}, ["#main-key", "#second"]),
        ({"publicKey": _main(), "assertionMethod": [_method()]}, ["#main-key", "#ed"]),
        ({"assertionMethod": _method()}, ["#ed"]),
        ({"publicKey": [_main(publicKeyPem="x"), _main(id=f"{ADA}#second")]}, ["#second"]),
        ({"publicKey": [_main(), _main()]}, ["#main-key"]),
        ({"publicKey": [_main(id=f"{ADA}#{number}") for number in range(20)]}, [f"#{number}" for number in range(10)]),
        ({"publicKey": _main(owner="https://evil.example/users/eve")}, []),
        ({"publicKey": f"{ADA}#main-key"}, []),
        ({"publicKey": _main(id="https://a.example/users/bob#main-key")}, []),
        ({"publicKey": _main(id=f"{ADA}/main-key")}, ["/main-key"]),
        ({"publicKey": _main(id="https://b.example/keys/1")}, []),
        ({"publicKey": _main(id=7)}, []),
        ({"publicKey": _main(id="x" * 3000)}, []),
        ({"publicKey": _main(owner=None)}, []),
        ({"publicKey": [[_main()]]}, []),
        ({}, []),
    ],
)
def test_an_actors_keys_are_those_that_name_it(actor: dict[str, Any], ids: list[str]) -> None:
    assert [one.id.removeprefix(ADA) for one in read_keys(actor, ADA).keys] == ids


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30) | st.sampled_from([ADA, PEM, EXAMPLE, "Multikey"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "owner", "controller", "type", "publicKeyPem", "publicKeyMultibase"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=8,
)


@given(JSON)
def test_whatever_a_document_says_is_read_or_refused(document: Any) -> None:
    read_keys({"publicKey": document, "assertionMethod": document}, ADA)
    with suppress(DocumentRefused):
        read_key(document if isinstance(document, dict) else {}, ADA)


@given(
    st.one_of(st.text(max_size=60), st.binary(max_size=60).map(base58), st.text(BASE58, max_size=60).map("z".__add__))
)
def test_whatever_a_text_says_is_a_key_or_none(text: str) -> None:
    for read in (read_pem, read_multikey):
        try:
            read(text)
        except SignatureRefused as refusal:
            if refusal.fault is not Fault.KEY:
                raise
