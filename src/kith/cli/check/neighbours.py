"""Other servers: whom the settings let in, and what waits for the team."""

from __future__ import annotations

from collections.abc import AsyncIterator

from sqlalchemy import bindparam, func, select

from kith.base.db import Session, query
from kith.base.settings import Settings
from kith.cli.check.findings import Finding, ok, warning
from kith.federation.block_lists.tables import block_lists
from kith.social.accounts.tables import accounts
from kith.social.admission.tables import server_allows, server_blocks

_allows = query(select(func.count()).select_from(server_allows), int)
_blocks = query(select(func.count()).select_from(server_blocks), int)
_held = query(select(block_lists.c.url).where(block_lists.c.state == "held").order_by(block_lists.c.id), str)


# People whose ids, by which other servers know them, are of another address than the server's.
_elsewhere = query(
    select(accounts.c.uri)
    .where(accounts.c.user_id.is_not(None), ~accounts.c.uri.startswith(bindparam("base"), autoescape=False))
    .limit(1),
    str,
)


async def neighbours(settings: Settings, db: Session) -> AsyncIterator[Finding]:
    allows, blocks = await db.one(_allows) or 0, await db.one(_blocks) or 0
    if settings.is_allow_list and not allows:
        yield warning(
            "servers",
            "KITH_FEDERATION is allow-list, and no server is allowed: nobody elsewhere is talked to",
            "run `kith federation allow DOMAIN`, or set KITH_FEDERATION to open",
        )
    elif settings.is_allow_list:
        yield ok("servers", f"only {allows} allowed servers are talked to")
    else:
        yield ok("servers", f"other servers are talked to, but for those that are blocked ({blocks})")
    former = await db.one(_elsewhere, base=f"{settings.base_url}/")
    if former is not None:
        yield warning(
            "address",
            f"other servers know people here by another address, such as {former}",
            "set KITH_BASE_URL to what it was; docs/backup.md says what another domain means",
        )
    for url in await db.all(_held):
        yield warning(
            "servers",
            f"the block list {url} has changed a lot and waits for you",
            f"see how: `kith federation subscriptions rehearse {url}`, and agree with `--apply`",
        )
