"""What can go wrong with backups, in words for whoever runs the server."""

from __future__ import annotations

__all__ = ["BackupFailed", "BadRepository", "Damaged", "NoRoom", "NotEmpty", "RehearsalFailed", "RepositoryInUse"]


class BackupFailed(Exception):  # noqa: N818 - what is told of it
    """The message says what is the matter, and what to do."""


class BadRepository(BackupFailed):
    """It is not there, not readable, or not to be trusted."""


class Damaged(BackupFailed):
    """What is stored is not what was written, or was written with another key."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is missing or damaged: `kith backup verify` says which backups need it")


class RepositoryInUse(BackupFailed):
    """Somebody else writes to the repository."""


class NoRoom(BackupFailed):
    """There is no room for the copy of the database."""


class NotEmpty(BackupFailed):
    """There is something where the backup is to go."""


class RehearsalFailed(BackupFailed):
    """The backup is of no use as it is, or could not be tried."""
