"""Small disks that can be filled up: mounts in memory, each with a ballast file."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

__all__ = ["Disk"]

_PIECE = 1 << 20


class Disk:
    """A folder on a mount of its own, where this user may mount; else a plain folder that cannot be filled."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        words = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "kith-soak", str(folder)]
        self.is_small = subprocess.run(words, capture_output=True, check=False).returncode == 0
        self._ballast = folder / "ballast"

    def fill(self) -> None:
        """To the last byte, as one that writes until it is refused does."""
        with contextlib.suppress(OSError), self._ballast.open("ab", buffering=0) as file:
            for size in (_PIECE, 4096, 1):
                with contextlib.suppress(OSError):
                    while file.write(b"\0" * size):
                        pass

    def empty(self) -> None:
        self._ballast.unlink(missing_ok=True)

    @property
    def free(self) -> int:
        found = os.statvfs(self.folder)
        return found.f_bavail * found.f_frsize

    def close(self) -> None:
        if self.is_small:
            self.empty()
            subprocess.run(["umount", "-l", str(self.folder)], capture_output=True, check=False)
            self.is_small = False
