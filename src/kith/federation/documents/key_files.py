"""Keys as files in the data folder: one per person, made when first asked for, off the event loop."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from kith.base.work import Work
from kith.social.ids import AccountId

__all__ = ["KeyFiles"]

BITS = 2048
FOLDER = "federation_keys"


class KeyFiles:
    """Reads a file each time; nothing is kept in memory."""

    async def public_key(self, work: Work, owner: AccountId | None) -> str:
        return await asyncio.to_thread(_public, work.settings.data / FOLDER / f"{owner or 'server'}.pem")


def _public(path: Path) -> str:
    """Whoever makes a file first wins; a half-written one is never seen."""
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - loaded when first used
    from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: PLC0415

    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        key = rsa.generate_private_key(65537, BITS)
        made = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        fresh = path.with_suffix(f".{os.urandom(8).hex()}")
        fresh.touch(mode=0o600)
        fresh.write_bytes(made)
        try:
            os.link(fresh, path)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    private = serialization.load_pem_private_key(path.read_bytes(), None)
    shape = serialization.PublicFormat.SubjectPublicKeyInfo
    return private.public_key().public_bytes(serialization.Encoding.PEM, shape).decode()
