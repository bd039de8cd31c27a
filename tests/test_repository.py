"""The files by which a repository speaks to editors, forges and tools say what is so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
SCHEMAS = {
    "workflows/ci.yml": "github-workflows",
    "ISSUE_TEMPLATE/bug.yml": "github-issue-forms",
    "ISSUE_TEMPLATE/wish.yml": "github-issue-forms",
    "ISSUE_TEMPLATE/config.yml": "github-issue-config",
}


def test_every_file_for_the_forge_is_well_formed() -> None:
    there = {path.relative_to(ROOT / ".github").as_posix() for path in (ROOT / ".github").rglob("*.yml")}
    assert there == set(SCHEMAS)

    for name, schema in SCHEMAS.items():
        words: list[str | Path] = [
            BIN / "check-jsonschema",
            "--builtin-schema",
            f"vendor.{schema}",
            ROOT / ".github" / name,
        ]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def _lines(script: str) -> list[str]:
    """What a script runs, without what prepares it."""
    text = (ROOT / script).read_text()
    return [line for line in text.splitlines() if line and not line.startswith(("#", "set ", ". ", "need ", "cd "))]


def test_the_workflow_runs_what_runs_elsewhere() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    run = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]

    assert run == [".ci/run"]
    assert _lines(".ci/run") == ["scripts/check", "scripts/test"]


def test_pre_commit_runs_what_the_check_runs() -> None:
    settings = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    [local] = settings["repos"]
    entries = [hook["entry"].removeprefix(".venv/bin/") for hook in local["hooks"]]

    assert sorted(entries) == sorted(_lines("scripts/check"))
    assert {stage for hook in local["hooks"] for stage in hook.get("stages", settings["default_stages"])} == set(
        settings["default_install_hook_types"]
    )


def test_types_and_licence_come_with_the_package_and_the_licence_with_the_image() -> None:
    assert (ROOT / "src" / "kith" / "py.typed").is_file()
    assert "!LICENSE" in (ROOT / ".dockerignore").read_text().splitlines()
    assert "COPY LICENSE ./" in (ROOT / "Dockerfile").read_text().splitlines()


@pytest.mark.parametrize(
    "name", ["kith.toml", "deploy/.env", "var/keys/session.key", "demo/kith.sqlite3", "dist/kith.whl"]
)
def test_what_holds_secrets_or_is_made_is_not_committed(name: str) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone")

    assert subprocess.run(["git", "check-ignore", "--quiet", name], cwd=ROOT, check=False).returncode == 0


def test_every_text_has_line_feeds_alone() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone")
    listed = subprocess.run(["git", "ls-files", "--eol"], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert [line for line in listed.splitlines() if line.split()[0] not in ("i/lf", "i/none", "i/-text")] == []
