"""X.509 certificates and their private keys as PEM text: reading and generating them.

Checking or generating a long RSA key takes a good part of a second: call these in a thread.
"""

from __future__ import annotations

import ipaddress
from base64 import b64decode
from contextlib import suppress
from datetime import datetime, timedelta

import msgspec
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes, PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kith.base.key_sizes import names_diffie_hellman

RSA_BITS = 3072
LONGEST_KEY = 8 * 1024  # of RSA 8192 bits: the library looks whether the two numbers that it is made of are primes
_TYPES = (
    (rsa.RSAPublicKey, "rsa"),
    (ec.EllipticCurvePublicKey, "ec"),
    (dsa.DSAPublicKey, "dsa"),
    (ed25519.Ed25519PublicKey, "ed25519"),
    (ed448.Ed448PublicKey, "ed448"),
)
_UNREADABLE = (ValueError, TypeError, UnsupportedAlgorithm, x509.InvalidVersion)


class Unreadable(ValueError):  # noqa: N818 - the text is
    """The PEM text in `field` cannot be read."""

    def __init__(self, field: str, words: str) -> None:
        super().__init__(words)
        self.field = field
        self.words = words


class CertificateFacts(msgspec.Struct, frozen=True):
    """What is stored about a key pair besides its text; the names are those of the columns."""

    fingerprint_sha256: str
    fingerprint_sha1: str
    cert_expiry: datetime
    cert_subject: str
    private_key_available: bool
    key_type: str | None


def examine(certificate_data: str, key_data: str) -> CertificateFacts:
    """Read a certificate (the first, of a chain) and check that the key belongs to it."""
    try:
        certificate = x509.load_pem_x509_certificate(certificate_data.encode())
        if names_diffie_hellman(certificate.public_bytes(Encoding.DER)):
            raise Unreadable("certificate_data", "Unable to load certificate.")  # before it costs half a minute
        public_key = certificate.public_key()
        facts = CertificateFacts(
            fingerprint_sha256=certificate.fingerprint(hashes.SHA256()).hex(":"),
            fingerprint_sha1=certificate.fingerprint(hashes.SHA1()).hex(":"),  # noqa: S303 - a name, not a promise
            cert_expiry=certificate.not_valid_after_utc,
            cert_subject=certificate.subject.rfc4514_string(),
            private_key_available=bool(key_data),
            key_type=next((word for kind, word in _TYPES if isinstance(public_key, kind)), None),
        )
        spoken_for = public_key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    except _UNREADABLE as error:
        raise Unreadable("certificate_data", "Unable to load certificate.") from error
    if key_data:
        public = _load_key(key_data).public_key()
        if public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo) != spoken_for:
            raise Unreadable("key_data", "The private key does not belong to the certificate.")
    return facts


def public_key(certificate_data: str) -> str:
    """The public key of a certificate, in PEM."""
    found = x509.load_pem_x509_certificate(certificate_data.encode()).public_key()
    return found.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def _load_key(key_data: str) -> PrivateKeyTypes:
    if len(key_data) > LONGEST_KEY or names_diffie_hellman(_der(key_data)):
        raise Unreadable("key_data", "The private key is too long, or of a kind that nothing here uses.")
    try:
        return load_pem_private_key(key_data.encode(), password=None)
    except _UNREADABLE as error:
        raise Unreadable("key_data", "Unable to load private key (possibly encrypted?).") from error


def read_kept_key(pem: str) -> PrivateKeyTypes:
    """Load a private key that a key pair holds. That its numbers are primes was checked when it was kept."""
    return load_pem_private_key(pem.encode(), None, unsafe_skip_rsa_key_validation=True)


def _der(text: str) -> bytes:
    """The bytes between the first and the last line of a PEM text, as far as they can be read."""
    with suppress(ValueError):
        return b64decode("".join(line for line in text.splitlines() if "-" not in line and ":" not in line))
    return b""


def generate(
    common_name: str, alternatives: list[x509.GeneralName], days: int, alg: str, now: datetime
) -> tuple[str, str]:
    """A new self-signed certificate and its key. It is valid from yesterday, in case somebody's clock is slow."""
    key = _new_key(alg)
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Kith"),
        ]
    )
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=days))
        .serial_number(x509.random_serial_number())
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    )
    if alternatives:
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    certificate = builder.sign(key, None if alg in ("ed25519", "ed448") else hashes.SHA256())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return certificate.public_bytes(Encoding.PEM).decode(), pem.decode()


def _new_key(alg: str) -> CertificateIssuerPrivateKeyTypes:
    match alg:
        case "ecdsa":
            return ec.generate_private_key(ec.SECP256R1())
        case "ed25519":
            return ed25519.Ed25519PrivateKey.generate()
        case "ed448":
            return ed448.Ed448PrivateKey.generate()
    return rsa.generate_private_key(public_exponent=65537, key_size=RSA_BITS)


def read_alternative(text: str) -> x509.GeneralName:
    """`www.example.org`, `192.0.2.1`, `ada@example.org` or a URL, as a certificate names it; ValueError for others."""
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        pass
    if not text.isascii() or any(character.isspace() for character in text):
        raise ValueError(text)
    if "://" in text:
        return x509.UniformResourceIdentifier(text)
    return x509.RFC822Name(text) if "@" in text else x509.DNSName(text)
