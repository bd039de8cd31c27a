"""What the server itself says of an encrypted message, sealed: who sent it, to whom, when, and with which digest.

A recipient who reports a message hands the seal back with it. Only this server can open it, so neither side can
invent a message of the other. The key is another one each week; a seal can be opened for three weeks after its own.
"""

from __future__ import annotations

import base64
import secrets
from datetime import UTC, datetime, timedelta

import msgspec

from kith.base import crypto

KEPT = timedelta(weeks=3)
_VERSION = b"\x01"
_NONCE = 12
_FIRST = datetime(2020, 1, 6, tzinfo=UTC)
_LONGEST = 32_768  # one seal may hold another, of the sender's server


class Franking(msgspec.Struct, frozen=True):
    hmac: str
    source_account_id: int
    target_account_id: int
    timestamp: datetime
    original_franking: str | None = None


def seal(secret: bytes, franking: Franking, now: datetime) -> str:
    week = _week(now)
    nonce = secrets.token_bytes(_NONCE)
    head = _VERSION + week.to_bytes(4)
    sealed = crypto.AESGCM(_key(secret, week)).encrypt(nonce, msgspec.json.encode(franking), head)
    return base64.urlsafe_b64encode(head + nonce + sealed).rstrip(b"=").decode()


def open_seal(secret: bytes, text: str, now: datetime) -> Franking | None:
    """None for what this server has not sealed, or sealed too long ago."""
    if len(text) > _LONGEST or not text.isascii():
        return None
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        head, nonce, sealed = raw[:5], raw[5 : 5 + _NONCE], raw[5 + _NONCE :]
        week = int.from_bytes(head[1:])
        if head[:1] != _VERSION or not _week(now - KEPT) <= week <= _week(now):
            return None
        said = crypto.AESGCM(_key(secret, week)).decrypt(nonce, sealed, head)
    except (ValueError, crypto.InvalidTag):
        return None
    return msgspec.json.decode(said, type=Franking)


def _week(now: datetime) -> int:
    return (now - _FIRST) // timedelta(weeks=1)


def _key(secret: bytes, week: int) -> bytes:
    """One key for each week, made of the server's own secret."""
    return crypto.HKDF(crypto.hashes.SHA256(), 32, salt=None, info=b"message franking %d" % week).derive(secret)
