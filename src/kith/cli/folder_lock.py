"""One server at a time over an SQLite database: two would not hear of each other's writes.

The lock is the system's, so it ends with the process that holds it, however that ends. Commands beside a server do
not need it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import structlog

from kith.base.settings import BadSettings, Settings

__all__ = ["FolderLock"]

_LEFT = "LOCK_OF_KITH"  # by the program in whose place this one is


class FolderLock:
    """Held from `take` until the process ends; `for_next` leaves it to the program that this process becomes."""

    def __init__(self, settings: Settings) -> None:
        self._path = settings.sqlite_path.with_name(f"{settings.sqlite_path.name}.serving")
        self._handle = -1

    def take(self, environment: Mapping[str, str]) -> None:
        """Raises `BadSettings` where another server has it."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._handle = _left(environment, self._path)
        if self._handle < 0:
            self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BadSettings(
                f"{self._path.parent} is served by another process already (pid {self._holder()}): "
                "stop that one first, or set KITH_DATA to another folder"
            ) from error
        except OSError as error:  # not every network's file system has locks
            structlog.get_logger().warning("serve.no_lock", path=str(self._path), cause=error.strerror)
        with suppress(OSError):  # on a full disk nobody is told which process it is
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, f"{os.getpid()}\n".encode(), 0)

    def _holder(self) -> str:
        return os.pread(self._handle, 20, 0).decode("ascii", "replace").strip() or "unknown"

    def for_next(self) -> dict[str, str]:
        """The environment of the program that this process becomes."""
        os.set_inheritable(self._handle, True)
        return {_LEFT: str(self._handle)}


def _left(environment: Mapping[str, str], path: Path) -> int:
    """The descriptor that the program before this one has left, if it is of this file."""
    handle = int(environment.get(_LEFT, "-1"))
    if handle < 0:
        return -1
    os.set_inheritable(handle, False)
    if path.exists() and os.path.samestat(os.fstat(handle), path.stat()):
        return handle
    os.close(handle)
    return -1
