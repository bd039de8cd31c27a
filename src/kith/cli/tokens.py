from __future__ import annotations

import uuid
from datetime import timedelta

import click

from kith.base.db import Session
from kith.base.errors import Invalid, NotFound
from kith.cli.inputs import COMMAND_LINE, WORDS, line_given, user_called
from kith.cli.running import as_json, house, reading, run, say
from kith.cli.showing import show_rows
from kith.identity.tokens import service, store
from kith.identity.tokens.service import Intent
from kith.identity.tokens.tables import ApiToken

_name = click.argument("name", type=WORDS)


@click.group()
def tokens() -> None:
    """Create, list and revoke tokens."""


@tokens.command()
@_name
@click.option("--scopes", default="", type=WORDS, help='The scopes of the token, such as "read write follow push".')
@click.option("--description", default="", type=WORDS, help="What the token is for.")
@click.option(
    "--expires", metavar="DAYS", type=click.IntRange(1, 36_500), help="Number of days until it expires. Default: never."
)
@click.option("--intent", type=click.Choice(["api", "app_password"]), default="api", show_default=True)
@as_json
def create(*, name: str, scopes: str, description: str, expires: int | None, intent: Intent, as_json: bool) -> None:
    """Create a token for the account NAME and print it. It cannot be shown again."""
    if intent == "api" and not scopes.strip():
        raise Invalid('give the scopes of the token: --scopes "read write follow push"')

    async def make() -> tuple[ApiToken, str]:
        async with house() as opened, opened.works.begin() as work:
            user = await user_called(work.db, name)
            return await service.create(
                work,
                user.id,
                scopes=scopes,
                intent=intent,
                description=description,
                expires_at=work.now + timedelta(days=expires) if expires else None,
                by_name=COMMAND_LINE,
            )

    token, key = run(make())
    if as_json:
        say({"token": key, "id": token.token_uuid, "scopes": token.scopes, "expires_at": token.expires_at})
    else:
        click.echo(key)


@tokens.command("list")
@_name
@as_json
def list_tokens(*, name: str, as_json: bool) -> None:
    """List the tokens of NAME, oldest first. The tokens themselves are never shown again."""

    async def read() -> list[ApiToken]:
        async with reading() as work:
            user = await user_called(work.db, name)
            return await store.of_user(work.db, user.id)

    records = [_record(token) for token in run(read())]
    if as_json:
        say(records)
    else:
        show_rows(
            ["id", "identifier", "intent", "scopes", "description", "made", "expires", "last used"],
            [list(record.values()) for record in records],
            nothing="No tokens.",
        )


@tokens.command()
@click.argument("named", metavar="ID_OR_TOKEN", type=WORDS)
@as_json
def revoke(*, named: str, as_json: bool) -> None:
    """Revoke a token, given by its ID or by the token itself (- reads it from standard input)."""
    given = line_given("token") if named == "-" else named

    async def end() -> ApiToken:
        async with house() as opened, opened.works.begin() as work:
            token = await _token(work.db, given)
            await service.revoke(work, token, by_name=COMMAND_LINE)
            return token

    token = run(end())
    if as_json:
        say(_record(token))
    else:
        click.echo(f"Revoked {token.token_uuid}.")


async def _token(db: Session, given: str) -> ApiToken:
    try:
        named = str(uuid.UUID(given))
    except ValueError:
        token = await store.find_by_hash(db, service.hash_key(given))
    else:
        token = await store.find(db, named)
    if token is None:
        raise NotFound("there is no token with this ID or value; see `kith tokens list NAME`")
    return token


def _record(token: ApiToken) -> dict[str, object]:
    return {
        "id": token.token_uuid,
        "identifier": token.identifier,
        "intent": token.intent,
        "scopes": token.scopes,
        "description": token.description,
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "last_used_at": token.last_used_at,
    }
