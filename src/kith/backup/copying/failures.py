"""What can go wrong when rows go to another kind of database."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.backup.failures import BackupFailed, NotEmpty

__all__ = ["BadRow", "BadRows", "BadTarget", "NotAsItWas", "OtherMove", "SourceInUse"]

TOLD = 20


class SourceInUse(BackupFailed):
    """Somebody writes to what is to be moved."""

    plain = "A server uses the database."


class BadTarget(BackupFailed):
    """Nothing can be moved there: it does not answer, say."""

    plain = "The other database cannot be used."


class OtherMove(NotEmpty):
    """What a move has left there that is not this one."""


class NotAsItWas(BackupFailed):
    """What was copied is not what there is; it is left for whoever wants to look, and no server starts on it."""

    plain = "The copy is not what was copied."


class BadRow(msgspec.Struct, frozen=True):
    """A row that the other database does not take, and what it says of it."""

    table: str
    key: dict[str, Any]
    reason: str

    def __str__(self) -> str:
        return f"{self.table}, {', '.join(f'{name} {value}' for name, value in self.key.items())}: {self.reason}"


class BadRows(BackupFailed):
    """Some of them; there may be more."""

    plain = "There are rows that the other database does not take."

    def __init__(self, rows: list[BadRow], *, has_nul: bool) -> None:
        lines = ["the other database does not take these rows:", *(f"  {row}" for row in rows[:TOLD])]
        if has_nul:
            lines.append("PostgreSQL knows no NUL characters: --drop-nul leaves them out of the texts.")
        super().__init__("\n".join(lines))
        self.rows = rows
