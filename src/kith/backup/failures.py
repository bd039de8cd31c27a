"""What can go wrong with backups, in words for whoever runs the server."""

from __future__ import annotations

from kith.base.errors import NoSpace, is_no_room
from kith.base.settings import BadSettings

__all__ = [
    "BackupFailed",
    "BadRepository",
    "Damaged",
    "NoRoom",
    "NotEmpty",
    "RehearsalFailed",
    "RepositoryInUse",
    "in_plain_words",
]


class BackupFailed(Exception):  # noqa: N818 - what is told of it
    """The message says what is the matter, and what to do; `plain` says it without a path or an address."""

    plain = "The backup failed."


class BadRepository(BackupFailed):
    """It is not there, not readable, or not to be trusted."""

    plain = "The place for backups is not there, cannot be read, or is not to be trusted."


class Damaged(BackupFailed):
    """What is stored is not what was written, or was written with another key."""

    plain = "A part of the backup is missing or damaged."

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is missing or damaged: `kith backup verify` says which backups need it")


class RepositoryInUse(BackupFailed):
    """Somebody else writes to the repository."""


class NoRoom(BackupFailed):
    """There is no room for the copy of the database."""

    plain = "There is no room left for it."


class NotEmpty(BackupFailed):
    """There is something where the backup is to go."""

    plain = "There is something where it is to go."


class RehearsalFailed(BackupFailed):
    """The backup is of no use as it is, or could not be tried."""

    plain = "The backup is of no use as it is, or could not be tried."


def in_plain_words(failure: Exception) -> str:
    """What kind of failure it was, for those who see how backups went; what exactly, is told in the log alone."""
    if isinstance(failure, BackupFailed):
        words = failure.plain
    elif isinstance(failure, NoSpace) or is_no_room(failure):
        words = NoRoom.plain
    elif isinstance(failure, BadSettings):
        words = "The settings of backups are not right."
    elif isinstance(failure, OSError):
        words = "A file or a connection failed."
    else:
        words = BackupFailed.plain
    return f"{words} The log says more."
