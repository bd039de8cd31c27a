"""draft-cavage-12: what most servers sign with. One `Signature` header names the key and what is signed."""

from __future__ import annotations

import binascii
import re
from datetime import datetime
from functools import lru_cache

import msgspec

from kith.base import crypto
from kith.federation.signatures.clock import USUAL, check_window, read_http_date, read_seconds
from kith.federation.signatures.digests import LONGEST_FIELD, check_digest
from kith.federation.signatures.key_ids import read_key_id
from kith.federation.signatures.received import ReceivedRequest, SignatureClaim
from kith.federation.signatures.refusals import Fault, SignatureRefused, shown

__all__ = ["read"]

LONGEST = 8192
LONGEST_DATE = 64
MOST_PARAMETERS = 16
MOST_COVERED = 32
_ALGORITHMS = ("rsa-sha256", "hs2019")
# As nearly everybody writes it, in one step; whatever else is read parameter by parameter.
_USUAL = re.compile(r'keyId="([^"\\]*)",(?:algorithm="([^"\\]*)",)?headers="([^"\\]*)",signature="([^"\\]*)"')
_PARAMETER = re.compile(r'[ \t]*([A-Za-z][A-Za-z0-9_-]*)[ \t]*=[ \t]*(?:"([^"\\]*)"|([0-9.]+))[ \t]*(,|\Z)')


class _Covered(msgspec.Struct, frozen=True):
    """What is signed, by names. `lines` are in the order of signing: the name of a header and how its line begins."""

    names: frozenset[str]
    lines: tuple[tuple[bytes, bytes], ...]


class _Parameters(msgspec.Struct, frozen=True):
    key_id: str
    signature: bytes
    algorithm: str
    covered: _Covered
    created: str
    expires: str


def read(request: ReceivedRequest, now: datetime) -> SignatureClaim:
    """Everything but the signature itself is checked here."""
    value = request.field(b"signature", most=LONGEST)
    if value is None:
        raise SignatureRefused(Fault.UNSIGNED, "Request not signed")
    sent = _parameters(value)
    key_id = read_key_id(sent.key_id)
    covered = sent.covered.names
    created = _check_time(request, sent, now)
    _check_coverage(request.method, covered)
    if "host" in covered:
        request.check_host()
    if "digest" in covered:
        check_digest(request.field(b"digest", most=LONGEST_FIELD), request.body)
    bases: tuple[bytes, ...] = (_base(request, sent, request.target),)
    if request.query and "(request-target)" in covered:  # with the query and without: servers differ
        bases += (_base(request, sent, request.path),)
    return SignatureClaim(key_id, bases, sent.signature, (crypto.RSAPublicKey,), created)


def _parameters(value: bytes) -> _Parameters:
    text = value.decode("latin-1")
    usual = _USUAL.fullmatch(text)
    found = _split(text) if usual is None else _named(*usual.groups())
    if not found.get("keyId") or not found.get("signature"):
        words = "Incompatible request signature. keyId and signature are required"
        raise SignatureRefused(Fault.MALFORMED, words)
    algorithm = found.get("algorithm", "hs2019").lower()
    if algorithm not in _ALGORITHMS:
        words = "Unsupported signature algorithm (only rsa-sha256 and hs2019 are supported)"
        raise SignatureRefused(Fault.ALGORITHM, words)
    covered = _covered(found.get("headers", "(created)" if algorithm == "hs2019" else "date"))
    try:
        signature = binascii.a2b_base64(found["signature"], strict_mode=True)
    except (binascii.Error, ValueError) as error:
        raise SignatureRefused(Fault.MALFORMED, "The signature is not valid base64") from error
    return _Parameters(
        found["keyId"], signature, algorithm, covered, found.get("created", ""), found.get("expires", "")
    )


def _named(key_id: str, algorithm: str | None, headers: str, signature: str) -> dict[str, str]:
    found = {"keyId": key_id, "headers": headers, "signature": signature}
    return found if algorithm is None else found | {"algorithm": algorithm}


@lru_cache(256)
def _covered(headers: str) -> _Covered:
    """Each server signs the same over and over, so what was read is kept."""
    names = headers.lower().split()
    if len(names) > MOST_COVERED:
        raise SignatureRefused(Fault.TOO_LONG, "Too many headers are signed")
    if len(set(names)) < len(names):
        raise SignatureRefused(Fault.MALFORMED, "A header is signed twice")
    raw = [name.encode("latin-1") for name in names]
    return _Covered(frozenset(names), tuple((name, name + b": ") for name in raw))


def _split(text: str) -> dict[str, str]:
    """The parameters by name. What is not known is left alone; what is there twice is refused."""
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        one = _PARAMETER.match(text, at)
        if one is None:
            raise SignatureRefused(Fault.MALFORMED, "Error parsing signature parameters")
        name, quoted, bare, _ = one.groups()
        if name in found:
            raise SignatureRefused(Fault.MALFORMED, f"Signature parameter {shown(name)} is there twice")
        if len(found) >= MOST_PARAMETERS:
            raise SignatureRefused(Fault.TOO_LONG, "Too many signature parameters")
        found[name] = bare if quoted is None else quoted
        at = one.end()
    return found


def _check_time(request: ReceivedRequest, sent: _Parameters, now: datetime) -> int:
    """The time that is signed counts. An end that is not signed may come earlier than usual, but no later."""
    covered = sent.covered.names
    for name, value in (("(created)", sent.created), ("(expires)", sent.expires)):
        if name not in covered:
            continue
        if sent.algorithm != "hs2019":
            raise SignatureRefused(Fault.COVERAGE, f"Invalid pseudo-header {name} for {sent.algorithm}")
        if not value:
            words = f"Pseudo-header {name} used but corresponding argument missing"
            raise SignatureRefused(Fault.MALFORMED, words)
    if "(created)" in covered:
        created = read_seconds(sent.created, "created")
    elif "date" in covered:
        request.covered_field(b"date")
        created = read_http_date(request.field(b"date", most=LONGEST_DATE) or b"")
    else:
        words = "Kith requires the Date header or (created) pseudo-header to be signed"
        raise SignatureRefused(Fault.COVERAGE, words)
    expires = read_seconds(sent.expires, "expires") if sent.expires else None
    if expires is not None and "(expires)" not in covered:
        expires = min(expires, created + USUAL)
    check_window(created, expires, now)
    return created


def _check_coverage(method: str, covered: frozenset[str]) -> None:
    if "(request-target)" not in covered and "digest" not in covered:
        words = "Kith requires the Digest header or (request-target) pseudo-header to be signed"
        raise SignatureRefused(Fault.COVERAGE, words)
    if method in ("GET", "HEAD") and "host" not in covered:
        words = f"Kith requires the Host header to be signed when doing a {method} request"
        raise SignatureRefused(Fault.COVERAGE, words)
    if method not in ("GET", "HEAD") and "digest" not in covered:
        words = f"Kith requires the Digest header to be signed when doing a {shown(method)} request"
        raise SignatureRefused(Fault.COVERAGE, words)


def _base(request: ReceivedRequest, sent: _Parameters, target: bytes) -> bytes:
    """What was signed, line by line."""
    lines = []
    for name, beginning in sent.covered.lines:
        if name == b"(request-target)":
            value = request.method.lower().encode() + b" " + target
        elif name == b"(created)":
            value = sent.created.encode("latin-1")
        elif name == b"(expires)":
            value = sent.expires.encode("latin-1")
        else:
            value = request.covered_field(name)
        lines.append(beginning + value)
    return b"\n".join(lines)
