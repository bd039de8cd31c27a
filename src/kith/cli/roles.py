from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from kith.base.errors import Invalid, NotFound
from kith.cli.inputs import WORDS
from kith.cli.running import as_json, house, reading, run, say
from kith.cli.showing import show_rows

if TYPE_CHECKING:
    from kith.base.work import Work
    from kith.social.roles.tables import Role

_name = click.argument("name", type=WORDS)


@click.group()
def roles() -> None:
    """Show, make and change roles."""


def _options(command: Any) -> Any:
    for option in (
        click.option("--highlighted/--plain", default=None, help="Whether it is shown as a badge on accounts."),
        click.option("--permission", "permissions", multiple=True, type=WORDS, help="May be given several times."),
        click.option("--position", type=click.IntRange(0, 1_000_000), help="Who stands lower can be acted upon."),
        click.option("--color", type=WORDS, help="Of the badge, as #rrggbb."),
    ):
        command = option(command)
    return command


def _record(role: Role) -> dict[str, Any]:
    from kith.social.roles.entities import render_for_staff  # noqa: PLC0415 - loaded when first used

    return render_for_staff(role)


async def role_called(work: Work, name: str) -> Role:
    """Find a role by its id or its name; an error lists the names that there are."""
    from kith.social.admin import roles as service  # noqa: PLC0415 - loaded when first used
    from kith.social.roles import store  # noqa: PLC0415

    try:
        return await service.named(work, name)
    except NotFound as error:
        names = ", ".join(one.name for one in (await store.load(work.db)).listed if one.name)
        raise NotFound(f"there is no role called {name}, but {names}") from error


@roles.command("list")
@as_json
def list_roles(*, as_json: bool) -> None:
    """Every role, the highest first."""
    from kith.social.roles import store  # noqa: PLC0415 - loaded when first used
    from kith.social.roles.permissions import names_of  # noqa: PLC0415

    async def read() -> list[Role]:
        async with reading() as work:
            return (await store.load(work.db)).listed

    found = run(read())
    if as_json:
        say([_record(role) for role in found])
    else:
        rows = [
            [role.id, role.name or "(everyone)", role.position, " ".join(names_of(role.permissions))] for role in found
        ]
        show_rows(["id", "name", "position", "permissions"], rows, nothing="No roles.")


@roles.command()
@_name
@_options
@as_json
def create(*, name: str, as_json: bool, **given: Any) -> None:
    """Make a role called NAME."""
    from kith.social.admin import roles as service  # noqa: PLC0415 - loaded when first used
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    async def make() -> Role:
        async with house() as opened, opened.works.begin() as work:
            return await service.create(work, OPERATOR, service.RoleDraft(name=name, **_draft(given)))

    role = run(make())
    say(_record(role)) if as_json else click.echo(f"Made the role {role.name} (id {role.id}).")


@roles.command()
@_name
@click.option("--name", "new_name", type=WORDS, help="What it is called from now on.")
@_options
@as_json
def change(*, name: str, new_name: str | None, as_json: bool, **given: Any) -> None:
    """Change the role NAME (a name, or an id); what is not given stays."""
    from kith.social.admin import roles as service  # noqa: PLC0415 - loaded when first used
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    async def make() -> Role:
        async with house() as opened, opened.works.begin() as work:
            before = await role_called(work, name)
            return await service.change(work, OPERATOR, before.id, service.RoleDraft(name=new_name, **_draft(given)))

    role = run(make())
    say(_record(role)) if as_json else click.echo(f"Changed the role {role.name}.")


@roles.command()
@_name
def delete(*, name: str) -> None:
    """Delete the role NAME; whoever has it is an ordinary member again."""
    from kith.social.admin import roles as service  # noqa: PLC0415 - loaded when first used
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    async def take() -> Role:
        async with house() as opened, opened.works.begin() as work:
            role = await role_called(work, name)
            await service.remove(work, OPERATOR, role.id)
            return role

    click.echo(f"Deleted the role {run(take()).name}.")


def _draft(given: dict[str, Any]) -> dict[str, Any]:
    from kith.social.roles.permissions import NAMES  # noqa: PLC0415 - loaded when first used

    names = list(given.pop("permissions"))
    if unknown := [one for one in names if one not in NAMES]:
        raise Invalid(f"there is no permission {unknown[0]}; there are {', '.join(sorted(NAMES))}")
    color = given.get("color")
    if color and not re.fullmatch("#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})", color):
        raise Invalid(f"--color must be like #3366cc, not {color}")
    return given | {"permissions_as_keys": names or None}
