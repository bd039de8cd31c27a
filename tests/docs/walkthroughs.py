"""The walk-throughs of CONTRIBUTING.md, done on a copy of the source.

A block with a title is a file: a new one, or, as a diff, a change to one that is there. The lines of a diff that have no
plus must stand in that file, together and once. Commands of shell blocks are run as their scripts would run them.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

import msgspec

from tests.docs.pages import FOLDER, Page

__all__ = ["ROOT", "Walkthrough", "apply", "command", "copy_source", "walkthroughs"]

ROOT = FOLDER.parent
_SCRIPTS = {"scripts/revision": ["tests.schema_drift", "--draft"], "scripts/test": ["pytest"]}


class Walkthrough(msgspec.Struct, frozen=True):
    name: str
    page: Page

    @property
    def commands(self) -> list[list[str]]:
        lines = [line for one in self.page.examples if one.language == "sh" for line in one.text.splitlines()]
        return [shlex.split(line) for line in lines]


def walkthroughs(text: str) -> list[Walkthrough]:
    parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    found = [part.partition("\n") for part in parts if part.startswith("Walk-through: ")]
    return [Walkthrough(head.removeprefix("Walk-through: "), Page(head, body)) for head, _, body in found]


def command(words: list[str]) -> list[str]:
    """What a script runs; the requirements that it sees to are there."""
    script, *arguments = words
    return [sys.executable, "-m", *_SCRIPTS[script], *arguments]


def copy_source(folder: Path) -> Path:
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def apply(walkthrough: Walkthrough, root: Path) -> None:
    for one in walkthrough.page.examples:
        if not one.title:
            continue
        path = root / one.title
        if one.language == "diff":
            path.write_text(_changed(path, one.text))
            continue
        assert not path.exists(), f"{one.title} is there already"
        path.parent.mkdir(exist_ok=True)
        path.write_text(one.text)


def _changed(path: Path, diff: str) -> str:
    lines = diff.splitlines(keepends=True)
    assert {line[0] for line in lines} == {" ", "+"}, diff
    before = "".join(line[1:] for line in lines if line[0] == " ")
    text = "\n" + path.read_text()
    assert text.count("\n" + before) == 1, f"{path} has this {text.count(before)} times:\n{before}"
    after = "".join(line[1:] for line in lines)
    return text.replace("\n" + before, "\n" + after)[1:]
