"""Whether a request was made by whom it names: first what can be said without the key, then with it."""

from __future__ import annotations

from datetime import datetime
from functools import cache

from kith.base import crypto
from kith.federation.signatures import cavage, rfc9421
from kith.federation.signatures.received import PublicKey, ReceivedRequest, SignatureClaim
from kith.federation.signatures.refusals import Fault, SignatureRefused, shown

__all__ = ["is_signed", "is_valid", "read_claim", "verify"]


def is_signed(request: ReceivedRequest) -> bool:
    return b"signature" in request.fields


def read_claim(request: ReceivedRequest, now: datetime) -> SignatureClaim:
    """What the signature of `request` claims; `SignatureRefused` where it cannot count, whoever's it is.

    Asked before any key is fetched, so that nobody makes us fetch one with a request that is worthless anyway.
    """
    return rfc9421.read(request, now) if rfc9421.INPUT in request.fields else cavage.read(request, now)


def is_valid(claim: SignatureClaim, key: PublicKey) -> bool:
    return isinstance(key, claim.kinds) and any(_signed(key, claim.signature, base) for base in claim.bases)


def verify(claim: SignatureClaim, key: PublicKey) -> None:
    if not is_valid(claim, key):
        raise SignatureRefused(Fault.WRONG, f"Verification failed for {shown(claim.key_id.id)}")


def _signed(key: PublicKey, signature: bytes, base: bytes) -> bool:
    try:
        if isinstance(key, crypto.Ed25519PublicKey):
            key.verify(signature, base)
        else:
            key.verify(signature, base, *_scheme())
    except crypto.InvalidSignature:
        return False
    return True


@cache
def _scheme() -> tuple[crypto.PKCS1v15, crypto.hashes.SHA256]:
    """How RSA keys sign: padding and digest."""
    return crypto.PKCS1v15(), crypto.hashes.SHA256()
