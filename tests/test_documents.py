"""A setting or a command that the README does not tell is one that nobody finds."""

from __future__ import annotations

import re
from pathlib import Path

from kith.base.settings import Settings
from kith.cli import COMMANDS
from tests.pictures import FOLDER, SHOTS

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_the_readme_lists_every_setting_and_no_other() -> None:
    listed = re.findall(r"^\| `KITH_([A-Z_]+)` \|", README, re.MULTILINE)

    assert sorted(name.lower() for name in listed) == sorted(Settings.__struct_fields__)


def test_the_readme_lists_every_command_and_no_other() -> None:
    listed = re.findall(r"^\| `kith ([a-z]+)[ `]", README, re.MULTILINE)

    assert sorted(listed) == sorted(COMMANDS)


def test_the_pictures_are_those_that_the_script_takes() -> None:
    taken = {f"{name}.webp" for name in SHOTS}
    shown = set(re.findall(r"\(([\w-]+\.webp)\)", (FOLDER / "README.md").read_text()))

    assert {path.name for path in FOLDER.iterdir()} - {"README.md"} == taken
    assert shown == taken


def test_every_picture_of_the_readme_is_there_and_small() -> None:
    named = set(re.findall(r"\((docs/pictures/[^)]+\.webp)\)", README))

    assert len(named) >= 3
    assert [name for name in sorted(named) if not (FOLDER.parent.parent / name).is_file()] == []
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 900_000
