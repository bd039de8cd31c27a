"""A clock that jumps and a disk that is slow, for one process: a small library that is loaded before all others."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

__all__ = ["Control", "build"]

_SOURCE = Path(__file__).with_name("shim.c")
_NUMBERS = struct.Struct("=qq")


def build(folder: Path) -> Path | None:
    """The library, where this machine can compile it; without it clocks stay right and disks quick."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    made = folder / "shim.so"
    words = [compiler, "-O2", "-shared", "-fPIC", "-o", str(made), str(_SOURCE), "-ldl"]
    done = subprocess.run(words, capture_output=True, check=False)
    if done.returncode:
        return None
    made.chmod(0o755)
    return made


class Control:
    """What the library is told, by a file that it has mapped: it hears of changes at once."""

    def __init__(self, library: Path | None, file: Path) -> None:
        self._library, self._file = library, file
        file.write_bytes(_NUMBERS.pack(0, 0))
        file.chmod(0o644)
        self.clock_seconds = 0.0
        self.flush_seconds = 0.0

    @property
    def environment(self) -> dict[str, str]:
        if self._library is None:
            return {}
        return {"LD_PRELOAD": str(self._library), "SOAK_SHIM": str(self._file)}

    def tell(self, *, clock_seconds: float | None = None, flush_seconds: float | None = None) -> None:
        if clock_seconds is not None:
            self.clock_seconds = clock_seconds
        if flush_seconds is not None:
            self.flush_seconds = flush_seconds
        with self._file.open("r+b") as file:  # in place: the mapping is of this very file
            file.write(_NUMBERS.pack(int(self.clock_seconds * 1e9), int(self.flush_seconds * 1e6)))
