"""Requests that wait, known by a key in the address."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import datetime, timedelta
from typing import Any

from kith.base.work import Work
from kith.identity.saml import store
from kith.identity.saml.tables import StoredRequest

LIFE = timedelta(hours=1)
# Parameters of links back to a request.
REQUEST, PROOF, CANCELLED = "request", "proof", "cancelled"


def new_key() -> str:
    return secrets.token_urlsafe(32)


def hash_key(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


async def keep(
    work: Work,
    kind: str,
    content: dict[str, Any],
    *,
    key: str,
    provider_id: int | None = None,
    proof: str | None = None,
    user_id: int | None = None,
    until: datetime | None = None,
) -> str:
    await store.insert_request(
        work.db,
        StoredRequest(
            request_hash=hash_key(key),
            kind=kind,
            provider_id=provider_id,
            content=content,
            user_id=user_id,
            proof_hash=hash_key(proof) if proof is not None else None,
            expires_at=until or work.now + LIFE,
        ),
    )
    return key


async def find(work: Work, kind: str, key: str) -> StoredRequest | None:
    found = await store.find_request(work.db, hash_key(key), work.now) if 0 < len(key) <= 100 else None
    return found if found is not None and found.kind == kind else None


def is_proven(request: StoredRequest | None, proof: str, user_id: int) -> bool:
    """Whether `proof` shows that this person has completed the flow."""
    if not proof or request is None or request.proof_hash is None or request.user_id != user_id:
        return False
    return hmac.compare_digest(request.proof_hash, hash_key(proof))
