"""What a browser fetches to show a page for the first time: at most 60 KB of styles and scripts, compressed, in all."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

import kith.web

FOLDER = Path(kith.web.__file__).parent
MOST = 60_000
_ASSET = re.compile(r'asset\("([^"]+\.(?:css|js))"\)')
# What a module brings along at once; `import("./x.js")` is fetched when it is needed.
_IMPORT = re.compile(r'^\s*(?:import|export)\s+(?:[^"\';]*?\s+from\s+)?["\'](\.{1,2}/[^"\']+)["\']', re.MULTILINE)


def fetched(name: str, known: dict[str, bytes] | None = None) -> dict[str, bytes]:
    """This file, and the modules that it imports."""
    known = {} if known is None else known
    path = (FOLDER / "static" / name).resolve()
    if str(path) not in known:
        body = known[str(path)] = path.read_bytes()
        for module in _IMPORT.findall(body.decode()) if path.suffix == ".js" else ():
            fetched(str((path.parent / module).resolve()), known)
    return known


def weight(frame: str) -> int:
    files: dict[str, bytes] = {}
    for name in _ASSET.findall((FOLDER / "templates" / frame).read_text()):
        fetched(name, files)
    assert files
    return sum(len(gzip.compress(body, 9, mtime=0)) for body in files.values())


@pytest.mark.parametrize("frame", ["client/frame.html", "admin/frame.html", "base.html"])
def test_styles_and_scripts_are_small(frame: str) -> None:
    assert weight(frame) <= MOST


def test_modules_are_followed_and_those_for_later_are_not() -> None:
    names = {Path(name).name for name in fetched("client/main.js")}
    assert {"main.js", "api.js", "feed.js", "times.js"} <= names
    later = re.findall(r'import\("\./([^"]+)"\)', (FOLDER / "static/client/main.js").read_text())
    assert not names & set(later)
