"""Whoever does what CONTRIBUTING.md says has an endpoint, a kind of policy and a page that work."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.docs.walkthroughs import ROOT, apply, command, copy_source, walkthroughs

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()


def _run(words: list[str], folder: Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(folder / "src")}
    environment = {name: value for name, value in environment.items() if not name.startswith(("PYTEST_", "KITH_"))}
    done = subprocess.run(
        words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout


def test_the_walkthroughs_lead_where_they_say(tmp_path: Path) -> None:
    """All three on one copy, as one after the other; their tests in one run, on SQLite."""
    root = copy_source(tmp_path)
    tests: list[str] = []
    found = walkthroughs(CONTRIBUTING)
    assert [one.name for one in found] == ["add an endpoint", "add a kind of policy", "add a page"]

    for one in found:
        apply(one, root)
        *earlier, last = one.commands
        for words in earlier:
            _run(command(words), root)
        assert last[:3] == ["scripts/test", "--processes", "0"]
        tests += last[3:]

    named = {name.partition("::")[0] for name in tests}
    said = _run([*command(["scripts/test", "--processes", "0"]), *tests, "-k", "not postgresql"], root)
    assert " passed" in said
    assert {one.title for walk in found for one in walk.page.examples if "/test_" in one.title} <= named


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        (" from kith.social.moving.room import ROOM as MOVING\n", " from kith.social.gone import MOVING\n", "0 times"),
        ("+    NEWCOMERS,\n", "+    NEWCOMERS,\n     NOTHING,\n", "0 times"),
        ("src/kith/social/newcomers/api.py", "src/kith/social/lists/api.py", "is there already"),
    ],
)
def test_a_walkthrough_that_does_not_fit_the_tree_is_found(
    before: str, after: str, complaint: str, tmp_path: Path
) -> None:
    assert CONTRIBUTING.count(before) >= 1
    [first, *_] = walkthroughs(CONTRIBUTING.replace(before, after))
    for name in ("app.py", "social/reference/operations/place.toml", "social/reference/entities/place.toml"):
        (tmp_path / "src/kith" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src/kith" / name).write_text((ROOT / "src/kith" / name).read_text())
    (tmp_path / "tests/social").mkdir(parents=True)
    (tmp_path / "src/kith/social/lists").mkdir()
    (tmp_path / "src/kith/social/lists/api.py").write_text("")

    with pytest.raises(AssertionError, match=complaint):
        apply(first, tmp_path)
