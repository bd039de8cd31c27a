"""Failures an operator can act on, in one line each."""

from __future__ import annotations

import errno
import sqlite3

import asyncpg

from kith.backup.failures import BackupFailed
from kith.base.errors import Invalid, Problem
from kith.base.settings import BadSettings

_MENDS = {
    errno.EROFS: "the file system can only be read; KITH_DATA says where the data folder is",
    errno.EACCES: "start it as the user to whom that belongs, or let this one read and write there",
    errno.EPERM: "start it as the user to whom that belongs, or let this one read and write there",
    errno.ENOSPC: "make room on the disk",
    errno.ENOENT: "is it spelled right?",
    errno.ENOTDIR: "a folder is needed there",
    errno.EEXIST: "a folder is needed there, not a file",
    errno.ECONNREFUSED: "nothing answers there",
}


def words_for(error: Exception) -> str | None:
    if isinstance(error, (BadSettings, BackupFailed)):
        return str(error)
    if isinstance(error, Invalid) and error.fields:
        return "; ".join(f"{name}: {' '.join(words)}" for name, words in error.fields.items())
    if isinstance(error, Problem) and error.status < 500:
        return error.message
    if isinstance(error, Problem):
        cause = error.__cause__
        return f"{error.message} ({cause})" if cause else error.message
    if isinstance(error, BrokenPipeError):
        return ""
    if isinstance(error, sqlite3.DatabaseError):
        return f"SQLite: {error}"
    if isinstance(error, (asyncpg.PostgresError, asyncpg.InterfaceError)):
        return f"PostgreSQL: {str(error).splitlines()[0]}"
    if isinstance(error, OSError):
        return _of_the_system(error)
    if isinstance(error, ValueError):
        return f"{type(error).__name__}: {error}"
    return None


def _of_the_system(error: OSError) -> str:
    """What the system refuses, and what to do about it; `filename` is what it was asked for."""
    what = f"{error.filename}: " if error.filename else ""
    said = error.strerror or str(error)
    mend = _MENDS.get(error.errno or 0)
    return f"{what}{said}{f' ({mend})' if mend else ''}"
