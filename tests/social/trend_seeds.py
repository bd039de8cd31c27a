"""What people elsewhere said and shared on the days before today, as if it had arrived then."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from kith.base.ids import id_at
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.statuses import store as statuses
from kith.social.statuses import tag_uses
from kith.social.statuses.cards import store as cards
from kith.social.statuses.cards.service import _hash as url_hash
from kith.social.statuses.tables import PUBLIC, Status
from kith.social.tags import store as tags
from kith.social.text.parts import normal_tag
from kith.social.trends import tasks
from kith.social.versions import FIRST
from tests.town import Town

_places = itertools.count()


async def say(work: Work, author: Account, *names: str, ago: timedelta = timedelta(), **differing: Any) -> Status:
    """Something with tags, counted as new posts are."""
    at = work.now - ago
    id = work.new_id() if not ago else id_at(at, next(_places) & 0xFFFF)
    values: dict[str, Any] = {
        "id": id, "version": FIRST, "account_id": author.id, "local": False, "uri": f"{author.uri}/{id}",
        "url": f"{author.uri}/{id}", "visibility": PUBLIC, "in_reply_to_id": None, "in_reply_to_account_id": None,
        "reblog_of_id": None, "conversation_id": id, "text": "Hello", "content": "<p>Hello</p>",
        "spoiler_text": "", "sensitive": False, "language": "en", "media_ids": [], "tag_names": [normal_tag(name) for name in names],
        "poll_id": None, "card_id": None, "quoted_id": None, "quote_state": None, "quote_policy": "public",
        "application": None, "replies_count": 0, "reblogs_count": 0, "favourites_count": 0, "quotes_count": 0,
        "created_at": at, "edited_at": None, "deleted_at": None, "fetched_at": at,
    }  # fmt: skip
    status = Status(**(values | differing))
    await statuses.insert(work.db, status)
    spelled = {normal_tag(name): name for name in names}
    noted = await tags.note(work.db, spelled, ids=[work.new_id() for _ in names], now=at)
    await tags.link(work.db, status.id, author.id, [tag.id for tag in noted.values()])
    if names and status.visibility == PUBLIC:
        await tag_uses.count(work, status)
    return status


async def make_card(work: Work, url: str, **differing: Any) -> int:
    data = {
        "url": url, "title": "News", "description": "What happened", "language": "en", "type": "link",
        "author_name": "", "author_url": "", "authors": [], "provider_name": "The Site", "provider_url": "", "html": "",
        "width": 10, "height": 10, "image": "cards/1.webp", "image_description": "", "embed_url": "", "blurhash": None,
        "published_at": None,
    }  # fmt: skip
    return await cards.save(
        work.db, cards.Card(work.new_id(), url_hash(url), url, data | differing, None, work.now)
    )  # fmt: skip


async def refresh(town: Town, *, later: timedelta = timedelta()) -> datetime:
    """As the worker does every few minutes."""
    async with town.house() as house, house.works.begin() as work:
        work.now += later
        await tasks.refresh(work, tasks.RefreshTrends())
        return work.now


async def use(town: Town, tag: str, people: Sequence[Account], **said: Any) -> None:
    async with town.house() as house, house.works.begin() as work:
        for author in people:
            await say(work, author, tag, **said)


async def like(town: Town, author: Account, marks: int, **differing: Any) -> str:
    """A post that so many people favour."""
    async with town.house() as house, house.works.begin() as work:
        return str((await say(work, author, favourites_count=marks, **differing)).id)


async def share(town: Town, url: str, people: Sequence[Account], **card: Any) -> int:
    async with town.house() as house, house.works.begin() as work:
        card_id = await make_card(work, url, **card)
        for author in people:
            await say(work, author, card_id=card_id)
        return card_id
