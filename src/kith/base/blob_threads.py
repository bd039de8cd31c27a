"""The threads in which obstore works, and the end of a process.

One of them tells asyncio that something is there, and comes back from that a moment after whoever waited has gone on.
If the interpreter is being taken down by then, Python ends the thread, which the library's language forbids: the whole
process dies with SIGABRT, after all was done. So a process that is about to end waits until they are at rest.
"""

from __future__ import annotations

import atexit
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

__all__ = ["await_threads_at_exit"]

_LOOK_SECONDS = 0.005
_LOOKS = 3  # in a row that find all of them at rest
_MOST_LOOKS = 400


@cache
def await_threads_at_exit() -> None:
    """To be called when obstore is loaded; once is enough."""
    atexit.register(_await_rest)


def _await_rest() -> None:
    resting = 0
    for _ in range(_MOST_LOOKS):
        time.sleep(_LOOK_SECONDS)  # whoever waits for the interpreter gets it now
        resting = 0 if _is_any_running() else resting + 1
        if resting == _LOOKS:
            return


def _is_any_running() -> bool:
    """Whether a thread of obstore has work. A system without /proc does not tell: there the pauses alone must do."""
    for thread in Path("/proc/self/task").glob("*/stat"):
        with suppress(OSError):
            name, _, rest = thread.read_text().partition("(")[2].rpartition(")")
            if name.startswith("tokio") and rest.split()[0] in "RD":
                return True
    return False
