"""Checks of the key pairs that a source refers to."""

from __future__ import annotations

from typing import Any

from kith.identity.crypto import keypairs
from kith.identity.rest import RecordDraft


async def check_private_key(draft: RecordDraft[Any], name: str) -> None:
    """The key pair must have a private key."""
    pair = await keypairs.find(draft.work, draft.values[name]) if draft.sets(name) and draft.values[name] else None
    if pair is not None and not pair.private_key_available:
        draft.complain(name, "This key pair has no private key.")
