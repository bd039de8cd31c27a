"""What becomes of one row: it is looked up elsewhere first where need be, and done as its owner would do it by hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kith.base.errors import NotFound, Problem
from kith.base.work import Work
from kith.social.accounts import lookup
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId, StatusId
from kith.social.lists import service as lists
from kith.social.lists import store as list_store
from kith.social.relationships.service import apart, domains, follow
from kith.social.relationships.store import whole
from kith.social.search.elsewhere import Elsewhere
from kith.social.statuses import store as statuses
from kith.social.statuses.service import marks
from kith.social.transfers import store

__all__ = ["apply", "clear", "look_up"]

AT_ONCE = 100  # that are taken away in one step
MOST = 200_000


async def look_up(work: Work, kind: str, data: dict[str, Any]) -> int | None:
    """Whom or what a row is about, asked for elsewhere if it is not known here. Nothing may have been written yet."""
    try:
        if kind == "domain_blocking":
            return 0
        if kind == "bookmarks":
            return await _post(work, data["uri"])
        return (await lookup.find_anywhere(work, data["acct"])).id
    except Problem:
        return None


async def _post(work: Work, uri: str) -> StatusId | None:
    known = await statuses.find_by_uri(work.db, uri)
    if known is not None:
        return known.id
    found = await work.find(Elsewhere).look_up(work, uri)  # type: ignore[type-abstract]
    return None if found is None else found.status_id


async def apply(work: Work, actor: Account, kind: str, data: dict[str, Any], found: int) -> None:
    """Raises a `Problem` where it cannot be done."""
    other = AccountId(found)
    if kind == "following":
        wanted = follow.Options(data.get("reblogs"), data.get("notify"), data.get("languages"))
        await follow.follow(work, actor, other, wanted)
    elif kind == "muting":
        await apart.mute(work, actor, other, hide_notifications=data.get("hide_notifications", True), seconds=0)
    elif kind == "blocking":
        await apart.block(work, actor, other)
    elif kind == "domain_blocking":
        await domains.block(work, actor, data["domain"])
    elif kind == "bookmarks":
        await marks.bookmark(work, actor.id, StatusId(found))
    else:
        await _put_on_list(work, actor, data["list"], other)


async def _put_on_list(work: Work, actor: Account, title: str, other: AccountId) -> None:
    """Made if there is none of that name; whoever is on a list is followed."""
    named = [one for one in await list_store.all_of(work.db, actor.id) if one.title == title.strip()]
    chosen = named[0] if named else await lists.create(work, actor.id, lists.ListDraft(title=title))
    if other != actor.id:
        await follow.follow(work, actor, other, follow.Options())
    if other not in await list_store.members_of(work.db, chosen.id):
        await lists.add(work, actor.id, chosen.id, [other])


async def clear(work: Work, actor: Account, kind: str, rows: Iterable[dict[str, Any]]) -> bool:
    """Take away what the file does not name, some at a time; whether that was all."""
    kept = {_name(work, row) for row in rows}
    if kind == "lists":
        return await _clear_lists(work, actor, kept, {name.partition("\n")[0] for name in kept})
    ends = [end for name, end in await _there(work, actor.id, kind) if name not in kept]
    for end in ends[:AT_ONCE]:
        if kind == "following":
            await follow.unfollow(work, actor, end)
        elif kind == "muting":
            await apart.unmute(work, actor, end)
        elif kind == "blocking":
            await apart.unblock(work, actor, end)
        elif kind == "domain_blocking":
            await domains.unblock(work, actor, end)
        else:
            await marks.unbookmark(work, actor.id, end)
    return len(ends) <= AT_ONCE


def _name(work: Work, row: dict[str, Any]) -> str:
    if "acct" not in row:
        return str(row.get("domain") or row.get("uri"))
    name, domain = lookup.split_acct(work, row["acct"])
    person = f"{name.lower()}@{domain}"
    return f"{row['list'].strip()}\n{person}" if "list" in row else person


async def _there(work: Work, me: AccountId, kind: str) -> list[tuple[str, Any]]:
    """By the names that rows have, what there is."""
    if kind == "domain_blocking":
        return [(domain, domain) for domain in await whole.all_domain_blocks(work.db, me, MOST)]
    if kind == "bookmarks":
        return [(uri, id) for id, uri in await store.bookmarked(work.db, me, MOST)]
    if kind == "muting":
        people: Any = await whole.all_mutes(work.db, me, work.now, MOST)
    else:
        people = await (whole.all_follows if kind == "following" else whole.all_blocks)(work.db, me, MOST)
    return [(f"{one.username.lower()}@{one.domain}", one.id) for one in people]


async def _clear_lists(work: Work, actor: Account, kept: set[str], titles: set[str]) -> bool:
    """Lists of other names go. There are few lists, and few people on them."""
    for one in await list_store.all_of(work.db, actor.id):
        if one.title not in titles:
            await lists.remove(work, actor.id, one.id)
    for title, username, domain in await store.list_members(work.db, actor.id, MOST):
        if f"{title}\n{username.lower()}@{domain}" in kept:
            continue
        try:
            person = await lookup.line_named(work, f"{username}@{domain}" if domain else username)
        except NotFound:
            continue
        for one in await list_store.with_member(work.db, actor.id, person.id):
            if one.title == title:
                await lists.drop(work, actor.id, one.id, [person.id])
    return True
