"""`scripts/test --quick`: the tests nearest to what was changed, on SQLite, for less than two minutes.

Changed files are those that differ from where the branch left main, and those git does not know yet. A test is near
when it was changed itself, imports what was changed, or checks a changed room (by its name, or as `tests/room_tests.py`
says); then come the tests of rooms that use what was changed, those that import something else of a changed room, and
last the files whose tests need no server. A change that
touches everything selects a bounded number of test files, with a little of every layer among them. The few that take
longest are left out, unless they were changed themselves. What is nearest runs first, and when the time is up the rest
is left out: the whole suite is `scripts/test`.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import grimp
import pytest

from tests.room_tests import EVERYWHERE, LONGEST, TESTED_BY, of_other_files

ROOT = Path(__file__).parent.parent
SECONDS = 100.0  # for choosing, collecting and running; the tests that are under way then are finished
MOST_FILES = 28
_NEAR = "KITH_TEST_NEAR"  # test files, nearest first
_SERVERS = frozenset({"town", "new_town", "engine", "settings", "base", "pair"})


def is_on() -> bool:
    return _NEAR in os.environ


def put_near_first(items: list[pytest.Item]) -> None:
    places = {path: place for place, path in enumerate(os.environ[_NEAR].split(os.pathsep))}
    items.sort(key=lambda item: places.get(item.path.relative_to(ROOT).as_posix(), len(places)))


def needing_no_server() -> list[str]:
    """Test files in which no test and no fixture asks for a server or a database."""
    return [name for name, path in _test_files().items() if not name.endswith(LONGEST) and not _asks_for_a_server(path)]


def _asks_for_a_server(path: Path) -> bool:
    return any(
        argument.arg in _SERVERS
        for node in ast.walk(_parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for argument in node.args.args
    )


def changed_files() -> list[str]:
    """Since the branch left main; on main itself, since the commit before."""
    head = _git("rev-parse", "HEAD")
    for name in ("origin/main", "main"):
        base = _git("merge-base", "HEAD", name)
        if base and base != head:
            break
    else:
        base = "HEAD~1"
    seen = _git("diff", "--name-only", base).splitlines()
    return sorted({*seen, *_git("ls-files", "--others", "--exclude-standard").splitlines()})


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def near(changed: Iterable[str]) -> list[str]:
    """Test files, nearest first, and not more than `MOST_FILES`."""
    changed = list(changed)
    ranks = _ranked(changed)
    nearest = sorted(ranks, key=lambda name: (ranks[name], name))
    if len(nearest) <= MOST_FILES:
        return nearest
    some_of_all = [name for name in map(_in_tests, EVERYWHERE) if name not in nearest[: MOST_FILES - len(EVERYWHERE)]]
    return [*nearest[: MOST_FILES - len(some_of_all)], *some_of_all]


def _in_tests(name: str) -> str:
    return f"tests/{name}"


def _ranked(changed: list[str]) -> dict[str, int]:
    """How far each test file is from the change; those that have nothing to do with it are left out."""
    modules = {_module(path) for path in changed if path.startswith("src/kith/") and path.endswith(".py")}
    rooms = {_room(module) for module in modules}
    graph = _graph()
    checking = {_in_tests(name) for room in rooms for name in TESTED_BY.get(room, ())}
    checking |= {_in_tests(name) for path in changed if not path.endswith(".py") for name in of_other_files(path)}
    checking |= {_in_tests(name) for path in changed if path.startswith("tests/") for name in of_other_files(path)}
    users = {_room(user) for module in modules & graph.modules for user in _users(module)}
    helpers = {_module(path) for path in changed if path.startswith("tests/") and path.endswith(".py")}
    ranks: dict[str, int] = {}
    for name, path in _test_files().items():
        imported = _imports(path)
        if name in changed:
            ranks[name] = 0
        elif name.endswith(LONGEST):
            continue
        elif imported & (modules | helpers):
            ranks[name] = 1
        elif name in checking or any(_is_named_for(name, room) for room in rooms):
            ranks[name] = 2
        elif any(_is_named_for(name, room) for room in users):
            ranks[name] = 3
        elif not rooms.isdisjoint(_imported_rooms(path)):
            ranks[name] = 4
    return ranks


def _users(module: str) -> set[str]:
    """The modules that import this one, by itself or through a package that shows what is in it."""
    found = set(_graph().find_modules_that_directly_import(module))
    package = module.rpartition(".")[0]
    return found | _users(package) if package in found else found


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph("kith")


def _module(path: str) -> str:
    return path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _room(module: str) -> str:
    """`kith.social.statuses` for whatever is in it; of what is in no room, the module itself."""
    return ".".join(module.split(".")[:3])


def _is_named_for(test: str, room: str) -> bool:
    """tests/social/test_statuses_edits.py for kith.social.statuses; the tests of a layer for nothing else."""
    return test.startswith(_beginnings(room))


@cache
def _beginnings(room: str) -> tuple[str, ...]:
    _, _, rest = room.partition(".")
    layer, _, name = rest.partition(".")
    return (f"tests/{layer}/test_{name}", f"tests/{layer}/test_{name.removesuffix('s')}") if name else ()


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


@cache
def _test_files() -> dict[str, Path]:
    return {path.relative_to(ROOT).as_posix(): path for path in sorted((ROOT / "tests").rglob("test_*.py"))}


@cache
def _imported_rooms(path: Path) -> set[str]:
    return {_room(one) for one in _imports(path)}


@cache
def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(_parsed(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return found


class Budget:
    """Stops the run when its time is up; what has run by then is what counts."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._session: pytest.Session | None = None
        self.is_over = False
        self.has_failed = False

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.has_failed = self.has_failed or report.failed
        if report.when == "teardown" and time.monotonic() > self._end and self._session is not None:
            self.is_over = True
            self._session.shouldstop = "the time of a quick run is up; scripts/test runs the rest"


def main(arguments: list[str]) -> int:
    budget = Budget(SECONDS)
    changed = changed_files()
    files = near(changed)
    print(f"{len(changed)} changed files, {len(files)} test files near them:", *files, sep="\n  ")
    os.environ[_NEAR] = os.pathsep.join(files)
    chosen = list(dict.fromkeys([*files, *needing_no_server()]))
    code = int(pytest.main(["--processes", "2", *arguments, *chosen], plugins=[budget]))
    if budget.is_over and code == pytest.ExitCode.INTERRUPTED:
        return int(budget.has_failed)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
