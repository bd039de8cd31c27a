from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kith.base.errors import Conflict, NotFound
from kith.cli.inputs import WORDS
from kith.cli.running import as_json, house, reading, run, say
from kith.cli.showing import show_rows

if TYPE_CHECKING:
    from kith.social.admission.tables import ServerAllow, ServerBlock

_domain = click.argument("domain", type=WORDS)


@click.group()
def domains() -> None:
    """Block and allow other servers."""


def block_command(severity: str) -> click.Command:
    """`block DOMAIN`, with the severity that counts where none is given."""

    @click.command("block")
    @_domain
    @click.option("--severity", type=click.Choice(["silence", "suspend", "noop"]), default=severity, show_default=True)
    @click.option("--reject-media", is_flag=True, help="Fetch none of its pictures.")
    @click.option("--reject-reports", is_flag=True, help="Take none of its reports.")
    @click.option("--obfuscate", is_flag=True, help="Show its name only in part.")
    @click.option("--comment", "public_comment", type=WORDS, help="Why, for everybody to read.")
    @click.option("--private-comment", type=WORDS, help="Why, for the team.")
    def block(*, domain: str, **given: Any) -> None:
        """Limit (silence) or suspend DOMAIN and all below it, with their accounts that are known here."""
        from kith.social.admission import servers  # noqa: PLC0415 - loaded when first used
        from kith.social.staff import OPERATOR  # noqa: PLC0415

        async def make() -> ServerBlock:
            async with house() as opened, opened.works.begin() as work:
                try:
                    return await servers.block(work, OPERATOR, domain, servers.DomainBlockDraft(**given))
                except servers.StricterAlready as error:
                    raise Conflict(str(error)) from error

        made = run(make())
        click.echo(f"Blocked {made.domain} ({made.severity}).")

    return block


domains.add_command(block_command("silence"))


@domains.command()
@_domain
def unblock(*, domain: str) -> None:
    """Lift the block of DOMAIN, and what it did to accounts."""
    from kith.social.admission import servers, store  # noqa: PLC0415 - loaded when first used
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    async def lift() -> str:
        async with house() as opened, opened.works.begin() as work:
            name = servers.checked_domain(work, domain)
            found = [one for one in await store.blocks_of(work.db, name) if one.domain == name]
            if not found:
                raise NotFound(f"{name} is not blocked")
            await servers.unblock(work, OPERATOR, found[0].id)
            return name

    click.echo(f"{run(lift())} is not blocked any more.")


@domains.command()
@_domain
@click.option("--remove", is_flag=True, help="Take it from the list again.")
def allow(*, domain: str, remove: bool) -> None:
    """Let DOMAIN in: lift its block, and put it on the list of servers that are let in where only those are."""
    from kith.social.admission import servers  # noqa: PLC0415 - loaded when first used
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    async def make() -> str:
        async with house() as opened, opened.works.begin() as work:
            act = servers.shut_out if remove else servers.let_in
            return await act(work, OPERATOR, domain)

    click.echo(f"{run(make())} is {'not allowed any more' if remove else 'allowed'}.")


@domains.command("list")
@as_json
def list_domains(*, as_json: bool) -> None:
    """Every server that is blocked or allowed."""
    from kith.social.admission import entities, store  # noqa: PLC0415 - loaded when first used

    async def read() -> tuple[list[ServerBlock], list[ServerAllow]]:
        async with reading() as work:
            return await store.every(work.db, "domain_block"), await store.every(work.db, "domain_allow")

    blocks, allows = run(read())
    if as_json:
        say(
            {
                "blocks": [entities.render_block(one) for one in blocks],
                "allows": [entities.render_allow(one) for one in allows],
            }
        )
        return
    rows: list[list[object]] = [[one.domain, one.severity, one.public_comment, one.created_at] for one in blocks]
    rows += [[one.domain, "allowed", None, one.created_at] for one in allows]
    show_rows(["domain", "state", "comment", "since"], rows, nothing="No servers.")
