"""A warm parent: has loaded Kith, and forks a `kith` whenever it is told to.

Loading Kith takes seconds of work; a fork of a process that has done so takes none. The parent starts no loop and
no thread, so a child is like one freshly started: the same words, an environment of its own, and files for what
it reads and says. Nobody outlives whoever asked for them: the end of the line ends the parent, and the parent's
end ends its children.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import socket
import sys
from typing import Any

import kith.cli.serve
import kith.cli.users  # noqa: F401 - what servers and most commands need is loaded here, once
from kith.cli import main

_PR_SET_PDEATHSIG = 1
_MODES = (os.O_RDONLY, os.O_WRONLY | os.O_APPEND | os.O_CREAT, os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def tend(line: int) -> dict[str, Any] | None:
    """Answer what is asked until nobody is there to ask. In a child: what it was made for."""
    gc.freeze()  # what is here now stays, and no child need look at it again
    with socket.socket(fileno=line) as ours, ours.makefile("rw") as questions:
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


def _code_of(child: int) -> int | None:
    ended, status = os.waitpid(child, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def be_kith(words: list[str], environment: dict[str, str], files: list[str]) -> Any:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.environ.clear()
    os.environ.update(environment)
    for number, path in enumerate(files):
        opened = os.open(path, _MODES[number], 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = ["kith", *words]
    return main(words)


if __name__ == "__main__":
    calling = tend(int(sys.argv[1]))
    if calling is not None:
        sys.exit(be_kith(**calling))
