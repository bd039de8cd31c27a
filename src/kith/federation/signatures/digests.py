"""Digests of bodies: `Digest` (with draft-cavage signatures) and `Content-Digest` (RFC 9530, with RFC 9421)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

import http_sf

from kith.federation.signatures.refusals import Fault, SignatureRefused, shown

__all__ = ["check_content_digest", "check_digest", "content_digest_field", "digest_field", "sha256"]

LONGEST_FIELD = 1024
_HASHES = {"sha-256": hashlib.sha256, "sha-512": hashlib.sha512}


def sha256(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()


def digest_field(digest: bytes) -> str:
    return f"SHA-256={base64.b64encode(digest).decode()}"


def content_digest_field(digest: bytes) -> str:
    return f"sha-256=:{base64.b64encode(digest).decode()}:"


def check_digest(field: bytes | None, body: bytes) -> None:
    """`Digest` names SHA-256, whatever else it names, and that is the body's."""
    if field is None:
        raise SignatureRefused(Fault.DIGEST, "Digest header missing")
    offered = [part.strip().partition(b"=") for part in field.split(b",")]
    given = next((value for name, _, value in offered if name.lower() == b"sha-256"), None)
    if given is None:
        names = ", ".join(shown(name) for name, _, _ in offered)
        raise SignatureRefused(Fault.DIGEST, f"Only SHA-256 is supported in Digest header. Offered algorithms: {names}")
    computed = sha256(body)
    if not hmac.compare_digest(_decode(given), computed):
        text = base64.b64encode(computed).decode()
        words = f"Invalid Digest value. Computed SHA-256 digest: {text}; given: {shown(given)}"
        raise SignatureRefused(Fault.DIGEST, words)


def _decode(given: bytes) -> bytes:
    try:
        return binascii.a2b_base64(given, strict_mode=True)
    except (binascii.Error, ValueError) as error:
        words = f"Invalid Digest value. The provided Digest value is not valid base64. Given digest: {shown(given)}"
        raise SignatureRefused(Fault.DIGEST, words) from error


def check_content_digest(field: bytes | None, body: bytes) -> None:
    """Every digest that is known here is the body's, and there is one at least."""
    if field is None:
        raise SignatureRefused(Fault.DIGEST, "Content-Digest header missing")
    try:
        offered = http_sf.parse(field, tltype="dictionary")
    except (http_sf.StructuredFieldError, ValueError, OverflowError) as error:
        raise SignatureRefused(Fault.MALFORMED_DIGEST, "Content-Digest could not be parsed") from error
    known = {name: member for name, member in _members(offered).items() if name in _HASHES}
    if not known:
        raise SignatureRefused(Fault.DIGEST, "Only SHA-256 and SHA-512 are supported in Content-Digest header")
    for name, given in known.items():
        if not isinstance(given, bytes):
            raise SignatureRefused(Fault.MALFORMED_DIGEST, "Content-Digest could not be parsed")
        computed = _HASHES[name](body).digest()
        if not hmac.compare_digest(given, computed):
            told = f"{base64.b64encode(computed).decode()}; given: {base64.b64encode(given[:64]).decode()}"
            words = f"Invalid Content-Digest value. Computed {name.upper()} digest: {told}"
            raise SignatureRefused(Fault.DIGEST, words)


def _members(parsed: object) -> dict[str, object]:
    """The values of a parsed dictionary, without their parameters."""
    if not isinstance(parsed, dict):
        return {}
    return {name: member[0] if isinstance(member, tuple) else member for name, member in parsed.items()}
