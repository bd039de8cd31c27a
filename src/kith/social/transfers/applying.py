"""What becomes of one row whose person or post is known: it is done as its owner would do it by hand."""

from __future__ import annotations

from typing import Any

from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId, StatusId
from kith.social.lists import service as lists
from kith.social.lists import store as list_store
from kith.social.relationships.service import apart, domains, follow
from kith.social.statuses.service import marks

__all__ = ["apply"]


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
