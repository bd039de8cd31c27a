"""A setting or a command that the README does not tell is one that nobody finds."""

from __future__ import annotations

import re
from pathlib import Path

from kith.base.settings import Settings
from kith.cli import COMMANDS

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_the_readme_lists_every_setting_and_no_other() -> None:
    listed = re.findall(r"^\| `KITH_([A-Z_]+)` \|", README, re.MULTILINE)

    assert sorted(name.lower() for name in listed) == sorted(Settings.__struct_fields__)


def test_the_readme_lists_every_command_and_no_other() -> None:
    listed = re.findall(r"^\| `kith ([a-z]+)[ `]", README, re.MULTILINE)

    assert sorted(listed) == sorted(COMMANDS)
