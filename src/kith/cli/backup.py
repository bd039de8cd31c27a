"""`kith backup`: copies of the whole server, while it runs."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import click

from kith.backup.failures import RepositoryInUse
from kith.backup.listing import Pruned, RepositoryVerdict, prune_repository, show, verify_repository
from kith.backup.manifest import Manifest
from kith.backup.places import BackupPlace, shown
from kith.backup.repository import Repository
from kith.base.backups.tasks import IN_USE
from kith.cli.backup_runs import (
    RunSettings,
    make_and_note,
    rehearse_and_note,
    settle,
    store_schedule,
    tell_damaged,
    warn_without_key,
)
from kith.cli.progress import Bar
from kith.cli.running import as_json, run, say
from kith.cli.showing import show_rows

_PR_SET_PDEATHSIG = 1


class _Group(click.Group):
    """`kith backup DIR` makes a backup: what is no command is where it goes."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands:
            args = ["make", *args]
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        known = {"--help", "-h", "--schedule", "--to", "--keep"}
        first = args[0].partition("=")[0] if args else ""
        if not args or (first.startswith("-") and first not in known):
            args = ["make", *args]
        return super().parse_args(ctx, args)


target = click.argument("target", required=False)
key_file = click.option(
    "--key-file", type=click.Path(dir_okay=False, path_type=Path), help="A file with the key to encrypt with."
)
gently = click.option("--gently", is_flag=True, hidden=True)


@click.group(cls=_Group, invoke_without_command=True)
@click.option(
    "--schedule",
    is_flag=False,
    flag_value="?",
    metavar="WHEN",
    help="Have the worker make backups: `daily at 03:00`, `every 6h`, `off`. Alone: show what is set.",
)
@click.option("--to", metavar="TARGET", help="Where scheduled backups go: a folder or s3://bucket/prefix.")
@click.option("--keep", metavar="RULES", help="Which ones stay, such as `7 daily, 4 weekly, 12 monthly`.")
@click.pass_context
def backup(ctx: click.Context, *, schedule: str | None, to: str | None, keep: str | None) -> None:
    """Back up database, media, keys and settings to a folder or to s3://bucket/prefix, while the server runs.

    `kith backup TARGET` makes a backup; without TARGET it goes where KITH_BACKUP says.
    """
    if ctx.invoked_subcommand is None:
        found = run(store_schedule(None if schedule in (None, "?") else schedule, to, keep))
        for name, value in found.items():
            click.echo(f"{name}: {value}")


@backup.command()
@target
@key_file
@click.option("--prune", "is_pruning", is_flag=True, help="Afterwards remove old ones, as KITH_BACKUP_KEEP says.")
@gently
@as_json
def make(*, target: str | None, key_file: Path | None, is_pruning: bool, gently: bool, as_json: bool) -> None:
    """Make a backup."""
    if gently:
        _give_way()

    async def do() -> tuple[RunSettings, Manifest]:
        settled = await settle(target, key_file)
        if not as_json:
            warn_without_key(settled)
        with Bar() as bar:
            return settled, await make_and_note(settled, bar, is_pruning=is_pruning)

    settled, manifest = _locked(do())
    if as_json:
        say(show(manifest))
    else:
        click.echo(
            f"Backup {manifest.id} is at {shown(settled.target)}: {_size(manifest.size)} "
            f"({_size(manifest.new_bytes)} of them new), {manifest.files_count} files, read back and found right."
        )


@backup.command("list")
@target
@key_file
@as_json
def list_backups(*, target: str | None, key_file: Path | None, as_json: bool) -> None:
    """List backups, oldest first."""

    async def read() -> tuple[list[Manifest], list[str]]:
        return await (await _open(target, key_file)).readable()

    found, damaged = run(read())
    tell_damaged(damaged)
    if as_json:
        say([show(one) for one in found])
    else:
        rows = [
            (one.id, one.made_at, one.version, one.engine, _size(one.size), _size(one.new_bytes), one.files_count)
            for one in found
        ]
        show_rows(["id", "moment", "version", "database", "size", "new", "files"], rows, nothing="No backups.")


@backup.command()
@target
@key_file
@click.option("--backup", "id", help="Only this one.")
@click.option(
    "--drop-damaged",
    is_flag=True,
    help="Remove damaged pieces, so that the next backup writes them anew, and manifests.",
)
@as_json
def verify(*, target: str | None, key_file: Path | None, id: str | None, drop_damaged: bool, as_json: bool) -> None:
    """Read every piece of the backups and say whether they are what was written."""

    async def do() -> RepositoryVerdict:
        repository = await _open(target, key_file)
        async with repository.place.lock(shared=not drop_damaged):
            with Bar() as bar:
                return await verify_repository(repository, id, bar, is_dropping=drop_damaged)

    verdict = _locked(do())
    if as_json:
        say(verdict)
    else:
        for one in verdict.damaged_backups:
            click.echo(f"{one} is damaged")
        click.echo(f"{verdict.pieces} pieces of {verdict.backups} backups were read, {verdict.damaged} are damaged.")
    if verdict.damaged or verdict.damaged_backups:
        raise click.exceptions.Exit(1)


@backup.command()
@target
@key_file
@click.option("--keep", metavar="RULES", help="Such as `7 daily, 4 weekly, 12 monthly`; else KITH_BACKUP_KEEP.")
@click.option("--keep-daily", type=click.IntRange(0), help="Of as many days the newest one.")
@click.option("--keep-weekly", type=click.IntRange(0), help="Of as many weeks the newest one.")
@click.option("--keep-monthly", type=click.IntRange(0), help="Of as many months the newest one.")
@click.option("--dry-run", is_flag=True, help="Only say which would go.")
@as_json
def prune(
    *, target: str | None, key_file: Path | None, keep: str | None, dry_run: bool, as_json: bool, **counts: int | None
) -> None:
    """Remove old backups and every piece that no other needs. The newest one always stays."""
    given = ", ".join(f"{count} {name.removeprefix('keep_')}" for name, count in counts.items() if count is not None)

    async def do() -> Pruned:
        settled = await settle(target, key_file)
        repository = await Repository.open(BackupPlace(settled.target, settled.settings), settled.passphrase)
        async with repository.place.lock():
            return await prune_repository(repository, keep or given or settled.settings.backup_keep, is_trying=dry_run)

    pruned: Pruned = _locked(do())
    tell_damaged(pruned.damaged_backups)
    if as_json:
        say(pruned)
    else:
        for id in pruned.backups:
            click.echo(f"{id} {'would go' if dry_run else 'is gone'}")
        click.echo(f"{len(pruned.backups)} backups, {pruned.pieces} pieces.")


@backup.command()
@target
@key_file
@gently
@as_json
def rehearse(*, target: str | None, key_file: Path | None, gently: bool, as_json: bool) -> None:
    """Restore the newest backup to a place that is thrown away, start it there, and compare."""
    if gently:
        _give_way()

    async def do() -> str:
        return await rehearse_and_note(await settle(target, key_file))

    words = _locked(do())
    if as_json:
        say({"ok": True, "found": words})
    else:
        click.echo(f"The newest backup can be restored: {words}.")


async def _open(target: str | None, key_file: Path | None) -> Repository:
    settled = await settle(target, key_file)
    return await Repository.open(BackupPlace(settled.target, settled.settings), settled.passphrase)


def _locked(doing: Coroutine[Any, Any, Any]) -> Any:
    try:
        return run(doing)
    except RepositoryInUse as error:
        click.echo(f"kith: {error}", err=True)
        raise click.exceptions.Exit(IN_USE) from error


def _give_way() -> None:
    """To everybody else on the machine; and not to outlive the server that started it, nor to leave anything behind."""
    os.nice(10)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
