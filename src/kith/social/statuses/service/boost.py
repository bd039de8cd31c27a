"""Boosting and taking it back."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from kith.base.db import Taken
from kith.base.errors import Forbidden, NotFound
from kith.base.work import Work
from kith.social.account_standing import PostingPermission
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.addresses import boost_uri
from kith.social.feeds import store as feeds
from kith.social.ids import StatusId
from kith.social.relationships import store as relationships
from kith.social.statuses import store
from kith.social.statuses.facts import StatusDeleted, StatusPosted
from kith.social.statuses.tables import PRIVATE, PUBLIC, UNLISTED, VISIBILITIES, Status
from kith.social.versions import FIRST

Visibility = Literal["public", "unlisted", "private"]


async def boost(work: Work, actor: Account, status_id: StatusId, visibility: Visibility | None) -> Status:
    """The boost, new or the one there was."""
    original = await _original(work, actor, status_id)
    found = await store.find_boost(work.db, actor.id, original.id)
    if found is not None:
        return found
    row = await _row(work, actor, original, visibility)
    await work.db.begin()
    try:
        async with work.db.savepoint():
            await store.insert(work.db, row)
    except Taken:
        found = await store.find_boost(work.db, actor.id, original.id)
        if found is None:
            raise
        return found
    await store.count(work.db, original.id, reblogs=1)
    await accounts.posted(work.db, actor.id, work.now, counts=True)
    await feeds.add(work.db, [feeds.entry(actor.id, row.id, original_id=original.id, author_id=actor.id)])
    work.announce(StatusPosted(status_id=row.id, account_id=actor.id, reblog_of_id=original.id))
    return row


async def _original(work: Work, actor: Account, status_id: StatusId) -> Status:
    posting = work.find(PostingPermission)  # type: ignore[type-abstract]
    if actor.user_id is not None and not await posting.may_post(work, actor.user_id):
        raise Forbidden
    found = await store.find_visible(work.db, status_id, actor.id)
    if found is not None and found.reblog_of_id is not None:
        found = await store.find_visible(work.db, found.reblog_of_id, actor.id)
    if found is None or found.visibility > PRIVATE:
        raise NotFound
    if found.visibility == PRIVATE and found.account_id != actor.id:
        raise NotFound
    if await relationships.blocked_among(work.db, actor.id, [found.account_id]):
        raise Forbidden
    return found


async def _row(work: Work, actor: Account, original: Status, visibility: Visibility | None) -> Status:
    kept = await accounts.find_preferences(work.db, actor.id)
    named = visibility or kept.privacy or ("private" if actor.locked else "public")
    level = VISIBILITIES.index(named)
    if original.visibility == PRIVATE:
        level = PRIVATE
    elif level == PUBLIC and actor.silenced_at is not None:
        level = UNLISTED
    id = StatusId(work.new_id())
    uri = boost_uri(actor.uri, id)
    return boost_row(id, actor, original, uri=uri, visibility=level, at=work.now)


def boost_row(
    id: StatusId,
    booster: Account,
    original: Status,
    *,
    uri: str,
    visibility: int,
    at: datetime,
    fetched_at: datetime | None = None,
) -> Status:
    """A status that says nothing of its own; `fetched_at` is when it came from elsewhere."""
    return Status(
        id=id,
        version=FIRST,
        account_id=booster.id,
        local=booster.is_local,
        uri=uri,
        url=uri,
        visibility=visibility,
        in_reply_to_id=None,
        in_reply_to_account_id=None,
        reblog_of_id=original.id,
        conversation_id=original.conversation_id,
        text="",
        content="",
        spoiler_text="",
        sensitive=original.sensitive,
        language=original.language,
        media_ids=[],
        tag_names=[],
        poll_id=None,
        card_id=None,
        quoted_id=None,
        quote_state=None,
        quote_policy="nobody",
        application=None,
        replies_count=0,
        reblogs_count=0,
        favourites_count=0,
        quotes_count=0,
        created_at=at,
        edited_at=None,
        deleted_at=None,
        fetched_at=fetched_at,
    )


async def unboost(work: Work, actor: Account, status_id: StatusId) -> StatusId:
    """Works from one's own boost, so also when the author would not show the original any more. The original's id."""
    found = await store.find(work.db, status_id)
    if found is None:
        raise NotFound
    original_id = found.reblog_of_id or found.id
    mine = await store.find_boost(work.db, actor.id, original_id)
    if mine is None:
        if await store.find_visible(work.db, original_id, actor.id) is None:
            raise NotFound
        return original_id
    await work.db.begin()
    if await store.remove(work.db, mine.id, work.now):
        await store.count(work.db, original_id, reblogs=-1)
        await accounts.count(work.db, actor.id, statuses=-1)
        work.announce(StatusDeleted(status_id=mine.id, account_id=actor.id, reblog_of_id=original_id))
    return original_id
