from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from typing import BinaryIO

import click

from kith.base.errors import Conflict, Invalid
from kith.base.work import Works
from kith.cli.inputs import COMMAND_LINE, WORDS
from kith.cli.running import house, run

_LISTS = {"people": "/core/users/", "events": "/audit/events/"}


@click.command()
@click.argument("what", type=click.Choice(["people", "grants", "events"]))
@click.option("--output", type=click.Path(dir_okay=False), help="The file, which must not be there yet. Default: here.")
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="NAME=VALUE",
    type=WORDS,
    help="As in the API's list: is_active=true, search=ada, action=login, created__gte=2026-01-01T00:00:00Z, ...",
)
def export(*, what: str, output: str | None, filters: tuple[str, ...]) -> None:
    """Write people, events, or who may enter which application, as CSV."""
    query = _query(filters)

    async def write() -> None:
        async with house() as opened:
            lines = await _lines(opened.works, what, query)
            with _opened(output) as file:
                async for piece in lines:
                    file.write(piece)

    run(write())


def _query(filters: tuple[str, ...]) -> dict[str, list[str]]:
    query: dict[str, list[str]] = {}
    for one in filters:
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise Invalid(f"--filter is NAME=VALUE, not {one!r}")
        query.setdefault(name, []).append(value)
    return query


def _refuse_unknown(query: dict[str, list[str]], known: set[str]) -> None:
    """The API ignores what it does not know; whoever types a wrong name here would get everything."""
    if unknown := sorted(query.keys() - known):
        raise Invalid(f"there is no filter {unknown[0]}; there are {', '.join(sorted(known))}")


def _opened(output: str | None) -> BinaryIO:
    """For nobody else's eyes; what is there stays."""
    if output is None:
        return os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    try:
        return os.fdopen(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
    except FileExistsError as error:
        raise Conflict(f"{output} is already there") from error


async def _lines(works: Works, what: str, query: dict[str, list[str]]) -> AsyncIterator[bytes]:
    from kith.identity.collections import RESOURCES  # noqa: PLC0415 - loaded when first used
    from kith.identity.exports import actions, grants  # noqa: PLC0415
    from kith.identity.rest import exporting  # noqa: PLC0415
    from kith.identity.rest.list_query import ListQuery  # noqa: PLC0415
    from kith.identity.rest.record_store import RecordStore  # noqa: PLC0415

    async with works.begin() as work:
        if what == "grants":
            _refuse_unknown(query, {"user", "application"})
            chosen = await grants.read_filter(work, query)
            await exporting.note_export(work, None, COMMAND_LINE, actions.PLACE, dict(query))
            return grants.lines(works, chosen)
        resource = next(one for one in RESOURCES if one.path == _LISTS[what])
        known = {one.name for one in resource.filters} | set(resource.exact) | {"ordering"}
        _refuse_unknown(query, known | ({"search"} if resource.search else set()))
        wanted = await ListQuery.read(RecordStore(resource), work, query)
        await exporting.note_export(work, None, COMMAND_LINE, exporting.place_of(resource), dict(query))
        return exporting.records(works, wanted)
