"""A warm parent: has loaded Kith, and forks a `kith` whenever it is told to.

Loading Kith takes seconds of work; a fork of a process that has done so takes none. The first of them forks a nursery for
each process that runs tests, with a line of its own, and each nursery forks servers and commands. None of them starts a
loop or a thread, so a child is like one freshly started: the same words, an environment of its own, and files for what it
reads and says. Nobody outlives whoever asked for them: the end of its line ends a parent, and the parent's end ends its
children.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import kith.cli.first_rows
import kith.cli.serve
import kith.cli.users  # noqa: F401 - what servers and most commands need is loaded here, once
from kith.app import KINDS, blueprint_models
from kith.base.db.statement import DIALECTS, Statement
from kith.base.jobs.store import DueLanes
from kith.base.jobs.worker import lanes_of
from kith.cli import COMMANDS, MODULES, main
from kith.identity.users import passwords
from kith.web import pages

_PR_SET_PDEATHSIG = 1
_MODES = (os.O_RDONLY, os.O_WRONLY | os.O_APPEND | os.O_CREAT, os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def hand_out(line: int) -> socket.socket | None:
    """Fork a nursery for each line that is sent, until nobody is there to send one. In a nursery: its line."""
    with socket.socket(fileno=line) as ours:
        while True:
            _, lines, _, _ = socket.recv_fds(ours, 1, 1)
            if not lines:
                return None
            theirs = socket.socket(fileno=lines[0])
            if os.fork() == 0:
                return theirs
            theirs.close()
            _bury()


def _bury() -> None:
    """Nurseries that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def tend(line: socket.socket) -> dict[str, Any] | None:
    """Answer what is asked until nobody is there to ask. In a child: what it was made for."""
    with line, line.makefile("rw") as questions:
        for question in questions:
            asked: dict[str, Any] = json.loads(question)
            if "wait" in asked:
                answer = _code_of(asked["wait"])
            else:
                answer = os.fork()
                if answer == 0:
                    return asked
            questions.write(json.dumps(answer) + "\n")
            questions.flush()
    return None


# What a password costs to hash: a fifth of all that servers do otherwise. The hashes of people whom a town has made cost
# less still, so that these are replaced when somebody signs in.
CHEAP = (1, 128)

# What a server loads when it first needs it, and most do in the course of a test.
_LOADED_LATE = (
    "argon2", "cryptography.hazmat.primitives.asymmetric.ec", "cryptography.hazmat.primitives.ciphers",
    "cryptography.hazmat.primitives.serialization", "joserfc.jwt",
)  # fmt: skip


def know_by_heart(*, thoroughly: bool) -> None:
    """What every child would find out for itself otherwise: what blueprints can say, and the text of each statement.

    `thoroughly`: all templates and all commands as well, which takes some seconds.
    """
    blueprint_models()
    DueLanes(lanes_of(KINDS))
    passwords.ROUNDS, passwords.KIBIBYTES = CHEAP
    if thoroughly:
        for name in (*_LOADED_LATE, *(f"kith.cli.{MODULES.get(name, name)}" for name in COMMANDS)):
            importlib.import_module(name)
        templates = pages._environment()
        for name in templates.list_templates():
            templates.get_template(name)
    for one in gc.get_objects():
        if isinstance(one, Statement):
            for dialect in DIALECTS:
                one.compiled(dialect)
    gc.freeze()  # what is here now stays, and no child need look at it again


def _code_of(child: int) -> int | None:
    ended, status = os.waitpid(child, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def be_kith(
    words: list[str],
    environment: dict[str, str],
    files: list[str],
    folder: str,
    changed: tuple[str, str] | None,
    program: str,
) -> Any:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, path in enumerate(files):
        opened = os.open(path, _MODES[number], 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = ["kith", *words]
    if changed is not None:
        change: Any = runpy.run_path(str(Path(__file__).with_name("changed_code.py")))["change"]
        importlib.import_module(changed[0])
        change(*changed)
    if program:
        sys.path.insert(0, str(Path(__file__).parents[2]))
        sys.argv[0] = program
        runpy.run_module(program, run_name="__main__", alter_sys=True)
        return 0
    return main(words)


def _end(act: Callable[..., Any], calling: dict[str, Any]) -> NoReturn:
    """Do it, and be gone with its exit code. Taking all that was loaded apart again would take longer than most commands."""
    code = 1
    try:
        code = act(**calling) or 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
        if isinstance(ending.code, str):
            print(ending.code, file=sys.stderr)
    except BaseException:  # noqa: BLE001 - told, as Python would
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    know_by_heart(thoroughly="thoroughly" in sys.argv)
    line = hand_out(int(sys.argv[1]))
    calling = tend(line) if line is not None else None
    if calling is not None:
        _end(be_kith, calling)
