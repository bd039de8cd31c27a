"""Stops the tests' PostgreSQL when the last process that used it is gone, however it went.

Its one argument is the folder that these processes share; each has a file there, by its process id.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import sys
import time
from pathlib import Path


def watch(folder: Path) -> None:
    while True:
        time.sleep(1)
        with (folder / "lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if not _users(folder / "users"):
                _stop(folder / "data")
                return


def _users(folder: Path) -> list[Path]:
    for user in folder.iterdir():
        if not Path(f"/proc/{user.name}").exists():
            user.unlink()
    return list(folder.iterdir())


def _stop(data: Path) -> None:
    pid = int((data / "postmaster.pid").read_text().splitlines()[0])
    os.kill(pid, signal.SIGQUIT)
    while Path(f"/proc/{pid}").exists():
        time.sleep(0.05)
    shutil.rmtree(data, ignore_errors=True)


if __name__ == "__main__":
    watch(Path(sys.argv[1]))
