"""The README and the pages of docs/, and the examples on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import msgspec

__all__ = ["FOLDER", "Example", "Page", "all_pages"]

FOLDER = Path(__file__).parent.parent.parent / "docs"
_FENCE = re.compile(
    r"^(?P<indent> *)(?:<!-- not run: (?P<why>[^\n]+?) -->\n(?P=indent))?```(?P<language>\w*)(?P<rest>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
_SET = re.compile(r"^([A-Z]+)=(http\S+)$", re.MULTILINE)


class Example(msgspec.Struct, frozen=True):
    """`why` it is not run; `title` is the file that the reader is told to make of it."""

    language: str
    text: str
    why: str
    title: str


class Page(msgspec.Struct, frozen=True):
    name: str
    text: str

    @property
    def examples(self) -> list[Example]:
        return [
            Example(found["language"], dedent(found["text"]), found["why"] or "", _title(found["rest"]))
            for found in _FENCE.finditer(self.text)
        ]

    @property
    def plain(self) -> str:
        """With the addresses that its examples keep in variables."""
        text = self.text
        for name, address in _SET.findall(text):
            text = text.replace(f"${name}/", f"{address}/")
        return text


def _title(rest: str) -> str:
    found = re.search(r'title="([^"]+)"', rest)
    return found[1] if found else ""


def all_pages() -> Iterator[Page]:
    """Decisions tell of their time and are not held to this one."""
    yield Page("README.md", (FOLDER.parent / "README.md").read_text())
    for path in sorted(FOLDER.rglob("*.md")):
        name = str(path.relative_to(FOLDER))
        if not name.startswith(("decisions/", "pictures/")):
            yield Page(name, path.read_text())
