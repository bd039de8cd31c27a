"""The folder with blueprint files: which there are, and what stands in them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from kith.base.settings import Settings
from kith.identity.blueprints.outside import OutsideValues
from kith.identity.blueprints.reading import FROM_DISK
from kith.identity.blueprints.sealed import FileSealer
from kith.identity.blueprints.tags import BadBlueprint

__all__ = ["BlueprintFile", "content_hash", "file_sealer", "folder_of", "found_files", "outside_of", "read_file"]

MOST_FILES = 1000
DEEPEST = 5
_ENDINGS = (".yaml", ".yml")


class BlueprintFile(msgspec.Struct, frozen=True):
    """`path` is below the folder; `size` and `changed_at` are enough to see that another file is there."""

    path: str
    size: int
    changed_at: datetime


def folder_of(settings: Settings) -> Path:
    return Path(settings.blueprints) if settings.blueprints else settings.data / "blueprints"


def found_files(folder: Path) -> list[BlueprintFile]:
    """In the order of their names, in which they are applied. Hidden ones and links to elsewhere are not looked at."""
    return sorted(_walk(folder, "", 0), key=lambda one: one.path)[:MOST_FILES]


def _walk(folder: Path, below: str, depth: int) -> Iterator[BlueprintFile]:
    try:
        entries = list(os.scandir(folder / below))
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        path = f"{below}/{entry.name}" if below else entry.name
        if entry.is_dir(follow_symlinks=False):
            if depth < DEEPEST:
                yield from _walk(folder, path, depth + 1)
        elif entry.name.lower().endswith(_ENDINGS) and entry.is_file():
            try:
                facts = entry.stat()
            except OSError:
                continue
            yield BlueprintFile(path, facts.st_size, datetime.fromtimestamp(facts.st_mtime, UTC))


def read_file(folder: Path, path: str) -> bytes:
    """Raises `BadBlueprint` where there is no such file below the folder: other files there are for `!File`."""
    missing = BadBlueprint("Blueprint file does not exist")
    if not path.lower().endswith(_ENDINGS):
        raise missing
    try:
        resolved = (folder / path).resolve()
        if not path or "\0" in path or not resolved.is_relative_to(folder.resolve()) or not resolved.is_file():
            raise missing
        if resolved.stat().st_size > FROM_DISK.bytes:
            raise BadBlueprint(f"the file is larger than {FROM_DISK.bytes >> 20} MB")
        return resolved.read_bytes()
    except (OSError, ValueError):
        raise missing from None


def content_hash(content: bytes) -> str:
    return hashlib.sha512(content).hexdigest()


def outside_of(settings: Settings, *, is_open: bool, is_shut: bool = False) -> OutsideValues:
    return OutsideValues(folder_of(settings), is_open=is_open, is_shut=is_shut)


def file_sealer(settings: Settings) -> FileSealer | None:
    """What opens sealed values of files in the folder, where the operator has said."""
    if not settings.blueprints_key:
        return None
    try:
        return FileSealer(Path(settings.blueprints_key).read_bytes())
    except OSError as error:
        raise BadBlueprint(f"the key file of KITH_BLUEPRINTS_KEY cannot be read: {error.strerror}") from None
