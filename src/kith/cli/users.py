from __future__ import annotations

import click

from kith.cli.running import as_json, house, run, say
from kith.identity.users import service

ROLES = {
    "owner": "owner",
    "admin": "administrator",
    "administrator": "administrator",
    "moderator": "moderator",
}


@click.group()
def users() -> None:
    """Make, show and change people."""


@users.command()
@click.argument("name")
@click.option("--email", required=True, help="Where mail for this person goes.")
@click.option("--password", help="Asked for when left out.")
@click.option(
    "--role", type=click.Choice(["owner", "admin", "moderator"]), help="An ordinary member when left out."
)
@click.option("--confirmed", is_flag=True, help="The address is known to be theirs.")
@as_json
def create(
    *, name: str, email: str, password: str | None, role: str | None, confirmed: bool, as_json: bool
) -> None:
    """Make a person called NAME."""
    secret = password or click.prompt("Password", hide_input=True, confirmation_prompt=True)
    new = service.NewUser(
        username=name, email=email, password=secret, role=ROLES[role] if role else "user", confirmed=confirmed
    )

    async def make() -> None:
        async with house() as opened, opened.works.begin() as work:
            user = await service.create(work, opened.passwords, new)
        if as_json:
            say({"id": user.id, "username": user.username, "email": user.email, "role": user.role})
        else:
            click.echo(f"Made {user.username} (id {user.id}, {user.role}).")

    run(make())
