"""The server's own secrets: files in the data folder, made on first start, readable by its owner alone."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

__all__ = ["NAMES", "Keys"]

NAMES = ("session", "signing", "encryption", "vapid")
SIZE = 32


class Keys:
    """`session` guards forms and cookies, `signing` one-time links, `encryption` what is stored encrypted.

    With `vapid` the server names itself to those who carry its push messages (base/vapid.py).
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.session, self.signing, self.encryption, self.vapid = (
            _read_or_make(folder / f"{name}.key") for name in NAMES
        )


def _read_or_make(path: Path) -> bytes:
    """Race-safe: whoever comes first writes the whole key under another name and links it into place."""
    if not path.exists():
        draft = path.with_suffix(f".{os.getpid()}-{secrets.token_hex(4)}")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(handle, secrets.token_bytes(SIZE))
            os.fsync(handle)
        finally:
            os.close(handle)
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        _flush(path.parent)
    key = path.read_bytes()
    if len(key) != SIZE:
        raise ValueError(f"{path} is not a key of {SIZE} bytes; restore it from a backup")
    return key


def _flush(folder: Path) -> None:
    """A name is on disk once its folder is; what a lost key has encrypted is lost with it."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
