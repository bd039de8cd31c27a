"""RFC 9421: `Signature-Input` says what is signed, `Signature` holds the signature."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import http_sf
import msgspec

from kith.base import crypto
from kith.federation.signatures.clock import check_window
from kith.federation.signatures.digests import LONGEST_FIELD, check_content_digest
from kith.federation.signatures.key_ids import read_key_id
from kith.federation.signatures.received import PublicKey, ReceivedRequest, SignatureClaim
from kith.federation.signatures.refusals import Fault, SignatureRefused, shown

__all__ = ["INPUT", "read"]

INPUT = b"signature-input"
LONGEST = 8192
MOST_PARAMETERS = 16
MOST_COVERED = 32
_RSA, _ED25519 = "rsa-v1_5-sha256", "ed25519"
_ALGORITHMS = (None, _RSA, _ED25519)


class _Parameters(msgspec.Struct, frozen=True):
    key_id: str
    signature: bytes
    kinds: tuple[type[PublicKey], ...]
    covered: tuple[str, ...]
    created: int
    expires: int | None
    written: bytes  # the value of `@signature-params`


def read(request: ReceivedRequest, now: datetime) -> SignatureClaim:
    """Everything but the signature itself is checked here."""
    sent = _parameters(request)
    key_id = read_key_id(sent.key_id)
    check_window(sent.created, sent.expires, now)
    _check_coverage(request.method, sent.covered)
    if "content-digest" in sent.covered:
        check_content_digest(request.field(b"content-digest", most=LONGEST_FIELD), request.body)
    if "host" in sent.covered:
        request.check_host()
    bases = tuple(_base(request, sent, origin) for origin in request.origins)
    return SignatureClaim(key_id, bases, sent.signature, sent.kinds, sent.created)


def _parameters(request: ReceivedRequest) -> _Parameters:
    label, (items, parameters) = _one(request, INPUT)
    signed_as, (signature, _) = _one(request, b"signature")
    if label != signed_as or not isinstance(signature, bytes) or not isinstance(items, list):
        raise SignatureRefused(Fault.MALFORMED, "Signature and Signature-Input do not fit together")
    if len(items) > MOST_COVERED or len(parameters) > MOST_PARAMETERS:
        raise SignatureRefused(Fault.TOO_LONG, "Too many components or parameters are signed")
    created, expires = parameters.get("created"), parameters.get("expires")
    if type(created) is not int or not isinstance(parameters.get("keyid"), str):
        words = "Incompatible request signature. keyid and created are required"
        raise SignatureRefused(Fault.MALFORMED, words)
    if expires is not None and type(expires) is not int:
        raise SignatureRefused(Fault.MALFORMED, "Invalid expires of the signature")
    algorithm = parameters.get("alg")
    if (algorithm is not None and not isinstance(algorithm, str)) or algorithm not in _ALGORITHMS:
        words = "Unsupported signature algorithm (only rsa-v1_5-sha256 and ed25519 are supported)"
        raise SignatureRefused(Fault.ALGORITHM, words)
    written = http_sf.ser({label: (items, parameters)}).removeprefix(f"{label}=")
    covered = _covered(items)
    return _Parameters(
        parameters["keyid"], signature, _kinds(algorithm), covered, created, expires, written.encode("ascii")
    )


def _kinds(algorithm: str | None) -> tuple[type[PublicKey], ...]:
    """Which kinds of keys sign so. Where no algorithm is named, the key tells."""
    if algorithm is None:
        return crypto.RSAPublicKey, crypto.Ed25519PublicKey
    return (crypto.RSAPublicKey,) if algorithm == _RSA else (crypto.Ed25519PublicKey,)


def _one(request: ReceivedRequest, name: bytes) -> tuple[str, tuple[Any, dict[str, Any]]]:
    """The only member of a header that is a dictionary, by its label."""
    value = request.field(name, most=LONGEST)
    if value is None:
        raise SignatureRefused(Fault.UNSIGNED, "Request not signed")
    try:
        parsed = http_sf.parse(value, tltype="dictionary", on_duplicate_key=_refuse_twice)
    except (http_sf.StructuredFieldError, ValueError, OverflowError) as error:
        raise SignatureRefused(Fault.MALFORMED, f"Error parsing {shown(name)}") from error
    if not isinstance(parsed, dict) or len(parsed) != 1:
        raise SignatureRefused(Fault.MALFORMED, "Exactly one signature is supported")
    [(label, member)] = parsed.items()
    return label, member if isinstance(member, tuple) else (member, {})


def _refuse_twice(name: str, _where: str) -> None:
    raise SignatureRefused(Fault.MALFORMED, f"Signature parameter {shown(name)} is there twice")


def _covered(items: list[Any]) -> tuple[str, ...]:
    names = []
    for item in items:
        name, parameters = item if isinstance(item, tuple) else (item, {})
        if not isinstance(name, str) or name != name.lower() or name == "@signature-params":
            raise SignatureRefused(Fault.MALFORMED, "A component that is signed has no proper name")
        if parameters:
            words = f"Parameters of signed components are not supported: {shown(name)}"
            raise SignatureRefused(Fault.COVERAGE, words)
        names.append(name)
    if len(set(names)) < len(names):
        raise SignatureRefused(Fault.MALFORMED, "A component is signed twice")
    return tuple(names)


def _check_coverage(method: str, covered: tuple[str, ...]) -> None:
    for name in ("@method", "@target-uri"):
        if name not in covered:
            raise SignatureRefused(Fault.COVERAGE, f"Kith requires the {name} derived component to be signed")
    if method not in ("GET", "HEAD") and "content-digest" not in covered:
        words = f"Kith requires the Content-Digest header to be signed when doing a {shown(method)} request"
        raise SignatureRefused(Fault.COVERAGE, words)


def _base(request: ReceivedRequest, sent: _Parameters, origin: str) -> bytes:
    """What was signed, line by line, if we were asked under `origin`."""
    scheme, _, authority = origin.lower().partition("://")
    derived = {
        "@method": request.method.encode(),
        "@target-uri": f"{scheme}://{authority}".encode() + (request.target or b"/"),
        "@authority": authority.encode(),
        "@scheme": scheme.encode(),
        "@path": request.path or b"/",
        "@query": b"?" + request.query,
        "@request-target": request.target or b"/",
    }
    lines = []
    for name in sent.covered:
        if name.startswith("@") and name not in derived:
            raise SignatureRefused(Fault.COVERAGE, f"Unknown derived component: {shown(name)}")
        raw = name.encode("ascii")
        lines.append(b'"' + raw + b'": ' + (derived[name] if name in derived else request.covered_field(raw)))
    return b"\n".join((*lines, b'"@signature-params": ' + sent.written))
