"""What a check may find, and how it is told."""

from __future__ import annotations

from typing import Literal

import click
import msgspec

from kith.cli.showing import cell

State = Literal["ok", "warning", "problem"]
_COLOURS = {"ok": "green", "warning": "yellow", "problem": "red"}


class Finding(msgspec.Struct, frozen=True):
    """One thing that is so; `mend` is empty where nothing is to be done."""

    check: str
    state: State
    what: str
    mend: str = ""


def ok(check: str, what: str) -> Finding:
    return Finding(check, "ok", what)


def warning(check: str, what: str, mend: str) -> Finding:
    return Finding(check, "warning", what, mend)


def problem(check: str, what: str, mend: str) -> Finding:
    return Finding(check, "problem", what, mend)


def line(finding: Finding) -> str:
    state = click.style(f"{finding.state:<8}", fg=_COLOURS[finding.state])
    words = cell(f"{finding.what} -> {finding.mend}" if finding.mend else finding.what)
    return f"{state} {finding.check:<9} {words}"


def cause(error: Exception) -> str:
    """The first line of what went wrong; some errors have a name and no words."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]
