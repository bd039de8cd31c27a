"""Failures an operator can act on, in one line each."""

from __future__ import annotations

import sqlite3

import asyncpg

from kith.backup.failures import BackupFailed
from kith.base.errors import Invalid, Problem
from kith.base.settings import BadSettings


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
    if isinstance(error, (OSError, ValueError)):
        return f"{type(error).__name__}: {error}"
    return None
