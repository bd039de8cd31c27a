"""Requests of ours, signed: one after the other, or many at once in a thread."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from functools import cache
from urllib.parse import urlsplit

import msgspec

from kith.base import crypto
from kith.federation.signatures.clock import http_date
from kith.federation.signatures.digests import content_digest_field, digest_field

__all__ = ["RequestToSign", "Signer", "SigningScheme", "sign"]

_DEFAULT_PORTS = {"https": ":443", "http": ":80"}


class SigningScheme(StrEnum):
    """How a request is signed: every server is asked with the first, and with the second if it refuses that."""

    CAVAGE = "cavage"
    RFC9421 = "rfc9421"


class Signer(msgspec.Struct, frozen=True):
    """Who signs: an actor's key, and its name."""

    key_id: str
    key: crypto.RSAPrivateKey


class RequestToSign(msgspec.Struct, frozen=True):
    """`url` is absolute and as it will be asked for; `headers` (lower-case names) are sent and signed.

    `digest` is the SHA-256 of the body, worked out once for all who get the same one; None for a request without.
    """

    method: str
    url: str
    digest: bytes | None = None
    headers: Mapping[str, str] = {}


def sign(signer: Signer, request: RequestToSign, scheme: SigningScheme, at: datetime) -> dict[str, str]:
    """All headers that must be sent as they are: those of `request`, and what signing adds."""
    return _sign_cavage(signer, request, at) if scheme is SigningScheme.CAVAGE else _sign_rfc9421(signer, request, at)


def _sign_cavage(signer: Signer, request: RequestToSign, at: datetime) -> dict[str, str]:
    target, host = _where(request.url)
    headers = {"host": host, "date": http_date(at)}
    if request.digest is not None:
        headers["digest"] = digest_field(request.digest)
    headers |= request.headers
    covered = {"(request-target)": f"{request.method.lower()} {target}", **headers}
    base = "\n".join(f"{name}: {value}" for name, value in covered.items())
    headers["signature"] = (
        f'keyId="{signer.key_id}",algorithm="rsa-sha256",headers="{" ".join(covered)}",'
        f'signature="{_signature(signer, base)}"'
    )
    return headers


def _sign_rfc9421(signer: Signer, request: RequestToSign, at: datetime) -> dict[str, str]:
    """What kind of body it is stays unsigned, as others do it; everything else that is given is signed."""
    headers: dict[str, str] = {}
    if request.digest is not None:
        headers["content-digest"] = content_digest_field(request.digest)
    headers |= request.headers
    target, host = _where(request.url)
    covered = {"@method": request.method.upper(), "@target-uri": f"{urlsplit(request.url).scheme}://{host}{target}"}
    covered |= {name: value for name, value in headers.items() if name != "content-type"}
    names = " ".join(f'"{name}"' for name in covered)
    parameters = f'({names});created={int(at.timestamp())};keyid="{signer.key_id}"'
    lines = [f'"{name}": {value}' for name, value in covered.items()]
    base = "\n".join((*lines, f'"@signature-params": {parameters}'))
    return headers | {
        "host": host,
        "date": http_date(at),
        "signature-input": f"sig1={parameters}",
        "signature": f"sig1=:{_signature(signer, base)}:",
    }


def _signature(signer: Signer, base: str) -> str:
    return base64.b64encode(signer.key.sign(base.encode("latin-1"), *_scheme())).decode()


@cache
def _scheme() -> tuple[crypto.PKCS1v15, crypto.hashes.SHA256]:
    """How RSA keys sign: padding and digest."""
    return crypto.PKCS1v15(), crypto.hashes.SHA256()


def _where(url: str) -> tuple[str, str]:
    """Path and query, and the host as it is named in `Host`."""
    parts = urlsplit(url)
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    host = parts.netloc.rpartition("@")[2].lower()
    return target, host.removesuffix(_DEFAULT_PORTS.get(parts.scheme, "\n"))
