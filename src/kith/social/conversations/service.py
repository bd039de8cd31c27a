"""Into which conversations direct posts come, and what becomes of those when posts and people go."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kith.base.errors import NotFound
from kith.base.work import Work
from kith.social.conversations import store
from kith.social.conversations.facts import ConversationChanged
from kith.social.conversations.tables import Conversation, participants_of
from kith.social.ids import AccountId, StatusId
from kith.social.statuses import store as statuses
from kith.social.statuses.tables import DIRECT, Status

AT_ONCE = 200


async def find(work: Work, me: AccountId, conversation_id: int) -> Conversation:
    found = await store.find(work.db, me, conversation_id)
    if found is None:
        raise NotFound
    return found


async def mark(work: Work, me: AccountId, conversation_id: int, *, unread: bool) -> Conversation:
    found = await find(work, me, conversation_id)
    if found.unread != unread:
        await store.mark(work.db, found.id, unread=unread)
    return msgspec.structs.replace(found, unread=unread)


async def remove(work: Work, me: AccountId, conversation_id: int) -> None:
    """Out of one's own inbox; a later answer brings it back."""
    await store.remove(work.db, (await find(work, me, conversation_id)).id)


async def add_post(work: Work, owner: AccountId, status_id: StatusId) -> None:
    """A direct post comes into the inbox of one of its participants. What others wrote is unread."""
    status = await statuses.find(work.db, status_id)
    if status is None or status.deleted_at is not None or status.visibility != DIRECT:
        return
    participants = participants_of((await _people(work, status)) - {owner})
    await work.db.hold(f"conversations:{owner}")
    unread = status.account_id != owner
    found = await store.find_same(work.db, owner, status.conversation_id, participants)
    if found is None:
        found = Conversation(
            id=work.new_id(),
            account_id=owner,
            thread_id=status.conversation_id,
            participants=participants,
            last_status_id=status.id,
            unread=unread,
        )
        await store.insert(work.db, found)
        await store.add_status(work.db, found.id, status.id)
    elif not await store.add_status(work.db, found.id, status.id):
        return  # told before
    elif status.id >= found.last_status_id:
        await store.move(work.db, found.id, last_status_id=status.id, unread=unread)
    work.announce(ConversationChanged(conversation_id=found.id, account_id=owner))


async def _people(work: Work, status: Status) -> set[AccountId]:
    named = (await statuses.mentions_of(work.db, [status.id])).get(status.id, [])
    return {status.account_id, *(account_id for account_id, *_ in named)}


async def drop_posts(work: Work, status_ids: Sequence[StatusId]) -> None:
    """Deleted posts leave; a conversation without any post goes with the last one."""
    touched = await store.with_statuses(work.db, status_ids)
    if touched:
        await store.drop_statuses(work.db, status_ids)
    for conversation_id in touched:
        newest = await store.newest_in(work.db, conversation_id)
        found = await store.find_by_id(work.db, conversation_id)
        if newest is None:
            await store.remove(work.db, conversation_id)
        elif found is not None and found.last_status_id != newest:
            await store.move(work.db, conversation_id, last_status_id=newest, unread=found.unread)


async def leave(work: Work, me: AccountId, other: AccountId) -> None:
    """Whoever blocks somebody is rid of the conversations with them."""
    for conversation_id in await store.with_person(work.db, me, other):
        await store.remove(work.db, conversation_id)


async def forget_account(work: Work, gone: AccountId) -> bool:
    """Their own inbox, and what they wrote in those of others. Whether there may be more of it."""
    await store.remove_own(work.db, gone)
    written = await store.statuses_by(work.db, gone, AT_ONCE)
    await drop_posts(work, written)
    return len(written) == AT_ONCE
