"""Programs of Debian that tests run against: installed when they are missing, where that is possible."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

__all__ = ["find_program", "need"]

LONGEST = 600  # seconds, for a slow mirror
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def need(path: str, *packages: str) -> str:
    """The path of a program or library. Who cannot have it fails, and is told what to install."""
    if not Path(path).exists():
        _install(path, packages)
    assert Path(path).exists(), f"{path} is missing: install Debian's {' and '.join(packages)} as root"
    return path


def find_program(name: str, package: str) -> str:
    """Where a program is, whatever folder that may be."""
    if shutil.which(name, path=_PATH) is None:
        _install(f"/usr/bin/{name}", [package])
    found = shutil.which(name, path=_PATH)
    assert found is not None, f"{name} is missing: install Debian's {package} as root"
    return found


def _install(path: str, packages: tuple[str, ...] | list[str]) -> None:
    """By one process at a time: several may want the same at once."""
    if os.getuid() != 0 or not shutil.which("apt-get"):
        return
    with Path(tempfile.gettempdir(), "kith-tests-apt.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not Path(path).exists() and _apt("install", "-y", "--no-install-recommends", *packages):
            _apt("update")  # what Debian offers was not known here yet
            _apt("install", "-y", "--no-install-recommends", *packages)


def _apt(*words: str) -> int:
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(["apt-get", *words], check=False, capture_output=True, timeout=LONGEST, env=quiet)
    return done.returncode
