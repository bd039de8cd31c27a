"""What becomes of one row: it is looked up elsewhere first where need be, and done as its owner would do it by hand."""

from __future__ import annotations

from typing import Any

from kith.base.errors import Problem
from kith.base.work import Work
from kith.social.accounts import lookup
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId, StatusId
from kith.social.lists import service as lists
from kith.social.lists import store as list_store
from kith.social.relationships.service import apart, domains, follow
from kith.social.search.elsewhere import Elsewhere
from kith.social.statuses import store as statuses
from kith.social.statuses.service import marks

__all__ = ["apply", "look_up"]


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
    if chosen.id not in {one.id for one in await list_store.with_member(work.db, actor.id, other)}:
        await lists.add(work, actor.id, chosen.id, [other])
