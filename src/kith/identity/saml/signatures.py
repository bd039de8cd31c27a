"""XML signatures: made with a key pair, and checked with one certificate that we know.

What a message says of its own keys is never used. Whoever checks a signature gets the signed element back, parsed from
the very bytes that were signed, and must read nothing else.
"""

from __future__ import annotations

import base64
from datetime import timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import dsa
from lxml.etree import LxmlError
from signxml.algorithms import CanonicalizationMethod, DigestAlgorithm, SignatureMethod
from signxml.exceptions import SignXMLException
from signxml.signer import XMLSigner
from signxml.verifier import SignatureConfiguration, XMLVerifier

from kith.identity.crypto.certificates import read_kept_key
from kith.identity.saml import xml
from kith.identity.saml.errors import BadSignature
from kith.identity.saml.names import DIGESTS, ENVELOPED, EXCLUSIVE_C14N, KEY_TYPES, SIGNATURES
from kith.identity.saml.xml import Element

_PLACEHOLDER = "placeholder"
_TRANSFORMS = {ENVELOPED, EXCLUSIVE_C14N}
WRONG = "The signature is wrong."


class _Signer(XMLSigner):
    def check_deprecated_methods(self) -> None:
        """SHA-1 is allowed where an administrator has chosen it."""


def sign(element: Element, *, key: str, certificate: str, signature: str, digest: str) -> Element:
    """The element with a signature after its issuer. `signature` and `digest` are the API's short names."""
    issuer = element.find(xml.tag("saml:Issuer"))
    placeholder = xml.new("ds:Signature", {"Id": _PLACEHOLDER})
    element.insert(0 if issuer is None else element.index(issuer) + 1, placeholder)
    signer = _Signer(
        signature_algorithm=SIGNATURES[signature],
        digest_algorithm=DIGESTS[digest],
        c14n_algorithm=CanonicalizationMethod.EXCLUSIVE_XML_CANONICALIZATION_1_0,
    )
    private_key: Any = read_kept_key(key)
    signed: Element = signer.sign(element, key=private_key, cert=certificate, reference_uri=f"#{element.get('ID')}")
    if isinstance(private_key, dsa.DSAPrivateKey):
        _shorten(signed, private_key)
    return signed


def _shorten(signed: Element, key: dsa.DSAPrivateKey) -> None:
    """Both numbers of a DSA signature are as long as the key's `q`; the library writes them longer."""
    value = signed.find(f"{xml.tag('ds:Signature')}/{xml.tag('ds:SignatureValue')}")
    length = (key.parameters().parameter_numbers().q.bit_length() + 7) // 8
    if value is not None and value.text:
        raw = base64.b64decode(value.text)
        half = len(raw) // 2
        numbers = (int.from_bytes(raw[:half], "big"), int.from_bytes(raw[half:], "big"))
        value.text = base64.b64encode(b"".join(one.to_bytes(length, "big") for one in numbers)).decode()


def is_signed(element: Element) -> bool:
    return bool(xml.children(element, "ds:Signature"))


def verify(element: Element, *, certificate: str, allow_sha1: bool = False) -> Element:
    """The signed element, read from the bytes that were signed. It is the element itself, and no other."""
    found = xml.children(element, "ds:Signature")
    if not found:
        raise BadSignature("The message is not signed.")
    if len(found) > 1:
        raise BadSignature("The message has more than one signature.")
    _check_structure(found[0], element.get("ID"))
    alone = xml.copy_of(element)  # nothing around it can be meant by a reference
    try:
        pinned = x509.load_pem_x509_certificate(certificate.encode())
        result: Any = XMLVerifier().verify(
            alone, x509_cert=pinned, parser=xml.parser(), expect_config=_configuration(pinned, allow_sha1=allow_sha1)
        )
    except (SignXMLException, ValueError, TypeError, AssertionError, LxmlError) as error:
        raise BadSignature(WRONG) from error
    signed: Element | None = result.signed_xml
    if signed is None or signed.tag != element.tag or signed.get("ID") != element.get("ID"):
        raise BadSignature(WRONG)
    return signed


def _configuration(certificate: x509.Certificate, *, allow_sha1: bool) -> SignatureConfiguration:
    names = [name for name in SIGNATURES if allow_sha1 or not name.endswith("sha1")]
    digests = [name for name in DIGESTS if allow_sha1 or name != "sha1"]
    return SignatureConfiguration(
        location="./",
        expect_references=1,
        signature_methods=frozenset(SignatureMethod(SIGNATURES[name]) for name in names),
        digest_algorithms=frozenset(DigestAlgorithm(DIGESTS[name]) for name in digests),
        ignore_ambiguous_key_info=True,
        # The administrator chose this certificate; it counts for as long as it is chosen.
        verification_time=certificate.not_valid_before_utc + timedelta(seconds=1),
    )


def _check_structure(signature: Element, id: str | None) -> None:
    """One reference, to the element that holds the signature, with the two transforms that SAML allows."""
    info = xml.only(signature, "ds:SignedInfo")
    if xml.children(signature, "ds:Object"):
        raise BadSignature("The signature holds other elements.")
    if xml.only(info, "ds:CanonicalizationMethod").get("Algorithm") != EXCLUSIVE_C14N:
        raise BadSignature("The signature's canonicalization is not allowed.")
    reference = xml.only(info, "ds:Reference")
    if not id or reference.get("URI") != f"#{id}":
        raise BadSignature("The signature does not refer to the element that it is in.")
    transforms = [one.get("Algorithm") for one in xml.children(xml.only(reference, "ds:Transforms"), "ds:Transform")]
    if not set(transforms) <= _TRANSFORMS or ENVELOPED not in transforms or len(transforms) > len(_TRANSFORMS):
        raise BadSignature("The signature's transforms are not allowed.")


def key_type(algorithm: str) -> str:
    return KEY_TYPES[algorithm]
