"""What a list would change: a pure function over the lists and the blocks as they are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime

import msgspec

from kith.federation.block_lists.csv_lists import ListedServer
from kith.federation.block_lists.tables import BlockListEntry
from kith.social.admission.servers import is_stricter
from kith.social.admission.tables import ServerBlock
from kith.social.remote_servers import names_above

__all__ = ["FIELDS", "BlockListPlan", "PlannedChange", "fingerprint", "planned", "why_held"]

FIELDS = ("severity", "reject_media", "reject_reports", "obfuscate", "public_comment")
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
FEW_REMOVALS, FEW_ADDITIONS, FEW_FOLLOWS = 10, 100, 50


class PlannedChange(msgspec.Struct, frozen=True):
    """`block_id` is the block that is changed or lifted."""

    server: ListedServer
    block_id: int | None = None


class BlockListPlan(msgspec.Struct, frozen=True):
    """`adopted` are blocks that lists have made already as this one wants them; `kept` were made by hand and stay as
    they are; `covered` are shut out at least as strictly by the block of a domain above; `dropped` are entries whose
    block is not this list's to lift."""

    added: tuple[PlannedChange, ...] = ()
    changed: tuple[PlannedChange, ...] = ()
    removed: tuple[PlannedChange, ...] = ()
    adopted: tuple[PlannedChange, ...] = ()
    dropped: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    @property
    def is_done(self) -> bool:
        return not (self.added or self.changed or self.removed or self.adopted or self.dropped)


class _Situation:
    """The blocks there are, and which of them lists have made that nobody has touched since."""

    def __init__(self, list_id: int, blocks: Iterable[ServerBlock], entries: Iterable[BlockListEntry]) -> None:
        self.blocks = {one.domain: one for one in blocks}
        self.mine: dict[str, BlockListEntry] = {}
        self.others: dict[str, list[BlockListEntry]] = {}
        for entry in entries:
            if entry.list_id == list_id:
                self.mine[entry.domain] = entry
            else:
                self.others.setdefault(entry.domain, []).append(entry)

    def is_by_lists(self, block: ServerBlock) -> bool:
        makers = [*self.others.get(block.domain, ()), *([self.mine[block.domain]] if block.domain in self.mine else [])]
        return any(one.block_id == block.id and one.applied == fingerprint(block) for one in makers)

    def cover(self, domain: str) -> ServerBlock | None:
        return next((self.blocks[name] for name in names_above(domain) if name in self.blocks), None)

    def wanted(self, server: ListedServer, block: ServerBlock) -> ListedServer:
        """What the strictest of all lists says; of those that are as strict, the one that was first."""
        for entry in self.others.get(server.domain, ()):
            other = _as_server(entry)
            if _strictness(other) > _strictness(server) or (
                _strictness(other) == _strictness(server) and _same(other, block)
            ):
                server = other
        return server


def planned(
    list_id: int,
    servers: Iterable[ListedServer],
    blocks: Iterable[ServerBlock],
    entries: Iterable[BlockListEntry],
    is_own: Callable[[str], bool],
) -> BlockListPlan:
    now = _Situation(list_id, blocks, entries)
    found: dict[str, list[PlannedChange]] = {name: [] for name in ("added", "changed", "removed", "adopted")}
    names: dict[str, list[str]] = {name: [] for name in ("dropped", "kept", "covered", "own")}
    listed = {one.domain: one for one in servers}
    for server in listed.values():
        _place(now, server, found, names, is_own)
    for domain, entry in now.mine.items():
        if domain not in listed:
            block = now.blocks.get(domain)
            if block is not None and now.is_by_lists(block) and domain not in now.others:
                found["removed"].append(PlannedChange(_as_server(entry), block.id))
            else:
                names["dropped"].append(domain)
    return BlockListPlan(
        added=tuple(found["added"]),
        changed=tuple(found["changed"]),
        removed=tuple(found["removed"]),
        adopted=tuple(found["adopted"]),
        dropped=tuple(names["dropped"]),
        kept=tuple(names["kept"]),
        covered=tuple(names["covered"]),
        own=tuple(names["own"]),
    )


def _place(
    now: _Situation,
    server: ListedServer,
    found: Mapping[str, list[PlannedChange]],
    names: Mapping[str, list[str]],
    is_own: Callable[[str], bool],
) -> None:
    domain, block = server.domain, now.blocks.get(server.domain)
    if is_own(domain):
        names["own"].append(domain)
    elif block is None:
        above = now.cover(domain)
        if above is not None and not is_stricter(_as_block(server), above):
            names["covered"].append(domain)
        else:
            found["added"].append(PlannedChange(server))
    elif not now.is_by_lists(block):
        names["kept"].append(domain)
    elif not _same(now.wanted(server, block), block):
        found["changed"].append(PlannedChange(now.wanted(server, block), block.id))
    elif not _is_noted(now.mine.get(domain), server, block):
        found["adopted"].append(PlannedChange(server, block.id))


def _strictness(server: ListedServer) -> tuple[int, bool, bool]:
    return ("noop", "silence", "suspend").index(server.severity), server.reject_media, server.reject_reports


def fingerprint(of: ListedServer | ServerBlock) -> str:
    """Of all that a list can say of a server."""
    said = [getattr(of, name) or None for name in FIELDS]
    return hashlib.sha256(msgspec.json.encode(said)).hexdigest()


def _is_noted(entry: BlockListEntry | None, server: ListedServer, block: ServerBlock) -> bool:
    return (
        entry is not None
        and entry.block_id == block.id
        and entry.applied == fingerprint(block)
        and _as_server(entry) == server
    )


def _same(one: ListedServer, block: ServerBlock) -> bool:
    return fingerprint(one) == fingerprint(block)


def _as_server(entry: BlockListEntry) -> ListedServer:
    return ListedServer(entry.domain, **{name: getattr(entry, name) for name in FIELDS})


def _as_block(server: ListedServer) -> ServerBlock:
    return ServerBlock(
        0,
        server.domain,
        server.severity,
        server.reject_media,
        server.reject_reports,
        server.obfuscate,
        None,
        server.public_comment,
        _NEVER,
    )


def why_held(plan: BlockListPlan, entries: int, severed: int) -> str | None:
    """Why a change of a list that is acted upon waits for somebody of the team, in words; None if it need not."""
    if len(plan.removed) + len(plan.dropped) > max(FEW_REMOVALS, entries // 4):
        return f"it would lift {len(plan.removed)} of {entries} blocks"
    if len(plan.added) > max(FEW_ADDITIONS, entries // 2):
        return f"it would add {len(plan.added)} blocks to {entries}"
    if severed > FEW_FOLLOWS:
        return f"it would end {severed} follows"
    return None
