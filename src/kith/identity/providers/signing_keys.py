"""Checks of the key pairs that a provider refers to."""

from __future__ import annotations

from typing import Any

from kith.identity.crypto import keypairs
from kith.identity.rest import RecordDraft


async def check_signing_key(draft: RecordDraft[Any], name: str, types: tuple[str, ...]) -> None:
    """The key pair must have a private key of one of these types."""
    pair = await keypairs.find(draft.work, draft.values[name]) if draft.sets(name) and draft.values[name] else None
    if pair is not None and not pair.private_key_available:
        draft.complain(name, "This key pair has no private key.")
    elif pair is not None:
        check_key_type(draft, name, pair.key_type, types)


def check_key_type(draft: RecordDraft[Any], name: str, key_type: str | None, types: tuple[str, ...]) -> None:
    if key_type not in types:
        draft.complain(name, f"Only keys of these types can be used here: {', '.join(types)}.")


async def key_type_of(draft: RecordDraft[Any], name: str) -> str | None:
    """The type of the key pair in a field; None without one, or if the type is unknown."""
    kp_uuid = draft.value(name)
    pair = await keypairs.find(draft.work, kp_uuid) if kp_uuid is not None else None
    return pair.key_type if pair is not None else None
