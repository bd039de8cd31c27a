"""Signatures over bytes, as the redirect binding has them. ECDSA and DSA values are two numbers of fixed length."""

from __future__ import annotations

from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import dsa, ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

from kith.identity.crypto.certificates import read_kept_key

_HASHES: dict[str, type[hashes.HashAlgorithm]] = {
    "sha1": hashes.SHA1,
    "sha256": hashes.SHA256,
    "sha384": hashes.SHA384,
    "sha512": hashes.SHA512,
}


def sign(octets: bytes, key: str, algorithm: str) -> bytes:
    loaded: Any = read_kept_key(key)
    digest = _digest(algorithm)
    if isinstance(loaded, rsa.RSAPrivateKey):
        return loaded.sign(octets, padding.PKCS1v15(), digest)
    der = loaded.sign(octets, ec.ECDSA(digest) if isinstance(loaded, ec.EllipticCurvePrivateKey) else digest)
    length = _length(loaded.public_key())
    return b"".join(number.to_bytes(length, "big") for number in decode_dss_signature(der))


def is_right(octets: bytes, signature: bytes, certificate: str, algorithm: str) -> bool:
    key = x509.load_pem_x509_certificate(certificate.encode()).public_key()
    digest = _digest(algorithm)
    try:
        match key:
            case rsa.RSAPublicKey():
                key.verify(signature, octets, padding.PKCS1v15(), digest)
            case ec.EllipticCurvePublicKey():
                key.verify(_der(signature, _length(key)), octets, ec.ECDSA(digest))
            case dsa.DSAPublicKey():
                key.verify(_der(signature, _length(key)), octets, digest)
            case _:
                return False
    except (InvalidSignature, ValueError):
        return False
    return True


def key_type_of(certificate: str) -> str:
    match x509.load_pem_x509_certificate(certificate.encode()).public_key():
        case rsa.RSAPublicKey():
            return "rsa"
        case ec.EllipticCurvePublicKey():
            return "ec"
        case dsa.DSAPublicKey():
            return "dsa"
    return ""


def _digest(algorithm: str) -> hashes.HashAlgorithm:
    return _HASHES[algorithm.partition("-")[2]]()


def _length(key: Any) -> int:
    bits = key.parameters().parameter_numbers().q.bit_length() if isinstance(key, dsa.DSAPublicKey) else key.key_size
    return int((bits + 7) // 8)


def _der(signature: bytes, length: int) -> bytes:
    """Some software sends the DER form; a pair of numbers has its exact length."""
    if len(signature) != 2 * length:
        return signature
    return encode_dss_signature(int.from_bytes(signature[:length], "big"), int.from_bytes(signature[length:], "big"))
