"""Under which names files are kept: nobody can guess one, and all of one thing lie in one folder."""

from __future__ import annotations

import secrets
from pathlib import PurePosixPath

__all__ = [
    "MIMES",
    "PUBLIC",
    "UPLOADS",
    "folder_of",
    "id_of_folder",
    "id_of_upload",
    "mime_of",
    "new_name",
    "upload_key",
]

PUBLIC = frozenset({"attachments", "avatars", "headers", "cards", "emojis", "site"})
UPLOADS = "uploads"

MIMES = {
    "jpg": "image/jpeg",
    "png": "image/png",
    "webp": "image/webp",
    "gif": "image/gif",
    "mp4": "video/mp4",
    "mp3": "audio/mpeg",
}


def folder_of(shelf: str, id: int) -> str:
    """The folder of one thing: its id in three parts, so that no folder grows without end."""
    digits = f"{id:018d}"
    return f"{shelf}/{digits[:-12]}/{digits[-12:-6]}/{digits[-6:]}"


def id_of_folder(key: str) -> int | None:
    """Of which thing a file is, by the folder it lies in."""
    parts = key.split("/")[1:4]
    return int("".join(parts)) if len(parts) == 3 and all(one.isdigit() and one.isascii() for one in parts) else None


def new_name() -> str:
    return secrets.token_hex(16)


def upload_key(id: int, name: str) -> str:
    """Where a file waits until it is processed. Nobody is served from there."""
    return f"{UPLOADS}/{id}/{name}"


def id_of_upload(key: str) -> int | None:
    parts = key.split("/")
    return int(parts[1]) if len(parts) == 3 and parts[1].isdigit() else None


def mime_of(key: str) -> str:
    """By the ending, which is ours and not the sender's."""
    return MIMES.get(PurePosixPath(key).suffix[1:], "application/octet-stream")
