"""What a stranger reads first is short, whole and true: the README, the map, the reference, the decisions, the licence."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kith import __version__
from kith.base.settings import Settings
from kith.cli import COMMANDS
from tests.pictures import FOLDER, SHOTS
from tests.reference_pages import setting_words

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
DECISIONS = ROOT / "docs" / "decisions"
CACHES = {"UntilWritten", "ByVersion", "ForAWhile"}
# As the Free Software Foundation publishes it: https://www.gnu.org/licenses/agpl-3.0.txt
AGPL = "0d96a4ff68ad6d4b6f1f30f713b18d5184912ba8dd389f86aa7710db079abcb0"
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_STATE = r"In force(?:; .+)?|Replaced by \[\d{4}\]\([\w-]+\.md\)"


@pytest.mark.parametrize(("name", "lines"), [("README.md", 120), ("ARCHITECTURE.md", 200)])
def test_what_is_read_first_is_short(name: str, lines: int) -> None:
    assert len((ROOT / name).read_text().splitlines()) <= lines


def test_the_reference_says_what_every_setting_means_and_speaks_of_no_other() -> None:
    words = setting_words()

    assert sorted(words) == sorted(Settings.__struct_fields__)
    assert [name for name, (_, meaning) in words.items() if not meaning] == []


def test_the_reference_lists_every_command_and_no_other() -> None:
    page = (ROOT / "docs" / "reference" / "commands.md").read_text()

    assert re.findall(r"^\| \[`kith ([a-z]+)`\]", page, re.MULTILINE) == list(COMMANDS)
    assert re.findall(r"^## kith ([a-z]+)$", page, re.MULTILINE) == list(COMMANDS)


def _cache_names() -> Iterator[str]:
    for path in sorted((ROOT / "src" / "kith").rglob("*.py")):
        text = path.read_text()
        if any(kind in text for kind in CACHES):
            for node in ast.walk(ast.parse(text)):
                yield from _names_given(node)


def _names_given(node: ast.AST) -> Iterator[str]:
    """The names of caches that a call makes, or that a class of caches gives itself."""
    if isinstance(node, ast.ClassDef) and any(ast.unparse(base).split("[")[0] in CACHES for base in node.bases):
        made = [one for one in ast.walk(node) if isinstance(one, ast.Call) and "super().__init__" in ast.unparse(one)]
    elif isinstance(node, ast.Call) and ast.unparse(node.func).split("[")[0] in CACHES:
        made = [node]
    else:
        return
    for call in made:
        if call.args and isinstance(call.args[0], ast.Constant):
            yield str(call.args[0].value)


def test_every_cache_is_in_the_table() -> None:
    page = (ROOT / "docs" / "explanation" / "caches.md").read_text()
    listed = {name for row in re.findall(r"^\| (`.+?`) \|", page, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    made = set(_cache_names())

    assert len(made) > 40
    assert sorted(made - listed) == []
    source = "".join(path.read_text() for path in (ROOT / "src" / "kith").rglob("*.py"))
    assert [name for name in sorted(listed) if f'"{name}"' not in source] == []


def _pages_outside_the_site() -> list[Path]:
    """MkDocs follows the links of docs/ itself (`tests/docs`), but for those of the pictures."""
    folders = (".github", "deploy", "docs/pictures")
    return [*ROOT.glob("*.md"), *(path for folder in folders for path in (ROOT / folder).rglob("*.md"))]


def test_links_lead_somewhere() -> None:
    broken = [
        f"{path.relative_to(ROOT)}: {link}"
        for path in _pages_outside_the_site()
        for link in _LINK.findall(path.read_text())
        if ":" not in link and not (path.parent / link.partition("#")[0]).exists()
    ]

    assert broken == []


def test_every_decision_has_a_date_and_a_state_and_stands_in_the_index() -> None:
    rows = []
    for path in sorted(DECISIONS.glob("[0-9]*.md")):
        found = re.match(rf"# (.+)\n\n\*(\d{{4}}-\d\d-\d\d)\. ({_STATE})\.\*\n", path.read_text())
        assert found, f"{path.name} begins with a heading, and then with `*DATE. STATE.*`"
        rows.append(f"| [{path.name[:4]}]({path.name}) | {found[1]} | {found[2]} | {found[3]} |")
    index = (DECISIONS / "README.md").read_text()

    assert re.findall(r"^\| \[.*$", index, re.MULTILINE) == rows


def test_numbers_of_decisions_have_no_gap_but_those_that_the_index_explains() -> None:
    numbers = [int(path.name[:4]) for path in DECISIONS.glob("[0-9]*.md")]
    explained = re.search(r"\*\*No page:\*\* ([\d, ]+)\.", (DECISIONS / "README.md").read_text())

    assert explained
    gaps = {int(number) for number in explained[1].split(", ")}
    assert sorted([*numbers, *gaps]) == list(range(1, max(numbers) + 1))


def test_the_licence_is_the_published_text() -> None:
    assert hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == AGPL
    assert 'license = "AGPL-3.0-or-later"' in (ROOT / "pyproject.toml").read_text()
    assert "AGPL-3.0-or-later" in README


def test_the_pictures_are_those_that_the_script_takes() -> None:
    taken = {f"{name}.webp" for name in SHOTS}
    shown = set(re.findall(r"\(([\w-]+\.webp)\)", (FOLDER / "README.md").read_text()))

    assert {path.name for path in FOLDER.iterdir()} - {"README.md"} == taken
    assert shown == taken


def test_the_pictures_of_the_readme_are_small() -> None:
    assert len(set(re.findall(r"\((docs/pictures/[^)]+\.webp)\)", README))) >= 3
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 900_000


def test_the_changelog_begins_with_this_version_or_the_next() -> None:
    """The number stands in `kith/__init__.py` alone: packages, the command, both APIs and NodeInfo have it from there."""
    first = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0]

    assert first in ("Unreleased", __version__)
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text()
