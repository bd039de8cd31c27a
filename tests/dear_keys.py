"""Keys that are short to send and dear to read: those of which a library looks whether they are made of primes."""

from __future__ import annotations

from base64 import encodebytes, urlsafe_b64encode
from datetime import UTC, datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

DIFFIE_HELLMAN = bytes.fromhex("06092a864886f70d010301")
MODULUS = (1 << 4423) - 1  # a prime; to see that it is one takes seconds


def tagged(tag: int, content: bytes) -> bytes:
    """As DER writes it."""
    length = len(content)
    if length < 0x80:
        return bytes((tag, length)) + content
    size = (length.bit_length() + 7) // 8
    return bytes((tag, 0x80 | size)) + length.to_bytes(size, "big") + content


def _number(value: int) -> bytes:
    return tagged(2, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def public_key() -> bytes:
    algorithm = tagged(0x30, DIFFIE_HELLMAN + tagged(0x30, _number(MODULUS) + _number(2)))
    return tagged(0x30, algorithm + tagged(3, b"\0" + _number(5)))


def public_pem() -> str:
    return f"-----BEGIN PUBLIC KEY-----\n{encodebytes(public_key()).decode()}-----END PUBLIC KEY-----\n"


def certificate() -> bytes:
    """One for that key, whose signature nobody has made."""
    other = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "dear")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(other.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2049, 1, 1, tzinfo=UTC))
        .sign(other, hashes.SHA256())
    )
    told = made.tbs_certificate_bytes
    rest = made.public_bytes(Encoding.DER).partition(told)[2]
    replaced = other.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    inside = told[2 + (told[1] & 0x7F) if told[1] & 0x80 else 2 :]
    return tagged(0x30, tagged(0x30, inside.replace(replaced, public_key())) + rest)


def _text(value: int) -> str:
    return urlsafe_b64encode(value.to_bytes((value.bit_length() + 7) // 8, "big")).rstrip(b"=").decode()


def private_jwk() -> dict[str, str]:
    """A private key of RSA: to see that what it is made of are primes takes seconds."""
    p, q, e = (1 << 3217) - 1, (1 << 4253) - 1, 65537
    d = pow(e, -1, (p - 1) * (q - 1))
    numbers = {"n": p * q, "e": e, "d": d, "p": p, "q": q, "dp": d % (p - 1), "dq": d % (q - 1), "qi": pow(q, -1, p)}
    return {"kty": "RSA", "kid": "dear"} | {name: _text(value) for name, value in numbers.items()}
