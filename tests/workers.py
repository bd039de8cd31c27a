"""Runs the tests in several processes (`--processes 4`), forked from the one that has collected them.

To load and collect all tests takes half a minute, so it is done once; a fork has them all at no cost. The parent hands out
the tests of one file and one database at a time, so that what they share is made once, and hears what became of each.
Whoever has run a group's last test but one asks for the next: what a test leaves open is closed knowing what comes after it.
"""

from __future__ import annotations

import atexit
import ctypes
import mmap
import os
import random
import re
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, NoReturn

import pytest

__all__ = ["Workers", "fork_for_tests", "run_until_one_fails"]

_DATABASE = re.compile(r"(?<=[\[-])(sqlite|postgresql)(?=[\]-])")
_PR_SET_PDEATHSIG = 1
LONGEST_SECONDS = 900.0  # for one test, after which nobody waits for it any more
LOOK_SECONDS = 30.0
Group = list[int]  # places of tests in the session's list


def group_of(nodeid: str) -> str:
    """The tests of one file and one database are run by one process, one after the other."""
    file, _, name = nodeid.partition("::")
    database = _DATABASE.search(name)
    return file + (database[0] if database else "")


class Workers:
    """The plugin of the parent. `count` is how many processes there are."""

    def __init__(self, config: pytest.Config, count: int) -> None:
        self._config = config
        self._count = count
        self._stops = mmap.mmap(-1, 1)  # shared by all: not zero once nobody shall begin another test
        self._working: list[_Worker] = []
        self._groups: deque[Group] = deque()
        self._born = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.config.option.collectonly or session.testsfailed or len(session.items) < 2:
            return None
        groups: dict[str, Group] = {}
        for place, item in enumerate(session.items):
            groups.setdefault(group_of(item.nodeid), []).append(place)
        self._groups.extend(groups.values())
        try:
            for _ in range(min(self._count, len(self._groups))):
                self._bear(session, [])
            while self._working:
                for line in wait([one.line for one in self._working], LOOK_SECONDS):
                    self._hear(session, next(one for one in self._working if one.line is line))
                for one in self._working:
                    one.end_if_stuck()
                if session.shouldfail or session.shouldstop:
                    self._stops[0] = 1
        except BaseException:
            for one in self._working:
                one.kill()
            raise
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        return True

    def _bear(self, session: pytest.Session, first: Group) -> None:
        """Fork a process, which begins with the tests of `first`."""
        ours, theirs = Pipe()

        def work() -> None:
            for one in (*(worker.line for worker in self._working), ours):
                one.close()
            session.config.pluginmanager.register(_Reports(session.config, theirs))
            _run(session, theirs, _asked_for(theirs, self._stops, first))

        pid = fork_for_tests(session, self._born, work)
        theirs.close()
        self._born += 1
        self._working.append(_Worker(pid, ours, first))

    def _hear(self, session: pytest.Session, worker: _Worker) -> None:
        try:
            word, said = worker.line.recv()
        except (EOFError, ConnectionResetError):
            self._working.remove(worker)
            self._mourn(session, worker, worker.end())
            return
        if word == "more":
            group = self._groups.popleft() if self._groups else None
            worker.to_do.extend(group or [])
            worker.line.send(group)
        elif word == "begun":
            worker.current, worker.since = said, time.monotonic()
        elif word == "report":
            hook = self._config.hook
            hook.pytest_runtest_logreport(report=hook.pytest_report_from_serializable(config=self._config, data=said))
        elif word == "done":
            worker.to_do.remove(said)
            worker.current = None

    def _mourn(self, session: pytest.Session, worker: _Worker, code: int) -> None:
        """Whoever ended without having done everything has a successor; what was under way has failed."""
        if worker.current is not None:
            item = session.items[worker.current]
            worker.to_do.remove(worker.current)
            for when in ("call", "teardown"):
                report = pytest.TestReport(
                    item.nodeid, item.location, {}, "failed" if when == "call" else "passed",
                    f"the process that ran it ended with {code}" if when == "call" else None, when,
                )  # fmt: skip
                self._config.hook.pytest_runtest_logreport(report=report)
        if worker.to_do and not self._stops[0]:
            self._bear(session, worker.to_do)
        elif code and worker.current is None and not self._stops[0]:
            raise pytest.UsageError(f"a process that runs tests ended with {code}")


class _Worker:
    """What the parent knows of one process."""

    def __init__(self, pid: int, line: Connection[Any, Any], to_do: Group) -> None:
        self._pid = pid
        self.line = line
        self.to_do = list(to_do)
        self.current: int | None = None
        self.since = 0.0  # when it began that

    def end_if_stuck(self) -> None:
        """A test that waits for something that never comes fails, and the rest is run."""
        if self.current is not None and time.monotonic() - self.since > LONGEST_SECONDS:
            os.kill(self._pid, signal.SIGKILL)

    def end(self) -> int:
        self.line.close()
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])

    def kill(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        self.end()


def fork_for_tests(session: pytest.Session, number: int, work: Callable[[], None]) -> int:
    """A process with a nursery and folders of its own that does the work, and its id."""
    nursery = sys.modules.get("tests.town.nursery")  # whose tests load none need none
    nurse = nursery.new_line() if nursery is not None and nursery.is_warm() else None
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        if nursery is not None and nurse is not None:
            nursery.use_line(nurse)
        _live(session, number, work)
    if nurse is not None:
        nurse.close()
    return pid


def _live(session: pytest.Session, number: int, work: Callable[[], None]) -> NoReturn:
    """The life of a fork. It ends here: what was begun before the fork is its parent's to end."""
    code = 1
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        random.seed()
        _part_from_parent(session.config, number)
        work()
        code = 0
    except SystemExit as ending:
        code = int(ending.code or 0)
    except BaseException:  # noqa: BLE001 - told, and over
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _part_from_parent(config: pytest.Config, number: int) -> None:
    """What is said goes nowhere by itself, and what is caught or kept is this process's own."""
    atexit._clear()
    manager = config.pluginmanager
    for name in ("terminalreporter", "progress"):
        if (plugin := manager.get_plugin(name)) is not None:
            manager.unregister(plugin)
    capture: Any = manager.get_plugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture(in_=False)
    folders: Any = config._tmp_path_factory  # type: ignore[attr-defined]
    folders._basetemp = folders.getbasetemp() / f"worker{number}"
    folders._basetemp.mkdir(mode=0o700)


class _Reports:
    """Sends what became of each test to the parent."""

    def __init__(self, config: pytest.Config, line: Connection[Any, Any]) -> None:
        self._config = config
        self._line = line

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._line.send(("report", data))


def _asked_for(line: Connection[Any, Any], stops: mmap.mmap, first: Group) -> Iterator[int]:
    """The tests to run, until the parent has no more of them."""
    group: Sequence[int] | None = first
    while group is not None:
        for place in group:
            if stops[0]:
                return
            yield place
        line.send(("more", None))
        group = line.recv()


def _run(session: pytest.Session, line: Connection[Any, Any], places: Iterator[int]) -> None:
    place = next(places, None)
    while place is not None:
        following = next(places, None)
        line.send(("begun", place))
        item = session.items[place]
        after = None if following is None else session.items[following]
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        line.send(("done", place))
        place = following


class _Failures:
    """Counts what failed."""

    count = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.count += report.failed


def run_until_one_fails(session: pytest.Session, items: list[pytest.Item]) -> bool:
    """Whether all of them pass. What they share is closed afterwards."""
    failures = _Failures()
    session.config.pluginmanager.register(failures)
    for item, following in zip(items, [*items[1:], None], strict=True):
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if failures.count:
            session._setupstate.teardown_exact(None)
            return False
    return True
