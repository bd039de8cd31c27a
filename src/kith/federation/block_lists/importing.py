"""Lists that somebody of the team brings as a file: rehearsed, and acted upon when they say so."""

from __future__ import annotations

import msgspec

from kith.base.errors import Invalid
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.block_lists import subscribing
from kith.federation.block_lists.csv_lists import ListedServer, ReadList
from kith.federation.block_lists.planning import BlockListPlan, planned
from kith.social.admission import servers
from kith.social.admission import store as admission
from kith.social.admission.servers import StricterAlready
from kith.social.ids import AccountId, UserId
from kith.social.staff import Staff

__all__ = ["BLOCK_SERVERS", "allow_all", "block_all", "rehearse"]

AT_ONCE = 25


async def rehearse(work: Work, listed: ReadList) -> tuple[BlockListPlan, int]:
    """What would be blocked, and how many follows would end by it. Blocks that are there stay as they are."""
    blocks = await admission.every(work.db, "domain_block")
    plan = planned(0, listed.servers, blocks, (), work.settings.is_own_domain)
    return plan, await subscribing.severed_by(work, plan)


async def block_all(work: Work, by: Staff, listed: ReadList) -> tuple[BlockListPlan, int]:
    """A stretch at a time, each a job of its own."""
    by.check("manage_federation")
    plan, severed = await rehearse(work, listed)
    wanted = [one.server for one in plan.added]
    for place in range(0, len(wanted), AT_ONCE):
        part = BlockServers(wanted[place : place + AT_ONCE], by.name, by.user_id, by.account_id)
        work.enqueue(BLOCK_SERVERS, part)
    return plan, severed


class BlockServers(msgspec.Struct):
    """Some servers of a file, in the name of whoever has brought it."""

    servers: list[ListedServer]
    name: str
    user_id: UserId | None
    account_id: AccountId | None


async def block_servers(work: Work, payload: BlockServers) -> None:
    by = Staff(payload.name, payload.user_id, payload.account_id)
    for one in payload.servers:
        try:
            async with work.db.savepoint():
                await servers.block(work, by, one.domain, subscribing.draft_of(one))
        except (StricterAlready, Invalid):  # somebody was quicker
            continue


BLOCK_SERVERS: JobKind[BlockServers] = JobKind(
    name="federation_block_lists.import", payload=BlockServers, handler=block_servers, is_harmless=True
)


async def allow_all(work: Work, by: Staff, listed: ReadList) -> list[str]:
    """Which were not listed before."""
    by.check("manage_federation")
    known = {one.domain for one in await admission.every(work.db, "domain_allow")}
    new = [one.domain for one in listed.servers if one.domain not in known]
    new = [domain for domain in new if not work.settings.is_own_domain(domain)]
    for domain in new:
        await servers.allow(work, by, domain)
    return new
