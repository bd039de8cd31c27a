"""Rows and records for people: a table on a terminal, plain tab-separated text for a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

import click
import msgspec


def show_rows(heads: Sequence[str], rows: Iterable[Sequence[object]], *, nothing: str) -> None:
    """A pipe gets rows alone: headings, and that there is `nothing`, are told beside it to whoever sits there."""
    shown = [[cell(value) for value in row] for row in rows]
    if not shown:
        click.echo(nothing, err=not sys.stdout.isatty())
    elif sys.stdout.isatty():
        _print_table(heads, shown)
    else:
        if sys.stderr.isatty():
            click.echo("\t".join(heads), err=True)
        for row in shown:
            click.echo("\t".join(row))


def _print_table(heads: Sequence[str], rows: list[list[str]]) -> None:
    from rich.console import Console  # noqa: PLC0415 - loaded when first used: only a terminal needs it
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(*heads, box=None, pad_edge=False, padding=(0, 1))
    for row in rows:
        table.add_row(*(Text(value, overflow="fold") for value in row))
    Console().print(table)


def show_record(record: Mapping[str, object]) -> None:
    separator = ": " if sys.stdout.isatty() else "\t"
    for name, value in record.items():
        click.echo(f"{name}{separator}{cell(value)}")


def cell(value: object) -> str:
    """One line that can neither break a row nor speak to the terminal, whatever somebody called themselves."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case datetime():
            return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        case dict() | list():
            return cell(msgspec.json.encode(value).decode())
        case _:
            return "".join(letter if letter.isprintable() else " " for letter in str(value))
