"""Programs of Debian that tests run against: installed when they are missing, where that is possible."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

LONGEST = 600  # seconds, for a slow mirror


def need(path: str, *packages: str) -> str:
    """The path of a program or library. Who cannot have it fails, and is told what to install."""
    if not Path(path).exists() and os.getuid() == 0 and shutil.which("apt-get"):
        words = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(words, check=False, capture_output=True, timeout=LONGEST, env=quiet)
    assert Path(path).exists(), f"{path} is missing: install Debian's {' and '.join(packages)} as root"
    return path
