"""The processes that run the tests: each test is run once and told of, whatever becomes of whoever runs it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workers import group_of

ROOT = Path(__file__).parents[1]
_CONFTEST = """
import pytest
from tests.workers import Workers


def pytest_configure(config):
    config.pluginmanager.register(Workers(config, 2))


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    yield tmp_path_factory.mktemp("shared")
    print("closed")
"""
_FIRST = """
import os


def test_before(shared):
    (shared / "made").touch()


def test_that_ends_its_process():
    os._exit(3)


def test_after(shared):
    assert not (shared / "made").exists()  # a successor begins anew
"""
_SECOND = """
def test_that_holds(tmp_path):
    assert tmp_path.is_dir()


def test_that_does_not():
    print("said before")
    assert 1 == 2
"""


def _run(folder: Path, *words: str) -> tuple[int, str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("KITH_", "PYTEST_"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:schemathesis", *words],
        cwd=folder, env=environment | {"PYTHONPATH": str(ROOT)}, text=True, capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_a_process_that_ends_fails_its_test_alone(tmp_path: Path) -> None:
    for name, text in {"conftest": _CONFTEST, "test_first": _FIRST, "test_second": _SECOND}.items():
        (tmp_path / f"{name}.py").write_text(text)

    code, said = _run(tmp_path)

    assert code == pytest.ExitCode.TESTS_FAILED, said
    assert re.search(r"\b2 failed, 3 passed\b", said), said
    assert "the process that ran it ended with 3" in said
    assert "said before" in said  # what a test has printed is told with it

    code, said = _run(tmp_path, "-x", "-k", "does_not or holds")

    assert code == pytest.ExitCode.TESTS_FAILED, said
    assert "1 failed" in said


@pytest.mark.parametrize(
    ("nodeid", "group"),
    [
        ("tests/a.py::test_x[sqlite]", "tests/a.pysqlite"),
        ("tests/a.py::test_x[postgresql-3]", "tests/a.pypostgresql"),
        ("tests/a.py::test_x[one-sqlite]", "tests/a.pysqlite"),
        ("tests/a.py::test_x[my-sqlites]", "tests/a.py"),
        ("tests/a.py::test_sqlite", "tests/a.py"),
    ],
)
def test_tests_of_one_file_and_database_stay_together(nodeid: str, group: str) -> None:
    assert group_of(nodeid) == group
