"""Subscriptions to lists: fetched, rehearsed, and acted upon once somebody of the team has agreed.

What a list asks for later is done by itself as long as it changes little. A list that shrinks or grows a lot, or would
end many follows, is held until somebody agrees again.
"""

from __future__ import annotations

import hashlib
from urllib.parse import urlsplit

import msgspec

from kith.base.db import Taken
from kith.base.errors import Complaint, Conflict, Invalid, NotFound
from kith.base.http import Outgoing, OutgoingError
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.addresses import checked_address
from kith.federation.block_lists import store
from kith.federation.block_lists.csv_lists import MOST_BYTES, BadBlockList, ListedServer, read_list
from kith.federation.block_lists.planning import BlockListPlan, PlannedChange, fingerprint, planned, why_held
from kith.federation.block_lists.tables import BlockList, BlockListEntry
from kith.social.admission import servers
from kith.social.admission import store as admission
from kith.social.admission.servers import DomainBlockDraft, StricterAlready
from kith.social.admission.tables import ServerBlock
from kith.social.relationships import store as relationships
from kith.social.remote_servers import names_above
from kith.social.staff import Staff, record

__all__ = [
    "APPLY",
    "FetchedList",
    "Rehearsal",
    "add",
    "apply",
    "draft_of",
    "fetch",
    "find",
    "keep",
    "refreshed",
    "rehearse",
    "remove",
    "severed_by",
]

SECONDS = 30.0
AT_ONCE = 25


class FetchedList(msgspec.Struct, frozen=True):
    servers: tuple[ListedServer, ...]
    refused: int
    digest: str


class Rehearsal(msgspec.Struct, frozen=True):
    """What a list would change if it were acted upon now, and how many follows would end by it."""

    list: BlockList
    plan: BlockListPlan
    severed: int


# What the team does


async def add(work: Work, by: Staff, text: str) -> BlockList:
    by.check("manage_federation")
    url = checked_address(work.settings, "url", text)
    new = BlockList(work.new_id(), url, "new", 0, None, None, None, None, work.now)
    try:
        async with work.db.savepoint():
            await store.insert(work.db, new)
    except Taken as error:
        raise Invalid(fields={"url": [Complaint("has already been taken", "taken")]}) from error
    await record(work, by, "create_block_list", url=url)
    return new


async def find(work: Work, id: int) -> BlockList:
    found = await store.find(work.db, id)
    if found is None:
        raise NotFound
    return found


async def fetch(outgoing: Outgoing, work: Work, url: str) -> FetchedList:
    """Before anything is written. Raises `BadBlockList` with words for the team."""
    try:
        answer = await outgoing.request(
            "GET", url, headers={"Accept": "text/csv"}, max_bytes=MOST_BYTES, timeout=SECONDS
        )
        checked_address(work.settings, "url", answer.url)
    except OutgoingError as error:
        raise BadBlockList(f"cannot be fetched: {error}") from error
    except Invalid as error:
        raise BadBlockList("leads to an address that is not asked") from error
    if answer.status != 200:
        raise BadBlockList(f"is of a server that answered {answer.status}")
    found = read_list(answer.body)
    digest = hashlib.sha256(msgspec.json.encode(found.servers)).hexdigest()
    return FetchedList(found.servers, found.refused, digest)


async def keep(work: Work, id: int, fetched: FetchedList) -> BlockList:
    """Note what was fetched; nothing is done yet."""
    await work.db.hold(f"block_list:{id}")
    before = await find(work, id)
    if before.state != "leaving":
        offered = msgspec.to_builtins(fetched.servers)
        changed = {"offered": offered, "digest": fetched.digest, "error": None, "fetched_at": work.now}
        await store.change(work.db, id, changed)
    return await find(work, id)


async def rehearse(work: Work, block_list: BlockList) -> Rehearsal:
    plan = await _plan(work, block_list)
    return Rehearsal(block_list, plan, await severed_by(work, plan))


async def apply(work: Work, by: Staff, id: int, digest: str | None) -> BlockList:
    """Act upon what was fetched last; `digest` names what somebody has seen a rehearsal of."""
    by.check("manage_federation")
    await work.db.hold(f"block_list:{id}")
    found = await find(work, id)
    if found.offered is None or found.state == "leaving":
        raise Conflict("There is nothing to apply: rehearse the list first")
    if digest is not None and digest != found.digest:
        raise Conflict("The list has changed since it was rehearsed")
    await store.change(work.db, id, {"state": "active", "reason": None})
    await record(work, by, "apply_block_list", url=found.url, digest=found.digest)
    _go_on(work, id)
    return await find(work, id)


async def remove(work: Work, by: Staff, id: int, *, keep_blocks: bool = False) -> None:
    """What only this list has blocked is lifted, unless the blocks shall stay as if they were made by hand."""
    by.check("manage_federation")
    await work.db.hold(f"block_list:{id}")
    found = await find(work, id)
    if keep_blocks:
        await store.remove(work.db, id)
    else:
        await store.change(work.db, id, {"state": "leaving", "offered": [], "digest": None, "reason": None})
        _go_on(work, id)
    await record(work, by, "destroy_block_list", url=found.url, keep_blocks=keep_blocks)


# What follows


async def _plan(work: Work, block_list: BlockList) -> BlockListPlan:
    wanted = msgspec.convert(block_list.offered or [], list[ListedServer])
    blocks = await admission.every(work.db, "domain_block")
    entries = await store.entries(work.db)
    return planned(block_list.id, wanted, blocks, entries, work.settings.is_own_domain)


async def severed_by(work: Work, plan: BlockListPlan) -> int:
    """Follows between people here and whoever would be suspended."""
    shut = {one.server.domain for one in (*plan.added, *plan.changed) if one.server.severity == "suspend"}
    if not shut:
        return 0
    known = [name for name in await store.known_domains(work.db) if any(one in shut for one in names_above(name))]
    return await relationships.count_with(work.db, known)


async def refreshed(work: Work, id: int, fetched: FetchedList) -> None:
    """After a look at a list that nobody asked for: act upon small changes, hold large ones."""
    found = await keep(work, id, fetched)
    if found.state not in ("active", "held"):
        return
    plan = await _plan(work, found)
    if plan.is_done:
        await store.change(work.db, id, {"state": "active", "reason": None, "rows": len(fetched.servers)})
        return
    entries = sum(one.list_id == id for one in await store.entries(work.db))
    reason = why_held(plan, entries, await severed_by(work, plan))
    await store.change(work.db, id, {"state": "active" if reason is None else "held", "reason": reason})
    if reason is None:
        _go_on(work, id)
    else:
        work.log("federation.block_list_held", url=found.url, why=reason)


class ApplyList(msgspec.Struct):
    """The next stretch of what a list asks for."""

    list_id: int


async def apply_stretch(work: Work, payload: ApplyList) -> None:
    """The plan is made anew every time, so that it does not matter where the last one stopped."""
    await work.db.hold("social.server_blocks")
    await work.db.hold(f"block_list:{payload.list_id}")
    found = await store.find(work.db, payload.list_id)
    if found is None or found.offered is None or found.state not in ("active", "leaving"):
        return
    plan = await _plan(work, found)
    if plan.is_done:
        await _finish(work, found)
        return
    by = Staff(f"block list {urlsplit(found.url).netloc}")
    added = plan.added[:AT_ONCE]
    refused = {change.server.domain for change in added if not await _add(work, by, found, change)}
    left = AT_ONCE - len(added)
    for do, changes in ((_change, plan.changed), (_lift, plan.removed), (_adopt, plan.adopted)):
        for change in changes[:left]:
            await do(work, by, found, change)
        left -= len(changes[:left])
    for domain in plan.dropped:
        await store.drop_entry(work.db, found.id, domain)
    if refused:  # else the plan would have them for ever, and never be done
        offered = [one for one in found.offered if one["domain"] not in refused]
        await store.change(work.db, found.id, {"offered": offered})
    _go_on(work, found.id)


def _go_on(work: Work, id: int) -> None:
    work.enqueue(APPLY, ApplyList(list_id=id))


async def _finish(work: Work, found: BlockList) -> None:
    if found.state == "leaving":
        await store.remove(work.db, found.id)
        return
    changed = {"applied_at": work.now, "rows": len(found.offered or ()), "offered": None}
    await store.change(work.db, found.id, changed)


async def _add(work: Work, by: Staff, found: BlockList, change: PlannedChange) -> bool:
    """False if it cannot be done beside what is blocked already."""
    draft = draft_of(change.server, f"From {found.url}")
    try:
        async with work.db.savepoint():
            made = await servers.block(work, by, change.server.domain, draft)
    except (StricterAlready, Invalid):
        return False
    await _note(work, found, change.server, made)
    return True


async def _change(work: Work, by: Staff, found: BlockList, change: PlannedChange) -> None:  # noqa: ARG001
    """What each list wants of it is noted with the next stretch."""
    made = await servers.change(work, by, _block_of(change), draft_of(change.server))
    for entry in await store.entries(work.db):
        if entry.domain == made.domain:
            await store.save_entry(work.db, msgspec.structs.replace(entry, block_id=made.id, applied=fingerprint(made)))


async def _lift(work: Work, by: Staff, found: BlockList, change: PlannedChange) -> None:
    await servers.unblock(work, by, _block_of(change))
    await store.drop_entry(work.db, found.id, change.server.domain)


async def _adopt(work: Work, by: Staff, found: BlockList, change: PlannedChange) -> None:  # noqa: ARG001 - as its peers
    await _note(work, found, change.server, await servers.find(work, _block_of(change)))


async def _note(work: Work, found: BlockList, server: ListedServer, block: ServerBlock) -> None:
    entry = BlockListEntry(
        found.id,
        server.domain,
        server.severity,
        server.reject_media,
        server.reject_reports,
        server.obfuscate,
        server.public_comment,
        block.id,
        fingerprint(block),
    )
    await store.save_entry(work.db, entry)


def _block_of(change: PlannedChange) -> int:
    if change.block_id is None:
        raise NotFound
    return change.block_id


def draft_of(server: ListedServer, private_comment: str | None = None) -> DomainBlockDraft:
    """An empty text takes a comment away."""
    return DomainBlockDraft(
        severity=server.severity,
        reject_media=server.reject_media,
        reject_reports=server.reject_reports,
        obfuscate=server.obfuscate,
        public_comment=server.public_comment or "",
        private_comment=private_comment,
    )


APPLY: JobKind[ApplyList] = JobKind(
    name="federation_block_lists.apply", payload=ApplyList, handler=apply_stretch, is_harmless=True
)
