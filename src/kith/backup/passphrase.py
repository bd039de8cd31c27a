"""The key that backups are encrypted with: any text or bytes, in a file or in the environment."""

from __future__ import annotations

import stat
from pathlib import Path

from kith.base.settings import BadSettings, Settings

__all__ = ["find_key_file", "find_passphrase", "told_exposed"]

SHORTEST = 12


def find_passphrase(settings: Settings, key_file: Path | None = None) -> bytes | None:
    path = find_key_file(settings, key_file)
    if path is None:
        found = settings.backup_key.encode()
        where = "KITH_BACKUP_KEY"
        if not found:
            return None
    else:
        try:
            found, where = path.read_bytes().rstrip(b"\r\n"), str(path)
        except OSError as error:
            raise BadSettings(f"the key of backups at {path} cannot be read: {error.strerror}") from error
    if len(found) < SHORTEST:
        raise BadSettings(f"{where} holds fewer than {SHORTEST} bytes: whoever tries can guess that")
    return found


def find_key_file(settings: Settings, key_file: Path | None = None) -> Path | None:
    return key_file or (Path(settings.backup_key_file) if settings.backup_key_file else None)


def told_exposed(path: Path | None) -> str | None:
    """Words of warning where every user of the machine may read or change the file."""
    if path is None or not path.is_file():
        return None
    mode = stat.S_IMODE(path.stat().st_mode)
    return f"every user of this machine can read {path} (mode {mode:04o})" if mode & 0o007 else None
