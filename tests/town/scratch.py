"""Where tests keep what is gone after them: in memory, where there is enough of it.

A server waits for the disk with every commit. What a test asks of it is the same without: tests kill processes, and
what a process has written stays for the next one. On a slow disk the waiting is most of a run.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

__all__ = ["use_memory"]

_MEMORY = Path("/dev/shm")
_NEEDED = 4 << 30  # bytes, several times what a run takes; what lies there takes memory from everybody


def use_memory() -> None:
    """For this process and those it starts, unless somebody has said where to."""
    if "TMPDIR" not in os.environ and _is_large_enough():
        os.environ["TMPDIR"] = str(_MEMORY)
        tempfile.tempdir = None  # asked for again


def _is_large_enough() -> bool:
    try:
        return os.access(_MEMORY, os.W_OK | os.X_OK) and min(shutil.disk_usage(_MEMORY).free, _available()) > _NEEDED
    except (OSError, StopIteration):
        return False


def _available() -> int:
    """Memory that nobody uses, of the machine or, where it is less, of the container."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    machine = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    group = Path("/sys/fs/cgroup")
    try:
        left = int((group / "memory.max").read_text()) - int((group / "memory.current").read_text())
    except (OSError, ValueError):  # there is no limit
        return machine
    return min(machine, left)
