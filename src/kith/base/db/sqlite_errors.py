"""What SQLite's errors mean to whoever asked: taken, dangling, no room, or try again."""

from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path

from kith.base.db.errors import Dangling, Taken, columns_of
from kith.base.errors import NoSpace, Unavailable, is_no_room

__all__ = ["in_our_words", "is_busy", "is_interrupted", "rolled_back"]

TRIAL_BYTES = 256 << 10
_TRANSIENT = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_READONLY,  # the disk was mounted so, or the file's rights were taken away
)
# What writing meets where a quota or a limit ends, and with other faults: by the part of it that fails, pages, the
# log, its index, the flush.
_MAYBE_NO_ROOM = (
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_FSYNC,
    sqlite3.SQLITE_IOERR_DIR_FSYNC,
    sqlite3.SQLITE_IOERR_TRUNCATE,
    sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_SHMOPEN,
)


def is_interrupted(error: sqlite3.Error) -> bool:
    """Whether the statement was ended while it was at work."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF == sqlite3.SQLITE_INTERRUPT


def _has_no_room(error: BaseException, path: Path) -> bool:
    code = getattr(error, "sqlite_errorcode", None) or 0
    return code & 0xFF == sqlite3.SQLITE_FULL or (code in _MAYBE_NO_ROOM and _is_full(path))


def _is_full(path: Path) -> bool:
    """Whether a little more can be written beside the database, as far into a file as into the longest of its own."""
    trial = path.with_name(f"{path.name}-trial")
    try:
        end = max(one.stat().st_size for one in (path, path.with_name(f"{path.name}-wal")) if one.exists())
        handle = os.open(trial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            written = os.pwrite(handle, bytes(TRIAL_BYTES), end)
            os.fsync(handle)
        finally:
            os.close(handle)
            trial.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        return is_no_room(error)
    return written < TRIAL_BYTES  # the rest did not fit


def rolled_back(cause: BaseException | None, path: Path) -> Unavailable:
    """For everybody whose part of a transaction is gone with it."""
    if cause is not None and (isinstance(cause, NoSpace) or _has_no_room(cause, path)):
        return NoSpace()
    return Unavailable("The transaction was rolled back")


def in_our_words(error: sqlite3.Error, path: Path) -> Exception:
    if _has_no_room(error, path):
        return NoSpace()
    if isinstance(error, sqlite3.IntegrityError):
        return _clash(error)
    if isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode & 0xFF in _TRANSIENT:
        return Unavailable()
    return error


def is_busy(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


_UNIQUE = re.compile(r"UNIQUE constraint failed: (?:index '(?P<index>[^']+)'|(?P<columns>.+))")


def _clash(error: sqlite3.IntegrityError) -> Exception:
    found = _UNIQUE.match(str(error))
    if found and found["index"]:
        return Taken(*columns_of(found["index"]))
    if found:
        names = [name.strip().split(".", 1) for name in found["columns"].split(",")]
        return Taken(names[0][0], tuple(column for _, column in names))
    if "FOREIGN KEY" in str(error):
        return Dangling()
    return error
