from __future__ import annotations

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.accounts.facts import AccountDeleted
from kith.social.collections import store
from kith.social.collections.facts import AddedToCollection, CollectionChanged
from kith.social.collections.service import notice_keys
from kith.social.ids import AccountId
from kith.social.notifications import service as notifications
from kith.social.notifications import store as notification_store
from kith.social.notifications.service import Notice
from kith.social.relationships.facts import Blocked


async def part(work: Work, fact: Blocked) -> None:
    """A block takes each of the two out of the other's collections, at once."""
    await store.part(work.db, fact.account_id, fact.target_id)


async def forget_account(work: Work, fact: AccountDeleted) -> None:
    await store.forget_account(work.db, fact.account_id)


async def tell_of_adding(work: Work, fact: AddedToCollection) -> None:
    found = await store.find(work.db, fact.collection_id)
    item = None if found is None else await store.find_item_of(work.db, found.id, fact.account_id)
    if found is not None and item is not None and item.state == store.ACCEPTED:
        notice = _notice("added_to_collection", found.id, item.account_id)
        await notifications.tell(work, "added_to_collection", found.account_id, [notice])


async def tell_of_change(work: Work, fact: CollectionChanged) -> None:
    """Everybody in it but its owner; who was told of an earlier change is told of this one instead."""
    found = await store.find(work.db, fact.collection_id)
    if found is None:
        return
    others = [one for one in await store.accepted_of(work.db, found.id) if one.account_id != found.account_id]
    notices = [_notice("collection_update", found.id, one.account_id) for one in others]
    await notification_store.forget_keys(work.db, [one.key for one in notices])
    await notifications.tell(work, "collection_update", found.account_id, notices)


def _notice(type: str, collection_id: int, account_id: AccountId) -> Notice:
    added, changed = notice_keys(collection_id, account_id)
    return Notice(account_id, added if type == "added_to_collection" else changed, subject_id=collection_id)


TELL_OF_ADDING: JobKind[AddedToCollection] = JobKind(
    name="collections.tell_of_adding", payload=AddedToCollection, handler=tell_of_adding
)
TELL_OF_CHANGE: JobKind[CollectionChanged] = JobKind(
    name="collections.tell_of_change", payload=CollectionChanged, handler=tell_of_change
)
FORGET_ACCOUNT: JobKind[AccountDeleted] = JobKind(
    name="collections.forget_account", payload=AccountDeleted, handler=forget_account
)
