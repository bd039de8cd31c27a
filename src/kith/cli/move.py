"""`kith move`: a server's rows to the other kind of database."""

from __future__ import annotations

import click

from kith.backup.copying.copying import CopyReport
from kith.backup.copying.moving import move as move_rows
from kith.backup.copying.options import CopyOptions
from kith.base.settings import Settings, load
from kith.cli.progress import Bar
from kith.cli.running import as_json, refuse_other_schema, run, say
from kith.cli.showing import show_rows


@click.command()
@click.option("--to", required=True, metavar="URL", help="As KITH_DATABASE will be: postgresql://... or sqlite.")
@click.option("--rehearse", is_flag=True, help="Copy to a place that is thrown away; the server may run meanwhile.")
@click.option("--anew", is_flag=True, help="Delete what an interrupted move has left there, and begin again.")
@click.option("--drop-nul", is_flag=True, help="Leave NUL characters out of texts: PostgreSQL knows none.")
@as_json
def move(*, to: str, rehearse: bool, anew: bool, drop_nul: bool, as_json: bool) -> None:
    """Move from SQLite to PostgreSQL, or back. The server must be stopped; what is interrupted goes on.

    The database that is moved is not changed. Media and keys stay where they are.
    """
    settings = load()

    async def do() -> CopyReport:
        await refuse_other_schema(settings)
        options = CopyOptions(is_rehearsal=rehearse, is_dropping_nul=drop_nul)
        with Bar("rows") as bar:
            return await move_rows(settings, to, bar, options, is_anew=anew)

    report = run(do())
    if as_json:
        say({
            "rehearsed": rehearse, "rows": report.rows, "resumed": report.resumed, "seconds": round(report.seconds, 1),
            "rows_a_second": report.rows_a_second, "tables": report.tables, "changed": report.changed,
        })  # fmt: skip
    else:
        _tell(report, settings, is_rehearsal=rehearse)


def _tell(report: CopyReport, settings: Settings, *, is_rehearsal: bool) -> None:
    filled = [(one.name, one.before, one.after) for one in report.tables if one.before]
    show_rows(["table", "rows before", "rows now"], filled, nothing="There are no rows.")
    for row in report.changed:
        click.echo(f"NUL characters were left out of {row.table}, {row.key}")
    resumed = f" ({report.resumed} of them by the try before)" if report.resumed else ""
    click.echo(
        f"{'Rehearsed' if is_rehearsal else 'Moved'}: {report.rows} rows in {len(report.tables)} tables{resumed}, as "
        f"many in each as before; {report.seconds:.0f} s, {report.rows_a_second} rows/s."
    )
    if is_rehearsal:
        click.echo("The copy is deleted again. Stop the server and run the same without --rehearse to move.")
        return
    click.echo("Next: set KITH_DATABASE (database in kith.toml) to what --to was, then `kith check` and `kith serve`.")
    if settings.is_sqlite:
        click.echo(f"{settings.sqlite_path} is as it was. Keep it until you are sure, and start no server with it.")
    else:
        click.echo("The old database is as it was. Keep it until you are sure, and start no server with it.")
        if settings.processes > 1 or settings.database_replicas:
            click.echo("SQLite serves with one process: take KITH_PROCESSES and KITH_DATABASE_REPLICAS away.")
