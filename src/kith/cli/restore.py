"""`kith restore`: a server made of a backup."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from kith.backup.copying.options import CopyOptions
from kith.backup.failures import BadRepository
from kith.backup.listing import show
from kith.backup.manifest import Manifest
from kith.backup.passphrase import find_passphrase
from kith.backup.places import BackupPlace, shown
from kith.backup.repository import Repository
from kith.backup.restoring import DRAFT
from kith.backup.restoring import restore as restore_backup
from kith.base.settings import BadSettings, Settings, load
from kith.cli.backup_runs import warn_of_readable_key
from kith.cli.progress import Bar
from kith.cli.running import as_json, run, say


@click.command()
@click.argument("target")
@click.option("--backup", "id", help="Which one, as `kith backup list` names it; else the newest.")
@click.option("--data", type=click.Path(path_type=Path), help="The data folder to restore to; else KITH_DATA.")
@click.option("--database", help="The database to restore to; else KITH_DATABASE.")
@click.option("--key-file", type=click.Path(dir_okay=False, path_type=Path), help="A file with the key of the backups.")
@click.option("--drop-nul", is_flag=True, help="Of SQLite to PostgreSQL: leave NUL characters out of texts.")
@as_json
def restore(
    *,
    target: str,
    id: str | None,
    data: Path | None,
    database: str | None,
    key_file: Path | None,
    drop_nul: bool,
    as_json: bool,
) -> None:
    """Restore a backup to a machine, a data folder and a database that are empty.

    The database may be of the other kind than the one that the backup was made of.
    """
    settings = load()
    if data is not None:
        settings = msgspec.structs.replace(settings, data=data)
    if database is not None:
        if database != "sqlite" and not database.startswith(("sqlite:///", "postgresql://", "postgres://")):
            raise BadSettings("--database must be sqlite, sqlite:///PATH or postgresql://..., as KITH_DATABASE is")
        settings = msgspec.structs.replace(settings, database=database)
    warn_of_readable_key(settings, key_file)

    options = CopyOptions(is_dropping_nul=drop_nul)

    async def do() -> tuple[Manifest, list[str]]:
        repository = await Repository.open(BackupPlace(target, settings), find_passphrase(settings, key_file))
        async with repository.place.lock(shared=True):
            manifest = await (repository.newest_readable() if id is None else repository.manifest(id))
            if manifest is None:
                raise BadRepository(f"there are no backups at {shown(target)} that can be read")
            if id is None and (newer := [one for one in await repository.ids() if one > manifest.id]):
                click.echo(f"kith: {', '.join(newer)}: damaged, so {manifest.id} is restored", err=True)
            with Bar() as bar:
                return manifest, await restore_backup(settings, repository, manifest, bar, options=options)

    manifest, differences = run(do())
    if as_json:
        say(show(manifest) | {"differences": differences})
    else:
        _tell(manifest, differences, settings)
    if differences:
        raise click.exceptions.Exit(1)


def _tell(manifest: Manifest, differences: list[str], settings: Settings) -> None:
    rows = sum(manifest.counts.values())
    click.echo(f"Restored {manifest.id}: {rows} rows, {manifest.files_count} files, {len(manifest.keys)} keys.")
    for words in differences:
        click.echo(f"differs: {words}")
    if manifest.base_url != settings.base_url or manifest.domain != settings.domain:
        click.echo(
            f"The server was {manifest.base_url} (handles at {manifest.domain}); KITH_BASE_URL is {settings.base_url} "
            "now. Other servers know everybody here by the old address: read docs/backup.md before you start it."
        )
    if manifest.files_gone:
        click.echo(f"{manifest.files_gone} files were deleted while the backup was being made, and are not in it.")
    click.echo(f"What was set is written to {settings.data / DRAFT}. Next: `kith check`, then `kith serve`.")
