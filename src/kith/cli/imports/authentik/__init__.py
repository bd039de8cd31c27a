"""`kith import authentik`: people, groups, applications and how they are let in move here from authentik."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import click

from kith.base import import_runs
from kith.base.errors import Invalid
from kith.cli.imports.authentik.database import read_database
from kith.cli.imports.authentik.export import read_export
from kith.cli.imports.authentik.records import STEPS, AuthentikServer, OldRecord, RecordStep, in_order
from kith.cli.imports.authentik.taking import Taking
from kith.cli.imports.progress import Progress
from kith.cli.imports.reports import end
from kith.cli.imports.running import Batch, RunningImport, RunStep, open_run
from kith.cli.running import as_json, house, run
from kith.identity.brands import shipped as brands
from kith.identity.executor import shipped_flows
from kith.identity.mappings import defaults as mappings

__all__ = ["authentik", "import_steps"]

AT_ONCE = 20


@click.command()
@click.argument("source")
@click.option("--install-id", default="", help="For an export: the id in the table authentik_install_id.")
@click.option("--with-scim", is_flag=True, help="Take SCIM providers too: they begin to send people at once.")
@click.option("--rehearse", is_flag=True, help="Read and check everything, write nothing.")
@click.option("--report", type=click.Path(path_type=Path), help="The file for records that are left out (CSV).")
@as_json
def authentik(
    *, source: str, install_id: str, with_scim: bool, rehearse: bool, report: Path | None, as_json: bool
) -> None:
    """Move in from authentik: people, groups, applications, providers, flows and policies.

    SOURCE is a plain dump of its PostgreSQL database (also .gz), the address of the database, which is only read, or
    what `ak export_blueprint` wrote, which holds no passwords. If it was interrupted, the same command goes on where
    it stopped. What came before stays as it is.
    """
    run(_import(source, install_id, with_scim=with_scim, rehearse=rehearse, report=report, as_json=as_json))


async def _import(
    source: str, install_id: str, *, with_scim: bool, rehearse: bool, report: Path | None, as_json: bool
) -> None:
    is_there, is_dump = _looked_at(source)
    if not is_there:
        raise Invalid(f"{source} is neither a file nor the address of a PostgreSQL database (postgresql://...)")
    with Progress() as progress:
        server = await read_database(source, progress) if is_dump else read_export(Path(source), install_id)
        options = {"with_scim": with_scim}
        async with house() as opened:
            async with open_run(
                opened.works, "authentik", server.name, options, progress, rehearse=rehearse
            ) as importing:
                async for step in import_steps(importing, server):
                    await importing.do(step)
            progress.stop()
            await end(opened, importing, report, as_json=as_json)


def _looked_at(source: str) -> tuple[bool, bool]:
    """Whether it is there, and whether it is a database or a dump of one."""
    if source.startswith(("postgresql://", "postgres://")):
        return True, True
    path = Path(source)
    if not path.is_file():
        return False, False
    with path.open("rb") as raw:
        head = raw.read(4096)
    if head.startswith(b"\x1f\x8b"):  # only dumps are packed
        return True, True
    return True, head.startswith((b"PGDMP", b"COPY ")) or b"PostgreSQL database" in head or b"\nCOPY " in head


async def import_steps(importing: RunningImport, server: AuthentikServer) -> AsyncIterator[RunStep[Any]]:
    async with importing.work() as work:
        await shipped_flows.ensure(work)
        await mappings.ensure(work)
        await brands.ensure(work)
        before = await import_runs.records(work.db, server.origin)
    taking = Taking(server, before, with_scim=bool(importing.row.options["with_scim"]))
    yield _reading(server)
    for step in STEPS:
        yield _step(taking, server, step)


def _reading(server: AuthentikServer) -> RunStep[None]:
    """What was left out while it was read, told once."""

    def batches(place: int) -> Iterator[tuple[int, list[None]]]:
        if not place:
            yield 1, []

    async def take(batch: Batch[None]) -> None:
        batch.left += server.left
        if not server.is_database:
            batch.leave("(everybody)", "an export holds no passwords: the database does", step="people")

    return RunStep("others", 1, batches, take)


def _step(taking: Taking, server: AuthentikServer, step: RecordStep) -> RunStep[OldRecord]:
    """Those that were taken before it was interrupted are only looked up again, for others that refer to them."""
    records = in_order(server.records, step)

    def batches(place: int) -> Iterator[tuple[int, list[OldRecord]]]:
        for start in range(0, len(records), AT_ONCE):
            taking.is_repeated = start < place
            yield max(place, start + AT_ONCE), records[start : start + AT_ONCE]

    return RunStep(step.name, len(records), batches, taking.take)
