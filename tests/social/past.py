"""Posts from days gone by, as if they had been written then."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import count
from typing import Any

from kith.base.ids import id_at
from kith.base.work import Work
from kith.social.statuses import store as statuses
from kith.social.statuses.tables import PUBLIC, Status
from kith.social.tags import store as tags
from kith.social.versions import FIRST
from tests.social.members import Member

_tails = count(1)


async def write(work: Work, author: Member, at: datetime, **differing: Any) -> str:
    """One post with its tags; its id."""
    id = id_at(at, next(_tails) % (1 << 16))
    uri = f"{author.me['uri']}/statuses/{id}"
    values: dict[str, Any] = {
        "id": id, "version": FIRST, "account_id": int(author.id), "local": True, "uri": uri, "url": uri,
        "visibility": PUBLIC, "in_reply_to_id": None, "in_reply_to_account_id": None, "reblog_of_id": None,
        "conversation_id": id, "text": "then", "content": "<p>then</p>", "spoiler_text": "", "sensitive": False,
        "language": "en", "media_ids": [], "tag_names": [], "poll_id": None, "card_id": None, "quoted_id": None,
        "quote_state": None, "quote_policy": "public", "application": None, "replies_count": 0, "reblogs_count": 0,
        "favourites_count": 0, "quotes_count": 0, "created_at": at, "edited_at": None, "deleted_at": None,
        "fetched_at": None,
    }  # fmt: skip
    status = Status(**(values | differing))
    await statuses.insert(work.db, status)
    await _tag(work, status)
    return str(id)


async def _tag(work: Work, status: Status) -> None:
    if status.tag_names:
        spelled = {name: name for name in status.tag_names}
        noted = await tags.note(work.db, spelled, ids=[work.new_id() for _ in spelled], now=work.now)
        await tags.link(work.db, status.id, status.account_id, [tag.id for tag in noted.values()])


async def write_all(author: Member, posts: Iterable[tuple[datetime, dict[str, Any]]]) -> list[str]:
    async with author.town.house() as house, house.works.begin() as work:
        return [await write(work, author, at, **differing) for at, differing in posts]
