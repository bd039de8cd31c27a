"""Sending somebody to a source, and knowing them again when they come back.

What is sent along is a random key. It counts once, for the source and the browser it was made for, and for half an
hour: so an answer cannot be given to another source or put into another person's browser.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import Literal

import msgspec

from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.sources import store

LIFE = timedelta(minutes=30)
PLACE = "identity_source_attempts.data"
Purpose = Literal["sign_in", "link", "again"]


class SourceAttempt(msgspec.Struct, kw_only=True):
    """`purpose`: signing in, linking to the account of `user_id`, or signing in again as somebody who is signed in.

    The rest is what the kind of source needs when they come back.
    """

    purpose: Purpose = "sign_in"
    user_id: int | None = None
    next: str = ""
    secrets: dict[str, str] = {}


def new_key() -> str:
    return secrets.token_urlsafe(32)


def hash_key(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


async def begin(work: Work, source: str, session_uuid: str, attempt: SourceAttempt, key: str) -> None:
    sealed = work.find(Sealer).seal(msgspec.json.encode(attempt).decode(), PLACE)
    await store.add_attempt(work.db, hash_key(key), source, session_uuid, sealed, work.now + LIFE)


async def claim(work: Work, source: str, session_uuid: str, key: str) -> SourceAttempt | None:
    """The attempt with this key, which is used up; None if it is unknown, too old or was made elsewhere."""
    if not 0 < len(key) <= 200:
        return None
    sealed = await store.claim_attempt(work.db, hash_key(key), source, session_uuid, work.now)
    if sealed is None:
        return None
    return msgspec.json.decode(work.find(Sealer).open(sealed, PLACE), type=SourceAttempt)
