"""Encrypted assertions (XML Encryption 1.1), over `cryptography`.

The key travels with RSA-OAEP; RSA 1.5 is refused. Whatever goes wrong while opening gives the same error.
"""

from __future__ import annotations

import base64
import secrets
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from kith.identity.crypto.certificates import read_kept_key
from kith.identity.saml import xml
from kith.identity.saml.errors import HostileMessage, SAMLError
from kith.identity.saml.names import DIGESTS, XMLENC, XMLENC11
from kith.identity.saml.xml import Element

OAEP = f"{XMLENC}rsa-oaep-mgf1p"
OAEP_11 = f"{XMLENC11}rsa-oaep"
CBC = {f"{XMLENC}aes{bits}-cbc": bits // 8 for bits in (128, 192, 256)}
GCM = {f"{XMLENC11}aes{bits}-gcm": bits // 8 for bits in (128, 192, 256)}
CONTENT = f"{XMLENC}aes128-cbc"
ELEMENT = f"{XMLENC}Element"
_BLOCK = 16
_HASHES: dict[str, type[hashes.HashAlgorithm]] = {
    DIGESTS["sha1"]: hashes.SHA1,
    DIGESTS["sha256"]: hashes.SHA256,
    DIGESTS["sha384"]: hashes.SHA384,
    DIGESTS["sha512"]: hashes.SHA512,
}
_MASKS = {f"{XMLENC11}mgf1{name}": _HASHES[DIGESTS[name]] for name in DIGESTS}
UNREADABLE = "The assertion could not be decrypted."


def encrypt(assertion: Element, certificate: str, *, algorithm: str = CONTENT) -> Element:
    """An EncryptedAssertion that only the holder of the certificate's key can open."""
    public: Any = x509.load_pem_x509_certificate(certificate.encode()).public_key()
    key = secrets.token_bytes((CBC | GCM)[algorithm])
    wrapped = public.encrypt(key, padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None))  # noqa: S303
    sealed = xml.new("saml:EncryptedAssertion")
    data = xml.add(sealed, "xenc:EncryptedData", {"Type": ELEMENT})
    xml.add(data, "xenc:EncryptionMethod", {"Algorithm": algorithm})
    info = xml.add(data, "ds:KeyInfo")
    carried = xml.add(info, "xenc:EncryptedKey")
    method = xml.add(carried, "xenc:EncryptionMethod", {"Algorithm": OAEP})
    xml.add(method, "ds:DigestMethod", {"Algorithm": DIGESTS["sha1"]})
    _add_value(carried, wrapped)
    _add_value(data, _locked(key, xml.to_bytes(assertion), algorithm))
    return sealed


def _add_value(parent: Element, value: bytes) -> None:
    cipher = xml.add(parent, "xenc:CipherData")
    xml.add(cipher, "xenc:CipherValue", text=base64.b64encode(value).decode())


def _locked(key: bytes, clear: bytes, algorithm: str) -> bytes:
    if algorithm in GCM:
        nonce = secrets.token_bytes(12)
        return nonce + AESGCM(key).encrypt(nonce, clear, None)
    short = _BLOCK - len(clear) % _BLOCK
    padded = clear + secrets.token_bytes(short - 1) + bytes([short])
    iv = secrets.token_bytes(_BLOCK)
    encryptor = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor()
    return iv + encryptor.update(padded) + encryptor.finalize()


def decrypt(sealed: Element, key: str) -> Element:
    """The assertion inside. It is checked like every document from outside."""
    data = xml.only(sealed, "xenc:EncryptedData")
    algorithm = xml.only(data, "xenc:EncryptionMethod").get("Algorithm") or ""
    if algorithm not in CBC and algorithm not in GCM:
        raise HostileMessage("The assertion's encryption is not allowed.")
    carried = _encrypted_key(sealed, data)
    scheme = _scheme(xml.only(carried, "xenc:EncryptionMethod"))
    private: Any = read_kept_key(key)
    if not isinstance(private, rsa.RSAPrivateKey):
        raise SAMLError(UNREADABLE)
    try:
        clear = _opened(private.decrypt(_value(carried), scheme), _value(data), algorithm)
        return xml.parse(clear)
    except (ValueError, InvalidTag, SAMLError) as error:
        raise SAMLError(UNREADABLE) from error


def _encrypted_key(sealed: Element, data: Element) -> Element:
    """It stands in the key info of the data, or beside it."""
    info = xml.at_most_one(data, "ds:KeyInfo")
    inside = xml.children(info, "xenc:EncryptedKey") if info is not None else []
    found = [*inside, *xml.children(sealed, "xenc:EncryptedKey")]
    if len(found) != 1:
        raise SAMLError(UNREADABLE)
    return found[0]


def _scheme(method: Element) -> padding.OAEP:
    algorithm = method.get("Algorithm")
    if algorithm not in (OAEP, OAEP_11):
        raise HostileMessage("The assertion's key must be encrypted with RSA-OAEP.")
    digest = xml.at_most_one(method, "ds:DigestMethod")
    uri = digest.get("Algorithm") if digest is not None else DIGESTS["sha1"]
    mask = method.find(f"{{{XMLENC11}}}MGF")
    mask_uri = mask.get("Algorithm") if mask is not None and algorithm == OAEP_11 else f"{XMLENC11}mgf1sha1"
    if uri not in _HASHES or mask_uri not in _MASKS:
        raise HostileMessage("The assertion's encryption is not allowed.")
    return padding.OAEP(padding.MGF1(_MASKS[mask_uri]()), _HASHES[uri](), None)


def _value(parent: Element) -> bytes:
    value = xml.only(xml.only(parent, "xenc:CipherData"), "xenc:CipherValue")
    return base64.b64decode("".join(xml.text_of(value).split()), validate=True)


def _opened(key: bytes, locked: bytes, algorithm: str) -> bytes:
    if len(key) != (CBC | GCM)[algorithm]:
        raise ValueError
    if algorithm in GCM:
        return AESGCM(key).decrypt(locked[:12], locked[12:], None)
    if len(locked) < 2 * _BLOCK or len(locked) % _BLOCK:
        raise ValueError
    decryptor = Cipher(algorithms.AES(key), modes.CBC(locked[:_BLOCK])).decryptor()
    clear = decryptor.update(locked[_BLOCK:]) + decryptor.finalize()
    short = clear[-1]
    if not 1 <= short <= _BLOCK:
        raise ValueError
    return clear[:-short]
