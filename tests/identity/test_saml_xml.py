"""The XML layer of SAML: what is refused, and that only what was signed is ever read."""

from __future__ import annotations

import base64
import copy
import time
import zlib
from datetime import UTC, datetime
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509 import load_pem_x509_certificate
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from kith.identity.crypto.certificates import generate
from kith.identity.saml import bindings, encryption, octet_signatures, signatures, xml
from kith.identity.saml.authn_requests import read_authn_request
from kith.identity.saml.errors import BadSignature, SAMLError
from kith.identity.saml.instants import read_instant, write_instant
from kith.identity.saml.limits import MOST_BYTES
from kith.identity.saml.logout_messages import read_logout_request
from kith.identity.saml.names import PREFIXES, name_format
from tests.identity.saml_keys import pair

OURS, THEIRS = pair("ours"), pair("theirs")
DS = PREFIXES["ds"]


def assertion(name: str = "ada", id: str = "_a1") -> Any:
    root = xml.new("saml:Assertion", {"ID": id, "Version": "2.0"})
    xml.add(root, "saml:Issuer", text="https://idp.example/")
    xml.add(xml.add(root, "saml:Subject"), "saml:NameID", text=name)
    return root


def signed(name: str = "ada", id: str = "_a1", **more: str) -> Any:
    options = {"signature": "rsa-sha256", "digest": "sha256", "key": OURS.key, "certificate": OURS.certificate} | more
    return signatures.sign(assertion(name, id), **options)


def name_in(root: Any) -> str:
    return xml.text_of(xml.only(xml.only(root, "saml:Subject"), "saml:NameID"))


def again(element: Any) -> Any:
    return xml.parse(xml.to_bytes(element))


# Parsing


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"<a",
        b"<a></b>",
        b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
        b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        b'<!DOCTYPE a [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><a>&b;</a>',
        b"<a>&undefined;</a>",
        b"<?xml-stylesheet href='http://x/'?><a/>",
        b"<a><?php echo 1 ?></a>",
        b'<?xml version="1.0" encoding="UTF-16"?><a/>',
        "<!DOCTYPE a><a/>".encode("utf-16"),
        "<!DOCTYPE a><a/>".encode("utf-7"),
        b'<a ID="1"><b ID="1"/></a>',
        b'<a ID="1"><b Id="1"/></a>',
        b'<a xml:id="1"><b id="1"/></a>',
        b"<a>" * 50 + b"</a>" * 50,
        b"<r>" + b"<a/>" * 6000 + b"</r>",
        b"<r " + b" ".join(b"a%d='1'" % n for n in range(100)) + b"/>",
        b"<r>" + b"".join(b"<n%d:a xmlns:n%d='u:%d'/>" % (n, n, n) for n in range(200)) + b"</r>",
        b"<a>" + b"x" * MOST_BYTES + b"</a>",
        b"<a>\0</a>",
    ],
)
def test_what_is_no_plain_small_document_is_refused(document: bytes) -> None:
    with pytest.raises(SAMLError):
        xml.parse(document)


def test_xinclude_is_only_an_element_without_a_meaning() -> None:
    root = xml.parse(b'<a xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="/etc/passwd" parse="text"/></a>')
    assert b"root:" not in xml.to_bytes(root)


def test_a_comment_does_not_cut_a_name_in_two() -> None:
    root = xml.parse(b"<a>admin@x<!-- -->.evil</a>")
    assert xml.text_of(root) == "admin@x.evil"
    with pytest.raises(SAMLError):
        xml.text_of(xml.parse(b"<a>admin<b/>@x</a>"))


@settings(max_examples=100)
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for read in (xml.parse, lambda raw: bindings.inflate(base64.b64encode(raw).decode())):
        try:
            read(data)
        except SAMLError as error:
            assert error.words  # noqa: PT017


@settings(max_examples=100)
@given(st.text())
def test_any_text_survives_being_written(text: str) -> None:
    root = assertion(text)
    assert name_in(again(root)) == xml.writable(text).replace("\r\n", "\n").replace("\r", "\n").strip() or "\r" in text
    assert len(xml.children(again(root), "saml:Subject")) == 1


# Signatures


@pytest.mark.parametrize(
    ("kind", "signature", "digest"),
    [
        ("rsa", "rsa-sha256", "sha256"),
        ("rsa", "rsa-sha512", "sha512"),
        ("ec", "ecdsa-sha256", "sha256"),
        ("dsa", "dsa-sha1", "sha1"),
        ("rsa", "rsa-sha1", "sha1"),
    ],
)
def test_what_is_signed_is_read_back(kind: str, signature: str, digest: str) -> None:
    own = pair(f"own-{kind}", kind)
    made = again(signed(signature=signature, digest=digest, key=own.key, certificate=own.certificate))
    weak = "sha1" in signature
    assert name_in(signatures.verify(made, certificate=own.certificate, allow_sha1=weak)) == "ada"
    if weak:
        with pytest.raises(BadSignature):
            signatures.verify(made, certificate=own.certificate)
    with pytest.raises(BadSignature):
        signatures.verify(made, certificate=THEIRS.certificate, allow_sha1=weak)


def test_a_key_of_ours_is_examined_when_it_is_kept_and_not_each_time() -> None:
    certificate, key = generate("long.example", [], 30, "rsa", datetime.now(UTC))
    sealed = again(encryption.encrypt(signed(), certificate))
    octet_signatures.sign(b"words", OURS.key, "rsa-sha256")
    begun = time.process_time()
    load_pem_private_key(key.encode(), None)
    examined = time.process_time() - begun
    for use in (
        lambda: signed(key=key, certificate=certificate),
        lambda: octet_signatures.sign(b"words", key, "rsa-sha256"),
        lambda: encryption.decrypt(sealed, key),
    ):
        begun = time.process_time()
        use()
        assert time.process_time() - begun < examined / 2


def test_what_follows_a_signed_part_is_no_part_of_it() -> None:
    made = response(signed())
    made[0].tail = "words that nobody has signed"
    found = xml.children(again(made), "saml:Assertion")[0]

    assert name_in(signatures.verify(found, certificate=OURS.certificate)) == "ada"


def response(*inside: Any) -> Any:
    root = xml.new("samlp:Response", {"ID": "_r1", "Version": "2.0"})
    for one in inside:
        root.append(one)
    return root


def wrapped(kind: int) -> Any:
    """Signature wrapping, by the numbers that the literature gives the variants."""
    good, evil = signed(), assertion("admin", "_evil")
    signature = good.find(f"{{{DS}}}Signature")
    inner = copy.deepcopy(good)
    inner.remove(inner.find(f"{{{DS}}}Signature"))
    moved = copy.deepcopy(signature)
    match kind:
        case 1 | 2:  # the whole message is copied; the signature stands in or beside the forged one
            evil.insert(1, moved)
            if kind == 1:
                moved.append(inner)
            return response(evil, *([inner] if kind == 2 else []))
        case 3:  # a forged assertion before the signed one
            return response(evil, good)
        case 4:  # the signed assertion inside the forged one
            evil.append(good)
            return response(evil)
        case 5:  # the forged assertion has the signature, the signed content follows
            evil.insert(1, moved)
            return response(evil, inner)
        case 6:  # the signed content inside the signature
            moved.append(inner)
            evil.insert(1, moved)
            return response(evil)
        case 7:  # inside extensions
            extensions = xml.add(evil, "samlp:Extensions")
            extensions.append(good)
            return response(evil)
    holder = etree.SubElement(moved, f"{{{DS}}}Object")  # 8: the signed content inside an object of the signature
    holder.append(inner)
    evil.insert(1, moved)
    return response(evil)


@pytest.mark.parametrize("kind", range(1, 9))
def test_wrapping_never_gives_the_forged_name(kind: int) -> None:
    try:
        root = again(wrapped(kind))
        found = xml.children(root, "saml:Assertion")[0]
        told = signatures.verify(found, certificate=OURS.certificate)
    except SAMLError:
        return
    assert name_in(told) == "ada"


def changed(kind: str) -> Any:  # noqa: C901, PLR0912 - a table of cases
    made = signed()
    signature = made.find(f"{{{DS}}}Signature")
    info = signature.find(f"{{{DS}}}SignedInfo")
    reference = info.find(f"{{{DS}}}Reference")
    match kind:
        case "name":
            made.find(f".//{xml.tag('saml:NameID')}").text = "admin"
        case "attribute":
            made.set("Version", "2.1")
        case "stripped":
            made.remove(signature)
        case "empty reference":
            reference.set("URI", "")
        case "no reference":
            del reference.attrib["URI"]
        case "other reference":
            reference.set("URI", "#_other")
        case "file reference":
            reference.set("URI", "file:///etc/passwd")
        case "two references":
            info.append(copy.deepcopy(reference))
        case "two signatures":
            made.append(copy.deepcopy(signature))
        case "xslt":
            transforms = reference.find(f"{{{DS}}}Transforms")
            etree.SubElement(transforms, f"{{{DS}}}Transform").set(
                "Algorithm", "http://www.w3.org/TR/1999/REC-xslt-19991116"
            )
        case "xpath":
            transforms = reference.find(f"{{{DS}}}Transforms")
            transforms[0].set("Algorithm", "http://www.w3.org/TR/1999/REC-xpath-19991116")
        case "c14n":
            info.find(f"{{{DS}}}CanonicalizationMethod").set(
                "Algorithm", "http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments"
            )
        case "hmac":
            info.find(f"{{{DS}}}SignatureMethod").set("Algorithm", "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256")
        case "md5":
            info.find(f"{{{DS}}}SignatureMethod").set("Algorithm", "http://www.w3.org/2001/04/xmldsig-more#rsa-md5")
        case "object":
            etree.SubElement(signature, f"{{{DS}}}Object")
        case "foreign key":
            made = signed(key=THEIRS.key, certificate=THEIRS.certificate)
        case "value":
            signature.find(f"{{{DS}}}SignatureValue").text = base64.b64encode(b"x" * 256).decode()
    return made


@pytest.mark.parametrize(
    "kind",
    [
        "name", "attribute", "stripped", "empty reference", "no reference", "other reference", "file reference",
        "two references", "two signatures", "xslt", "xpath", "c14n", "hmac", "md5", "object", "foreign key", "value",
    ],
)  # fmt: skip
def test_a_changed_signature_is_refused(kind: str) -> None:
    with pytest.raises(SAMLError):
        signatures.verify(again(changed(kind)), certificate=OURS.certificate)


# Bindings


@pytest.mark.parametrize("kind", ["rsa", "ec", "dsa"])
def test_a_query_is_signed_as_it_was_sent(kind: str) -> None:
    own = pair(f"own-{kind}", kind)
    algorithm = {"rsa": "rsa-sha256", "ec": "ecdsa-sha256", "dsa": "dsa-sha1"}[kind]
    sent = bindings.write_query(
        "https://x/", "SAMLRequest", b"<a/>", relay_state="a b&", key=own.key, algorithm=algorithm
    )
    query = sent.partition("?")[2].encode()
    read = bindings.read_query(query, "SAMLRequest")
    assert read is not None
    assert (read.data, read.relay_state) == (b"<a/>", "a b&")
    bindings.verify_query(read, certificate=own.certificate, allow_sha1=True)
    for wrong in (
        query.replace(b"RelayState=a", b"RelayState=b"),
        query.replace(b"%2F", b"%2f"),
        query.partition(b"&Signature")[0],
        query.partition(b"&SigAlg")[0],
        query.replace(b"sha256", b"sha1") if kind != "dsa" else query.replace(b"dsa-sha1", b"hmac-sha1"),
    ):
        if wrong == query:
            continue
        told = bindings.read_query(wrong, "SAMLRequest")
        assert told is not None
        with pytest.raises(BadSignature):
            bindings.verify_query(told, certificate=own.certificate, allow_sha1=kind == "dsa")


@pytest.mark.parametrize(
    "query",
    [
        b"SAMLRequest=",
        b"SAMLRequest=%%%",
        b"SAMLRequest=AAAA",
        b"SAMLRequest=a&SAMLRequest=b",
        b"SAMLRequest=" + base64.b64encode(zlib.compress(b"x" * (64 << 20))[2:-4]),
        b"SAMLRequest=" + base64.b64encode(b"x") + b"&SAMLEncoding=other",
        b"RelayState=" + b"x" * 3000 + b"&SAMLRequest=" + bindings.deflate(b"<a/>").encode(),
    ],
)
def test_a_query_that_cannot_be_read_is_refused(query: bytes) -> None:
    with pytest.raises(SAMLError):
        bindings.read_query(query, "SAMLRequest")


# Encryption


@pytest.mark.parametrize("algorithm", [*encryption.CBC, *encryption.GCM])
def test_what_is_encrypted_is_read_back(algorithm: str) -> None:
    sealed = again(encryption.encrypt(signed(), OURS.certificate, algorithm=algorithm))
    told = signatures.verify(encryption.decrypt(sealed, OURS.key), certificate=OURS.certificate)
    assert name_in(told) == "ada"


def sealed_wrongly(kind: str) -> Any:
    sealed = encryption.encrypt(signed(), OURS.certificate)
    data = sealed.find(xml.tag("xenc:EncryptedData"))
    key = data.find(f".//{xml.tag('xenc:EncryptedKey')}")
    value = data.find(f"{xml.tag('xenc:CipherData')}/{xml.tag('xenc:CipherValue')}")
    raw = base64.b64decode(value.text)
    match kind:
        case "rsa 1.5":
            key.find(xml.tag("xenc:EncryptionMethod")).set("Algorithm", "http://www.w3.org/2001/04/xmlenc#rsa-1_5")
        case "other key":
            public: Any = load_pem_x509_certificate(THEIRS.certificate.encode()).public_key()
            wrapped_key = public.encrypt(b"k" * 16, padding.PKCS1v15())
            key.find(f".//{xml.tag('xenc:CipherValue')}").text = base64.b64encode(wrapped_key).decode()
        case "padding":
            value.text = base64.b64encode(raw[:-1] + bytes([raw[-1] ^ 1])).decode()
        case "content":
            value.text = base64.b64encode(raw[:20] + bytes([raw[20] ^ 1]) + raw[21:]).decode()
        case "short":
            value.text = base64.b64encode(raw[:16]).decode()
        case "3des":
            data.find(xml.tag("xenc:EncryptionMethod")).set(
                "Algorithm", "http://www.w3.org/2001/04/xmlenc#tripledes-cbc"
            )
    return again(sealed)


@pytest.mark.parametrize("kind", ["rsa 1.5", "other key", "padding", "content", "short", "3des"])
def test_an_assertion_that_was_not_encrypted_for_us_is_refused(kind: str) -> None:
    with pytest.raises(SAMLError) as refused:
        signatures.verify(encryption.decrypt(sealed_wrongly(kind), OURS.key), certificate=OURS.certificate)
    if kind in ("other key", "padding", "short"):
        assert refused.value.words == "The assertion could not be decrypted."


# Messages


REQUEST = (
    '<samlp:AuthnRequest xmlns:samlp="{samlp}" xmlns:saml="{saml}" ID="_1" Version="2.0" {more}>'
    "<saml:Issuer>sp</saml:Issuer>{inside}</samlp:AuthnRequest>"
)


@pytest.mark.parametrize(
    ("more", "inside"),
    [
        ('IsPassive="maybe"', ""),
        ("", "<samlp:NameIDPolicy/><samlp:NameIDPolicy/>"),
        ("", "<saml:Issuer>other</saml:Issuer>"),
        ("", "<saml:Subject><saml:NameID>a<b/>c</saml:NameID></saml:Subject>"),
    ],
)
def test_a_request_with_two_meanings_is_refused(more: str, inside: str) -> None:
    text = REQUEST.format(**PREFIXES, more=more, inside=inside)
    with pytest.raises(SAMLError):
        read_authn_request(xml.parse(text.encode()), "")


@pytest.mark.parametrize("start", ["<samlp:LogoutRequest", "<samlp:Response", "<saml:Assertion"])
def test_another_message_is_refused(start: str) -> None:
    text = f'{start} xmlns:samlp="{PREFIXES["samlp"]}" xmlns:saml="{PREFIXES["saml"]}" ID="_1" Version="2.0"/>'
    with pytest.raises(SAMLError):
        read_authn_request(xml.parse(text.encode()), "")
    with pytest.raises(SAMLError):
        read_logout_request(xml.parse(text.encode()))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05Z"),
        ("2026-01-02T03:04:05", "2026-01-02T03:04:05Z"),
    ],
)
def test_times_are_read(text: str, told: str) -> None:
    assert write_instant(read_instant(text)) == told


@pytest.mark.parametrize("text", ["", "now", "2026-13-01T00:00:00Z", "2026-01-01", "0000-01-01T00:00:00Z"])
def test_times_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(SAMLError):
        read_instant(text)


def test_formats_are_known_by_both_spellings() -> None:
    for word in ("X509SubjectName", "WindowsDomainQualifiedName"):
        old = f"urn:oasis:names:tc:SAML:2.0:nameid-format:{word}"
        assert name_format(old) == f"urn:oasis:names:tc:SAML:1.1:nameid-format:{word}"
    assert name_format("urn:oasis:names:tc:SAML:2.0:nameid-format:kerberos") is None
