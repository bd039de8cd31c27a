"""The key that backups are encrypted with: any text or bytes, in a file or in the environment."""

from __future__ import annotations

from pathlib import Path

from kith.base.settings import BadSettings, Settings

__all__ = ["find_passphrase"]

SHORTEST = 12


def find_passphrase(settings: Settings, key_file: Path | None = None) -> bytes | None:
    path = key_file or (Path(settings.backup_key_file) if settings.backup_key_file else None)
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
