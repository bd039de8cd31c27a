"""How far a run is: a bar with the time left on a terminal, a line now and then in a log; at the end what took longest."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from tests.modes import USUAL_MINUTES, mode, said_of

__all__ = ["ProgressReport"]

LINE_SECONDS = 30.0
SLOWEST = 20


class ProgressReport:
    """In the process that hands the tests out; those that run them have none."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._began = time.monotonic()
        self._told_at = self._began
        self._count = 0
        self._done = 0
        self._failed = 0
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._bar: Progress | None = None

    def pytest_sessionstart(self) -> None:
        print(said_of(mode()), flush=True)

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """No sign for a test that has passed: the bar tells."""
        if report.passed:
            return ("passed" if report.when == "call" else "", "", "PASSED")
        return None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._count = len(session.items)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration
        if report.failed:
            self._failed += 1
            print(f"failed: {report.nodeid}\n    {_last_words(report)}", flush=True)
        if report.when == "teardown":
            self._done += 1
            self._tell()

    def _tell(self) -> None:
        if sys.stdout.isatty():
            self._draw()
        elif time.monotonic() - self._told_at > LINE_SECONDS:
            self._told_at = time.monotonic()
            print(f"{self._done} of {self._count} tests, {self._failed} failed, {self._left()} left", flush=True)

    def _draw(self) -> None:
        if self._bar is None:
            columns = (
                BarColumn(),
                TextColumn("{task.completed}/{task.total}"),
                TimeElapsedColumn(),
                TextColumn("{task.description}"),
            )
            self._bar = Progress(*columns, console=Console(file=sys.__stdout__), transient=True)
            self._bar.start()
            self._bar.add_task("", total=self._count)
        failed = f", {self._failed} failed" if self._failed else ""
        self._bar.update(
            self._bar.task_ids[0], completed=self._done, total=self._count, description=f"{self._left()} left{failed}"
        )

    def _left(self) -> str:
        """From how long such a run usually takes at first, and from how this one goes later."""
        passed = time.monotonic() - self._began
        share = self._done / max(1, self._count)
        usual = max(0.0, USUAL_MINUTES[mode()] * 60 - passed)
        by_pace = passed / max(share, 0.01) - passed
        seconds = usual * (1 - share) + by_pace * share
        return f"{int(seconds // 60)}:{int(seconds % 60):02}"

    def pytest_sessionfinish(self) -> None:
        if self._bar is not None:
            self._bar.stop()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._done > SLOWEST:
            terminalreporter.section(f"the slowest {SLOWEST}")
            for name, seconds in sorted(self._seconds.items(), key=lambda one: -one[1])[:SLOWEST]:
                terminalreporter.write_line(f"{seconds:7.1f} s  {name}")
        passed = time.monotonic() - self._began
        terminalreporter.write_line(f"{self._done} tests in {int(passed // 60)}:{int(passed % 60):02}")
        if where := os.environ.get("KITH_TEST_SECONDS"):
            Path(where).write_text(json.dumps(self._seconds))


def _last_words(report: pytest.TestReport) -> str:
    """Why it failed, in a line: whoever waits for the end of a long run wants to know now."""
    complaints = [line for line in report.longreprtext.splitlines() if line.startswith("E  ")]
    return " ".join(complaints[0].split())[1:300] if complaints else report.longreprtext[-300:]
