from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kith.backup.places import shown
from kith.base.settings import Settings, load
from kith.cli.running import as_json, revision_of, run, say
from kith.cli.showing import show_rows
from kith.migrations import HEAD
from kith.migrations.plan import UpgradePlan
from kith.migrations.plan import plan as make_plan
from kith.migrations.runner import upgrade

if TYPE_CHECKING:
    from kith.cli.backup_runs import MadeBackup

_READS = {
    "go on": "go on: the old server answers all the while",
    "wait": "wait for tables that are changed, and are then answered",
    "end": "end for what is removed: stop the old server first, or start the new one right after",
}


async def bring_up(settings: Settings) -> str | None:
    before = await revision_of(settings)
    if before != HEAD:
        await upgrade(settings)
    return before


@click.command()
@click.option("--plan", "is_planning", is_flag=True, help="Only say what would be done, and how long it may take.")
@click.option("--backup", "target", metavar="TARGET", help="Make a backup there first: a folder or s3://bucket/prefix.")
@click.option(
    "--key-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file with the key to encrypt the backup with.",
)
@as_json
def migrate(*, is_planning: bool, target: str | None, key_file: Path | None, as_json: bool) -> None:
    """Upgrade the database to the current schema.

    Can be run while the server is running, and more than once: either all of it is done, or nothing.
    """
    settings = load()
    if is_planning:
        _show(run(_plan(settings)), as_json=as_json)
        return
    if target is None and not as_json and sys.stdin.isatty() and sys.stdout.isatty():
        target = run(_offer(settings))
    note = _back_up(target, key_file) if target else None
    before = run(bring_up(settings))
    if note is not None:
        run(note())
    if as_json:
        say({"from": before, "to": HEAD})
    elif before == HEAD:
        click.echo(f"The database is already at {HEAD}.")
    else:
        click.echo(f"The database was upgraded from {before or 'nothing'} to {HEAD}.")


async def _plan(settings: Settings) -> UpgradePlan:
    exists = not settings.is_sqlite or settings.sqlite_path.is_file()
    return await make_plan(settings, await revision_of(settings) if exists else None, HEAD)


async def _offer(settings: Settings) -> str | None:
    """Whoever sits there is asked, unless there is nothing to lose."""
    exists = not settings.is_sqlite or settings.sqlite_path.is_file()
    before = await revision_of(settings) if exists else None
    if before in (None, HEAD):
        return None
    told = f" to {shown(settings.backup)}" if settings.backup else ""
    if not click.confirm(f"The database goes from {before} to {HEAD}. Make a backup{told} first?", default=True):
        return None
    return settings.backup or str(click.prompt("Where to (a folder or s3://bucket/prefix)"))


def _back_up(target: str, key_file: Path | None) -> Callable[[], Coroutine[Any, Any, None]]:
    """What is returned writes the backup down where those of `kith backup` are, which only the new schema can."""
    from kith.cli.backup_runs import make_before_upgrade, settle, warn_without_key  # noqa: PLC0415 - loaded when first used
    from kith.cli.progress import Bar  # noqa: PLC0415

    async def do() -> MadeBackup:
        settled = await settle(target, key_file)
        warn_without_key(settled)
        with Bar() as bar:
            return await make_before_upgrade(settled, bar)

    made = run(do())
    click.echo(f"Backup {made.id} is at {shown(target)}.", err=True)
    return made.note


def _show(plan: UpgradePlan, *, as_json: bool) -> None:
    if as_json:
        say(plan)
        return
    if not plan.steps:
        click.echo(f"The database is already at {HEAD}.")
        return
    rows = [
        (step.revision, step.words, sum(step.tables.values()), step.reads, f"{step.seconds:.1f} s")
        for step in plan.steps
    ]
    show_rows(["revision", "what", "rows concerned", "reads", "about"], rows, nothing="")
    click.echo(
        f"From {plan.current or 'nothing'} to {plan.newest}: {len(plan.steps)} steps in one transaction, about "
        f"{plan.seconds:.0f} s on a modest machine; writes wait. Reads {_READS[plan.reads]}."
    )
    click.echo("If it is interrupted nothing has changed. Make a backup first: kith migrate --backup TARGET")
