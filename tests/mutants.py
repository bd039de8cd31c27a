"""`scripts/mutants`: the rules that protect people, each changed a little; some test must fail for each change.

A mutant is one change in one place: a comparison turned around, one of several conditions left out, `and` for `or`, a
`not` or a refusal taken away. The tests of its module are run on SQLite until one fails: in a fork whose functions have the
changed code (`tests/town/changed_code.py`), which takes seconds; and if none fails there, or if the module builds
statements while Kith is loaded, on a copy of the tree that has the change. Mutants that no test can tell from the original
are named in `SAME`, with the reason.

    scripts/mutants                 a few of each module, drawn at random (the seed is printed)
    scripts/mutants --all           every one, which takes hours
    scripts/mutants --all rules     every one of the modules whose name has this in it
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO

import msgspec
import pytest

from tests.town import nursery
from tests.workers import fork_for_tests, run_until_one_fails

ROOT = Path(__file__).parent.parent
FEW = 6  # of each module
PROCESSES = 2
SECONDS = 600  # a mutant that never ends is noticed, too

# The tests that must notice, those first that are likeliest to.
GUARDS: dict[str, tuple[str, ...]] = {
    "kith/social/relationships/rules.py": (
        "tests/social/test_access.py",
        "tests/social/test_relationships.py",
        "tests/social/test_notifications.py",
        "tests/social/test_notification_policy.py",
        "tests/social/test_timelines.py",
    ),
    "kith/social/statuses/access.py": (
        "tests/social/test_access.py",
        "tests/social/test_streaming_access.py",
        "tests/test_who_sees_what.py",
        "tests/social/test_search.py",
    ),
    "kith/identity/caller_authentication.py": (
        "tests/identity/test_basic.py",
        "tests/identity/test_program_logins.py",
        "tests/identity/test_guessing.py",
        "tests/identity/test_sessions.py",
        "tests/identity/test_signups.py",
    ),
    "kith/identity/reauthentication.py": ("tests/identity/test_reauthentication.py",),
    "kith/identity/security_stamp.py": ("tests/identity/test_old_proofs.py",),
    "kith/identity/stages/proofs.py": ("tests/identity/test_old_proofs.py", "tests/identity/test_flows_run.py"),
    "kith/identity/providers/oauth2/token/endpoint.py": (
        "tests/identity/test_oauth_token.py",
        "tests/identity/test_oauth_device.py",
        "tests/identity/test_oauth_promises.py",
        "tests/identity/test_oauth_attacks.py",
    ),
    "kith/federation/signatures/verifying.py": (
        "tests/federation/test_signature_refusals.py",
        "tests/federation/test_signature_vectors.py",
        "tests/federation/test_remote_keys.py",
    ),
    "kith/federation/signatures/received.py": (
        "tests/federation/test_signature_refusals.py",
        "tests/federation/test_signature_vectors.py",
    ),
    "kith/federation/gate/rules.py": ("tests/federation/test_gate.py", "tests/federation/test_shut_out.py"),
    "kith/federation/gate/service.py": ("tests/federation/test_gate.py", "tests/federation/test_shut_out.py"),
}

# What these make is part of statements that were built when Kith was loaded.
BUILD_STATEMENTS = ("kith/social/relationships/rules.py", "kith/social/statuses/access.py")

# By module and the changed line: why nobody can notice.
SAME: dict[tuple[str, str], str] = {}

_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OTHER = {"and_": "or_", "or_": "and_"}


class Mutant(msgspec.Struct, frozen=True):
    module: str
    line: int
    what: str
    source: str

    @property
    def place(self) -> str:
        return f"{self.module}:{self.line}: {self.what}"

    @property
    def module_name(self) -> str:
        return self.module.removesuffix(".py").replace("/", ".")


Change = tuple[str, Callable[[], None], Callable[[], None]]


def mutants_of(module: str) -> list[Mutant]:
    """Every change of the module, as the whole text that it then is."""
    tree = ast.parse((ROOT / "src" / module).read_text("utf-8"))
    found = []
    for node in ast.walk(tree):
        for what, make, undo in _changes(node):
            make()
            found.append(Mutant(module, getattr(node, "lineno", 0), what, ast.unparse(tree)))
            undo()
    return found


def _changes(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in _TURNED:
            yield _replaced(node, "ops", [_TURNED[type(op)]()], f"{ast.unparse(node)} turned around")
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield _replaced(node, "op", other, f"`{ast.unparse(node)}` with {type(other).__name__.lower()}")
            for place, left_out in enumerate(node.values):
                rest = [value for at, value in enumerate(node.values) if at != place]
                yield _replaced(node, "values", rest, f"without `{ast.unparse(left_out)}`")
        case ast.UnaryOp(op=ast.Not() | ast.Invert()):
            inner = node.operand
            twice = ast.UnaryOp(copy.copy(node.op), inner)
            yield _replaced(node, "operand", twice, f"without the {ast.unparse(node)[0]} of `{ast.unparse(inner)}`")
        case ast.Call(func=ast.Name(id="and_" | "or_" as name)):
            yield _replaced(node, "func", ast.Name(_OTHER[name], ast.Load()), f"{_OTHER[name]} for {name}")
            for place, left_out in enumerate(node.args if len(node.args) > 1 else ()):
                rest = [value for at, value in enumerate(node.args) if at != place]
                yield _replaced(node, "args", rest, f"without `{ast.unparse(left_out)}`")
        case ast.Constant(value=bool(value)):
            yield _replaced(node, "value", not value, f"{not value} for {value}")
    for part in ("body", "orelse"):
        block = getattr(node, part, None)
        statements: list[ast.stmt] = block if isinstance(block, list) else []
        for place, statement in enumerate(statements):
            if isinstance(statement, ast.Raise) or _is_guard(statement):
                others: list[ast.stmt] = [*statements[:place], ast.Pass(), *statements[place + 1 :]]
                yield _replaced(node, part, others, f"without `{ast.unparse(statement)}`")


def _is_guard(statement: ast.stmt) -> bool:
    """A call for what it refuses: nothing is done with what it returns."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Await | ast.Call)


def _replaced(node: ast.AST, name: str, new: object, what: str) -> Change:
    old = getattr(node, name)
    return what, lambda: setattr(node, name, new), lambda: setattr(node, name, old)


def noticed_in_forks(mutants: list[Mutant]) -> Iterator[tuple[Mutant, bool]]:
    """Each mutant, and whether a test fails where the code of running functions is changed to it."""
    os.environ["KITH_TEST_MODE"] = "quick"
    files = list(dict.fromkeys(file for mutant in mutants for file in GUARDS[mutant.module]))
    ours, theirs = os.pipe()
    with os.fdopen(ours, "rb") as told:
        running = os.fork()
        if running == 0:
            told.close()
            os.dup2(2, 1)
            with os.fdopen(theirs, "wb") as tell:
                os._exit(
                    pytest.main(["--processes", "0", "-p", "no:cacheprovider", *files], plugins=[_Forks(mutants, tell)])
                )
        os.close(theirs)
        for line in told:
            number, noticed = msgspec.json.decode(line, type=tuple[int, bool])
            yield mutants[number], noticed
        _, status = os.waitpid(running, 0)
        if status:
            raise SystemExit("The tests of the mutants could not be run.")


class _Forks:
    """The plugin that runs the collected tests for each mutant in a process of its own."""

    def __init__(self, mutants: list[Mutant], tell: IO[bytes]) -> None:
        self._mutants = mutants
        self._tell = tell

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        running: dict[int, int] = {}  # the number of its mutant, by process
        for number, mutant in enumerate(self._mutants):
            if len(running) == PROCESSES:
                self._hear(running)
            running[fork_for_tests(session, number, partial(_run, session, mutant))] = number
        while running:
            self._hear(running)
        return True

    def _hear(self, running: dict[int, int]) -> None:
        pid, status = os.wait()
        if pid in running:
            self._tell.write(msgspec.json.encode((running.pop(pid), status != 0)) + b"\n")
            self._tell.flush()


def _run(session: pytest.Session, mutant: Mutant) -> None:
    signal.alarm(SECONDS)
    nursery.change_code(mutant.module_name, mutant.source)
    order = GUARDS[mutant.module]
    items = [item for item in session.items if item.location[0] in order and "postgresql" not in item.name]
    items.sort(key=lambda item: order.index(item.location[0]))
    if not run_until_one_fails(session, items):
        sys.exit(1)


def noticed_in_a_copy(mutants: list[Mutant]) -> Iterator[tuple[Mutant, bool]]:
    """Each mutant, and whether a test fails in a copy of the tree that has it."""
    with tempfile.TemporaryDirectory(prefix="kith-mutants-") as folder:
        tree = Path(folder) / "kith"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "data"))
        for mutant in mutants:
            yield mutant, _is_noticed(mutant, tree)


def _is_noticed(mutant: Mutant, tree: Path) -> bool:
    """Whether a test fails. The copy is as it was afterwards."""
    path = tree / "src" / mutant.module
    before = path.read_text("utf-8")
    path.write_text(mutant.source, "utf-8")
    env = os.environ | {"PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}", "KITH_TEST_MODE": "quick"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "--processes",
        "0",
        "-p",
        "no:cacheprovider",
        *GUARDS[mutant.module],
    ]
    try:
        return (
            subprocess.run(command, cwd=tree, env=env, capture_output=True, timeout=SECONDS, check=False).returncode
            != 0
        )
    except subprocess.TimeoutExpired:
        return True
    finally:
        path.write_text(before, "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10_000))
    parser.add_argument("--few", type=int, default=FEW, help="of each module")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    modules = [one for one in GUARDS if not asked.names or any(name in one for name in asked.names)]
    drawn = random.Random(asked.seed)
    wanted: list[Mutant] = []
    for module in modules:
        every = [one for one in mutants_of(module) if (module, one.what) not in SAME]
        wanted += every if asked.all else drawn.sample(every, min(asked.few, len(every)))
    print(f"{len(wanted)} mutants, seed {asked.seed}", flush=True)
    began, missed, to_copy = time.monotonic(), [], []
    for mutant, noticed in noticed_in_forks([one for one in wanted if one.module not in BUILD_STATEMENTS]):
        if noticed:
            print(f"noticed {mutant.place}", flush=True)
        else:
            to_copy.append(mutant)
    to_copy += [one for one in wanted if one.module in BUILD_STATEMENTS]
    for mutant, noticed in noticed_in_a_copy(to_copy):
        missed += [] if noticed else [mutant]
        print(f"{'noticed' if noticed else 'MISSED '} {mutant.place}", flush=True)
    minutes = (time.monotonic() - began) / 60
    print(f"{len(wanted) - len(missed)} of {len(wanted)} were noticed, in {minutes:.0f} minutes.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
