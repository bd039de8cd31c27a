"""Hashes of revoked tokens, kept for a while so that a client can be told that its token was revoked, and why."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import msgspec
from sqlalchemy import and_, bindparam, select

from kith.base.db import UID, Instant, query
from kith.base.work import Work
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.tables import assertions, oauth_tokens

KNOWN = timedelta(days=30)
_keys_of = query(
    select(oauth_tokens.c.key_hash).where(
        and_(oauth_tokens.c.grant_uuid == bindparam("grant", type_=UID()), oauth_tokens.c.kind == "access")
    ),
    str,
)


class RevokedToken(msgspec.Struct, frozen=True):
    user_id: int | None  # whom it spoke for


_known = query(
    select(assertions.c.user_id).where(
        and_(assertions.c.jti_hash == bindparam("hash"), assertions.c.expires_at > bindparam("now", type_=Instant()))
    ),
    RevokedToken,
)


async def keys_of(work: Work, grant_uuid: str) -> list[str]:
    return await work.db.all(_keys_of, grant=grant_uuid)


async def remember(work: Work, key_hashes: list[str], user_id: int | None) -> None:
    for key_hash in key_hashes:
        await store.insert_assertion(work.db, _name(key_hash), work.now + KNOWN, user_id)


async def find(work: Work, key_hash: str) -> RevokedToken | None:
    return await work.db.one(_known, hash=_name(key_hash), now=work.now)


def _name(key_hash: str) -> str:
    """Kept beside other things that were seen and must not count again, and never taken for one of them."""
    return hashlib.sha256(f"ended {key_hash}".encode()).hexdigest()
