"""Which Python the scripts take, and what they say where there is none that will do."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_ANSWER = r"""#!/bin/sh
case "$2" in
    *version_info\[:2*) printf ' (python3 is 3.9)' ;;
    *v\[1\]*) echo {minor} ;;
    *ensurepip*) exit {venv} ;;
esac
"""


def _pythons(folder: Path, **minors: int | tuple[int, int]) -> None:
    """Programs that answer like a Python of that version; the second number: whether it lacks venv."""
    folder.mkdir()
    for tool in ("dirname", "grep", "sort"):
        (folder / tool).symlink_to(str(shutil.which(tool)))
    for name, minor in minors.items():
        number, venv = minor if isinstance(minor, tuple) else (minor, 0)
        program = folder / name.replace("_", ".")
        program.write_text(_ANSWER.format(minor=number, venv=venv))
        program.chmod(0o755)


def _find(folder: Path) -> subprocess.CompletedProcess[str]:
    words = f'. "{ROOT}/scripts/.env.sh"; PATH={folder}; find_python; echo "$PYTHON"'
    bash = str(shutil.which("bash"))
    return subprocess.run([bash, "-euc", words], check=False, capture_output=True, text=True, env={"PATH": str(folder)})


@pytest.mark.parametrize(
    ("pythons", "taken"),
    [
        ({"python3": 13, "python3_11": 11, "python3_13": 13}, "python3.11"),
        ({"python3": 9, "python3_12": 12, "python3_13": 13}, "python3.13"),
        ({"python3": 14}, "python3"),
        ({"python": 12}, "python"),
    ],
)
def test_the_scripts_take_the_tested_python_or_the_newest(pythons: dict[str, int], taken: str, tmp_path: Path) -> None:
    _pythons(tmp_path / "bin", **pythons)

    assert _find(tmp_path / "bin").stdout == f"{taken}\n"


@pytest.mark.parametrize(
    ("pythons", "words"),
    [
        ({"python3": 9}, "3.11 or newer; none was found on the PATH (python3 is 3.9)"),
        ({}, "3.11 or newer; none was found on the PATH."),
        ({"python3": (12, 1)}, "apt install python3.12-venv"),
    ],
)
def test_what_is_missing_is_said(pythons: dict[str, int | tuple[int, int]], words: str, tmp_path: Path) -> None:
    _pythons(tmp_path / "bin", **pythons)

    done = _find(tmp_path / "bin")

    assert done.returncode == 1
    assert words in done.stderr
