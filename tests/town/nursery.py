"""Where a town's processes are born: servers and commands.

In the tests each is a fork of one warm parent (parent.py). Whoever measures how Kith starts or what it takes gets
processes of the usual kind.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

from tests.town import changed_code

__all__ = [
    "KITH",
    "Child",
    "Done",
    "Program",
    "begin",
    "change_code",
    "give_birth",
    "is_warm",
    "keep_warm",
    "new_line",
    "run",
    "use_line",
    "warm_up",
]

KITH = (sys.executable, "-c", "import sys; from kith.cli import main; sys.exit(main())")
_CERTIFICATES = os.environ.get("SSL_CERT_FILE")  # read when Kith is loaded: no fork can have others than its parent
_NOWHERE = Path(os.devnull)
_PARENT = Path(__file__).with_name("parent.py")


class Child:
    """A `kith` that runs, or ran. Its process id stays its own until its end has been seen."""

    def __init__(self, nursery: _Nursery, pid: int) -> None:
        self.pid = pid
        self._nursery = nursery
        self._code: int | None = None

    def poll(self) -> int | None:
        """Its exit code, if it has ended."""
        if self._code is None:
            self._code = self._nursery.ask(wait=self.pid)
        return self._code

    def wait(self, seconds: float) -> int:
        give_up = time.monotonic() + seconds
        while (code := self.poll()) is None:
            if time.monotonic() > give_up:
                raise TimeoutError(f"process {self.pid} has not ended")
            time.sleep(0.01)
        return code

    def send_signal(self, word: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, word)


class Program:
    """A process that a test waits for beside other things."""

    def __init__(self, process: Child | subprocess.Popen[bytes]) -> None:
        self._process = process

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def terminate(self) -> None:
        self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)

    async def ended(self, seconds: float = 120) -> int:
        """Its exit code, once it has ended."""
        return await asyncio.to_thread(self._process.wait, seconds)


def give_birth(
    *words: str,
    environment: dict[str, str],
    typed: Path | None,
    said: Path,
    complained: Path,
    folder: Path | None = None,
    program: str = "",
) -> Child | subprocess.Popen[bytes]:
    """Start `kith` with these words, what it reads in `typed`, and what it says added to the other two files.

    It works in `folder`, or where the tests do. `program` is a module of the tests that is started instead of `kith`.
    """
    if not _is_warm or environment.get("SSL_CERT_FILE") != _CERTIFICATES:
        start = (sys.executable, "-m", program) if program else KITH
        with (typed or Path(os.devnull)).open("rb") as reads, said.open("ab") as says, complained.open("ab") as errors:
            return subprocess.Popen(
                [*start, *words], env=environment, stdin=reads, stdout=says, stderr=errors, cwd=folder
            )
    files = [str(typed or os.devnull), str(said), str(complained)]
    nursery = _opened()
    where = str(folder or Path.cwd())
    asked = {"words": words, "environment": environment, "files": files, "folder": where, "changed": _changed}
    return Child(nursery, nursery.ask(**asked, program=program))


def begin(program: str, *words: str, environment: dict[str, str], said: Path = _NOWHERE) -> Program:
    """Start a module of the tests as a process of its own, and add what it says to a file."""
    born = give_birth(*words, environment=environment, typed=None, said=said, complained=said, program=program)
    return Program(born)


def change_code(module: str, source: str) -> None:
    """From now on whoever is born has the functions of this module as the source has them, and so has this process."""
    global _changed  # noqa: PLW0603 - so it is for the whole process
    changed_code.change(module, source)
    _changed = module, source


def keep_warm() -> None:
    """From now on whoever is born is a fork."""
    global _is_warm  # noqa: PLW0603 - so it is for the whole process
    _is_warm = True


def is_warm() -> bool:
    return _is_warm


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    said: str
    complained: str

    @property
    def json(self) -> Any:
        assert self.said.count("\n") == 1, self
        return json.loads(self.said)


async def run(*words: str, environment: dict[str, str], typed: str = "", patience: float = 120) -> Done:
    """Run a `kith` command to its end, without a terminal, `typed` on its standard input."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("typed", "said", "complained")]
        paths[0].write_text(typed)
        child = give_birth(*words, environment=environment, typed=paths[0], said=paths[1], complained=paths[2])
        code = await asyncio.to_thread(child.wait, patience)
        return Done(code, paths[1].read_text(), paths[2].read_text())


class _Nursery:
    """A parent of this process's own, and the line to it."""

    def __init__(self, ours: socket.socket) -> None:
        self._line = ours.makefile("rw")
        self._one_at_a_time = threading.Lock()
        ours.close()
        atexit.register(self._line.close)

    def ask(self, **question: Any) -> Any:
        with self._one_at_a_time:
            self._line.write(json.dumps(question) + "\n")
            self._line.flush()
            answer = self._line.readline()
        assert answer, "the nursery is gone"
        return json.loads(answer)


class _Ancestor:
    """The warm process of which every nursery is a fork: Kith is loaded and its statements are compiled once for all."""

    def __init__(self, *, thoroughly: bool) -> None:
        self.line, theirs = socket.socketpair()
        with theirs:
            # In a session of its own, a key pressed to end the tests ends it by way of them.
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(_PARENT), str(theirs.fileno()), *(["thoroughly"] if thoroughly else [])],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        atexit.register(self._close)

    def _close(self) -> None:
        self.line.close()
        self._process.wait()


_is_warm = False
_changed: tuple[str, str] | None = None  # a module, and its changed source
_ancestor: _Ancestor | None = None
_nursery: _Nursery | None = None


def warm_up(*, thoroughly: bool = False) -> None:
    """Start loading Kith, beside what this process has to do. `thoroughly`: with all that only some servers need."""
    global _ancestor  # noqa: PLW0603 - it lives as long as the process
    if _ancestor is None:
        _ancestor = _Ancestor(thoroughly=thoroughly)


def new_line() -> socket.socket:
    """A line to a nursery of its own, for a process that will be forked from this one."""
    warm_up()
    assert _ancestor is not None
    ours, theirs = socket.socketpair()
    with theirs:
        socket.send_fds(_ancestor.line, [b"+"], [theirs.fileno()])
    return ours


def use_line(line: socket.socket) -> None:
    """In a fork: its nursery is the one at the end of this line, and the ancestor is its parent's."""
    global _nursery  # noqa: PLW0603 - it lives as long as the process
    if _ancestor is not None:
        _ancestor.line.close()
    _nursery = _Nursery(line)


def _opened() -> _Nursery:
    """One for this process, opened when it is first needed."""
    global _nursery  # noqa: PLW0603 - it lives as long as the process
    if _nursery is None:
        _nursery = _Nursery(new_line())
    return _nursery
