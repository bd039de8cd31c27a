"""Programs of others that tests speak with: found, or installed from Debian where they are missing."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

__all__ = ["find_program"]

_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def find_program(name: str, package: str) -> str:
    """Where a program is. A test that cannot get it fails here, and says why."""
    found = shutil.which(name, path=_PATH)
    if found is None and os.getuid() == 0 and shutil.which("apt-get"):
        with Path(tempfile.gettempdir(), "kith-tests-apt.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # several processes of tests may want something at once
            _install(package)
        found = shutil.which(name, path=_PATH)
    assert found is not None, f"{name} is missing, and Debian's package {package} could not be installed"
    return found


def _install(package: str) -> None:
    words = ["apt-get", "install", "-y", "-q", "--no-install-recommends", package]
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(words, check=False, capture_output=True, env=environment)
    if done.returncode:  # what Debian offers may not be known here yet
        subprocess.run(["apt-get", "update", "-q"], check=False, capture_output=True)
        subprocess.run(words, check=False, capture_output=True, env=environment)
