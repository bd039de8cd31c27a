"""`kith blueprints`: the server's configuration as files."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import click
import msgspec

from kith.base.errors import Invalid, Problem
from kith.base.settings import load
from kith.base.work import Works
from kith.cli.running import as_json, house, reading, run, say
from kith.cli.showing import show_rows
from kith.identity.blueprints import folder, store
from kith.identity.blueprints.applying import SYSTEM, Applied, ReadFile, apply, rehearse
from kith.identity.blueprints.exporting import ExportedFile, export, export_whole
from kith.identity.blueprints.outside import OutsideValues
from kith.identity.blueprints.reading import FROM_DISK, read_blueprint
from kith.identity.blueprints.run import Change
from kith.identity.blueprints.sealed import FileSealer
from kith.identity.blueprints.tags import BadBlueprint
from kith.identity.blueprints.writing import as_yaml
from kith.migrations.runner import upgrade

_files = click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
_context = click.option("--context", multiple=True, metavar="NAME=VALUE", help="A value for !Context; may be repeated.")
_key_file = click.option(
    "--key-file", type=click.Path(path_type=Path), help="A file with the key that seals or opens secrets."
)


@click.group()
def blueprints() -> None:
    """Keep the configuration in files, and apply them."""


@blueprints.command("list")
@as_json
def list_(*, as_json: bool) -> None:
    """List the blueprints that the server keeps up, and how each of them fared."""

    async def look() -> list[store.BlueprintInstance]:
        async with reading() as work:
            return await store.every(work.db)

    found = run(look())
    if as_json:
        say([{name: getattr(one, name) for name in _SHOWN} for one in found])
        return
    rows = [(one.status if one.enabled else "disabled", one.name, one.path, "; ".join(one.log)) for one in found]
    show_rows(("state", "name", "file", "what was said"), rows, nothing="No blueprints.")


_SHOWN = ("instance_uuid", "name", "path", "enabled", "status", "last_applied", "managed_models", "log")


@blueprints.command()
@_files
@_context
@_key_file
def check(files: tuple[Path, ...], *, context: tuple[str, ...], key_file: Path | None) -> None:
    """Would these files be applied, in this order? Nothing is changed.

    They are rehearsed on this server, or on a new one where there is no database yet.
    """
    values, sealer = _values(context), _sealer(key_file)
    counts: dict[Path, int] = {}
    for path in files:
        try:
            counts[path] = len(read_blueprint(_bytes(path), FROM_DISK).entries)
        except BadBlueprint as error:
            click.echo(f"{path}: {error}", err=True)
    if len(counts) < len(set(files)):
        raise click.exceptions.Exit(1)
    try:
        done = run(_check(files, values, sealer))
    except (BadBlueprint, Problem) as error:
        raise click.ClickException(str(error)) from error
    for words in done.warnings:
        click.echo(f"warning: {words}", err=True)
    for path, count in counts.items():
        click.echo(f"{path}: {'one entry' if count == 1 else f'{count} entries'}")


async def _check(files: tuple[Path, ...], values: dict[str, Any], sealer: FileSealer | None) -> Applied:
    settings = load()
    if not settings.is_sqlite or settings.sqlite_path.exists():
        async with house(settings) as opened:
            return await _apply(opened.works, files, values, sealer, is_rehearsal=True)
    from kith.cli.first_rows import offer_start  # noqa: PLC0415 - loaded when first used

    with tempfile.TemporaryDirectory(prefix="kith-blueprints-") as folder:
        new = msgspec.structs.replace(settings, data=Path(folder), database="sqlite")
        await upgrade(new)
        async with house(new) as opened:
            async with opened.works.begin() as work:
                await offer_start(work)
            return await _apply(opened.works, files, values, sealer, is_rehearsal=True)


@blueprints.command("apply")
@_files
@click.option("--rehearse", "is_rehearsal", is_flag=True, help="Only say what would change.")
@_context
@_key_file
@as_json
def apply_(
    files: tuple[Path, ...], *, is_rehearsal: bool, context: tuple[str, ...], key_file: Path | None, as_json: bool
) -> None:
    """Apply these files, in this order and in one transaction: all of them or nothing."""
    values = _values(context)
    sealer = _sealer(key_file)

    async def act() -> Applied:
        async with house() as opened:
            return await _apply(opened.works, files, values, sealer, is_rehearsal=is_rehearsal)

    try:
        done = run(act())
    except (BadBlueprint, Problem) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        say(done)
        return
    for words in done.warnings:
        click.echo(f"warning: {words}", err=True)
    for change in done.changes:
        _print(change)
    if not done.changes:
        click.echo("Nothing to change.")
    elif is_rehearsal:
        click.echo("This was a rehearsal: nothing was changed.")


async def _apply(
    works: Works, files: tuple[Path, ...], context: dict[str, Any], sealer: FileSealer | None, *, is_rehearsal: bool
) -> Applied:
    found = []
    for path in files:
        try:
            blueprint = read_blueprint(_bytes(path), FROM_DISK)
        except BadBlueprint as error:
            raise BadBlueprint(f"{path}: {error}") from error
        found.append(ReadFile(blueprint, OutsideValues(path.parent, is_open=True), context, str(path)))
    async with works.begin() as work:
        used = sealer or folder.file_sealer(work.settings)
        return await (rehearse if is_rehearsal else apply)(work, SYSTEM, found, used)


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > FROM_DISK.bytes:
            raise BadBlueprint(f"the file is larger than {FROM_DISK.bytes >> 20} MB")
        return path.read_bytes()
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}") from error


def _values(context: tuple[str, ...]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for one in context:
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise click.ClickException(f"--context takes NAME=VALUE, not {one!r}")
        values[name] = value
    return values


def _sealer(key_file: Path | None) -> FileSealer | None:
    if key_file is None:
        return None
    try:
        return FileSealer(key_file.read_bytes())
    except OSError as error:
        raise click.ClickException(f"{key_file}: {error.strerror}") from error
    except BadBlueprint as error:
        raise click.ClickException(str(error)) from error


_SIGNS = {"added": "+", "changed": "~", "removed": "-"}


def _print(change: Change) -> None:
    click.echo(f"{_SIGNS[change.action]} {change.model} {change.name}")
    for field in change.fields:
        after = _shown(field.after)
        words = after if change.action == "added" else f"{_shown(field.before)} → {after}"
        click.echo(f"    {field.field}: {words}")


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text.replace("\n", "\\n")[:200]


@blueprints.command("export")
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder for one file per area; without it, all is printed as one.",
)
@click.option("--with-secrets", is_flag=True, help="Secrets too, sealed with the key; without it they are left out.")
@_key_file
def export_(*, into: Path | None, with_secrets: bool, key_file: Path | None) -> None:
    """Write the configuration as blueprints: applied to an empty server they make the same server."""
    sealer = _sealer(key_file)
    if with_secrets and sealer is None:
        if not sys.stdin.isatty():
            raise Invalid("cannot ask for a passphrase without a terminal: use --key-file")
        words = click.prompt("A passphrase to seal the secrets with", hide_input=True, confirmation_prompt=True)
        try:
            sealer = FileSealer(words.encode())
        except BadBlueprint as error:
            raise click.ClickException(str(error)) from error

    async def act() -> list[ExportedFile]:
        async with house() as opened, opened.works.begin() as work:
            used = sealer if with_secrets else None
            return [await export_whole(work, used)] if into is None else await export(work, used)

    files = run(act())
    for words in files[0].warnings if files else ():
        click.echo(f"warning: {words}", err=True)
    if into is None:
        sys.stdout.write(as_yaml(files[0]))
        return
    into.mkdir(parents=True, exist_ok=True, mode=0o700)
    for one in files:
        place = into / f"{one.name}.yaml"
        _write(place, as_yaml(one))
        click.echo(f"{place}: {len(one.entries)} entries")


def _write(place: Path, text: str) -> None:
    """For the owner's eyes only, from its first letter on."""
    with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)
