"""Taking away what a file does not name: found page by page before anything is written, and ended some at a time."""

from __future__ import annotations

from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import msgspec

from kith.base.breath import Breath
from kith.base.caches import ByVersion
from kith.base.errors import Problem
from kith.base.work import Work
from kith.social.accounts import lookup
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.lists import service as lists
from kith.social.lists import store as list_store
from kith.social.relationships.service import apart, domains, follow
from kith.social.statuses.service import marks
from kith.social.transfers import held, store
from kith.social.transfers.held import RecordPlace
from kith.social.transfers.tables import Import

__all__ = ["NamesInFiles", "Surplus", "find_surplus", "take_away"]

AT_ONCE = 100  # that are taken away in one step
PAGE = 1_000  # rows of a file
NAME_BYTES = 100  # that a name takes in memory, besides its letters
MOST_BYTES = 16 << 20

Names = frozenset[str]


class NamesInFiles(ByVersion[Names]):
    """What files name whose owners have the rest taken away; a file does not change."""

    def __init__(self) -> None:
        super().__init__("names_in_files", MOST_BYTES)


class Surplus(msgspec.Struct):
    """Some of what a file does not name, and where to look on; None if that was all. Of a list that it does not
    name, the list alone.
    """

    things: list[Any]
    place: RecordPlace | None
    list_id: int | None = None


async def find_surplus(work: Work, found: Import, place: RecordPlace) -> Surplus:
    """Nothing may have been written yet."""
    me = found.account_id
    names = await _names_in(work, found)
    if found.kind == "lists":
        titles = {name.partition("\n")[0] for name in names}
        unnamed = [own.id for own in await list_store.all_of(work.db, me) if own.title not in titles]
        if unnamed:
            return Surplus([], place, unnamed[0])
    there, following = await held.page(work, me, found.kind, place)
    things: list[Any] = []
    for one in there:
        if one.name not in names:
            things.append(one.what)
            if len(things) == AT_ONCE:
                return Surplus(things, one.place)
    return Surplus(things, following)


async def _names_in(work: Work, found: Import) -> Names:
    kept = work.find(NamesInFiles)
    names = kept.get(found.id)
    if names is not None:
        return names
    made: set[str] = set()
    after, breath = 0, Breath()
    while rows := await store.rows_after(work.db, found.id, after, PAGE):
        made.update(_name(work, row.data) for row in rows)
        after = rows[-1].id
        await breath.take()
    names = frozenset(made)
    kept.put(found.id, names, sum(len(name) + NAME_BYTES for name in names))
    return names


def _name(work: Work, row: dict[str, Any]) -> str:
    if "acct" not in row:
        return str(row.get("domain") or row.get("uri"))
    name, domain = lookup.split_acct(work, row["acct"])
    person = f"{name.lower()}@{domain}"
    return f"{row['list'].strip()}\n{person}" if "list" in row else person


async def take_away(work: Work, actor: Account, kind: str, surplus: Surplus) -> None:
    """Whatever has ended by itself meanwhile is left alone."""
    if surplus.list_id is not None:
        await _end(lists.remove(work, actor.id, surplus.list_id))
    elif kind == "lists":
        await _take_from_lists(work, actor.id, surplus.things)
    else:
        for thing in surplus.things:
            await _end(_ending(work, actor, kind, thing))


async def _take_from_lists(work: Work, me: AccountId, things: list[tuple[int, AccountId]]) -> None:
    on: dict[int, list[AccountId]] = {}
    for list_id, account_id in things:
        on.setdefault(list_id, []).append(account_id)
    for list_id, ids in on.items():
        await _end(lists.drop(work, me, list_id, ids))


def _ending(work: Work, actor: Account, kind: str, thing: Any) -> Coroutine[Any, Any, object]:
    if kind == "following":
        return follow.unfollow(work, actor, thing)
    if kind == "muting":
        return apart.unmute(work, actor, thing)
    if kind == "blocking":
        return apart.unblock(work, actor, thing)
    if kind == "domain_blocking":
        return domains.unblock(work, actor, thing)
    return marks.unbookmark(work, actor.id, thing)


async def _end(ending: Coroutine[Any, Any, object]) -> None:
    with suppress(Problem):
        await ending
