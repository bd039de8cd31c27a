from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kith.base.errors import Complaint, Forbidden, Invalid, NotFound
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.collections import store
from kith.social.collections.facts import AddedToCollection, CollectionChanged
from kith.social.collections.tables import AccountCollection, CollectionItem
from kith.social.ids import AccountId
from kith.social.notifications import store as notifications
from kith.social.relationships import store as relationships
from kith.social.text.languages import is_language
from kith.social.text.parts import is_tag

MOST = 10  # for each person
MOST_ITEMS = 25
LONGEST_NAME, LONGEST_DESCRIPTION = 40, 100


class CollectionDraft(msgspec.Struct, kw_only=True):
    """What is left out stays as it is; an empty language or tag is none."""

    name: str | None = None
    description: str | None = None
    language: str | None = None
    sensitive: bool | None = None
    discoverable: bool | None = None
    tag_name: str | None = None


async def create(
    work: Work, me: AccountId, draft: CollectionDraft, account_ids: Sequence[AccountId]
) -> AccountCollection:
    """All of it or nothing."""
    blank = AccountCollection(work.new_id(), me, "", "", None, False, False, None, work.now, work.now)
    new = _drafted(blank, draft)
    if len(account_ids) > MOST_ITEMS:
        raise _too_many_accounts()
    await work.db.hold(f"collections:{me}")
    if await store.count(work.db, me) >= MOST:
        raise _invalid(base=Complaint("You have reached the maximum number of collections", "too_many"))
    await store.insert(work.db, new)
    for id in account_ids:
        await _add(work, new, id)
    return new


async def change(work: Work, me: AccountId, id: int, draft: CollectionDraft) -> AccountCollection:
    before = await find_own(work, me, id)
    changed = _drafted(before, draft)
    if changed == before:
        return before
    changed.updated_at = work.now
    await store.change(work.db, changed)
    work.announce(CollectionChanged(collection_id=id))
    return changed


async def remove(work: Work, me: AccountId, id: int) -> None:
    found = await find_own(work, me, id)
    for item in await store.accepted_of(work.db, found.id):
        await notifications.forget_keys(work.db, notice_keys(found.id, item.account_id))
    await store.remove(work.db, found.id)


async def find(work: Work, me: AccountId | None, id: int) -> AccountCollection:
    """For whoever looks, unless its owner is gone or blocks them."""
    found = await store.find(work.db, id)
    owner = None if found is None else await accounts.find(work.db, found.account_id)
    if found is None or owner is None or owner.is_gone or not owner.is_listed:
        raise NotFound
    if me is not None and me != owner.id and await relationships.blocked_among(work.db, owner.id, [me]):
        raise NotFound
    return found


async def find_own(work: Work, me: AccountId, id: int) -> AccountCollection:
    found = await find(work, me, id)
    if found.account_id != me:
        raise Forbidden
    return found


async def add(work: Work, me: AccountId, id: int, account_id: AccountId) -> CollectionItem:
    found = await find_own(work, me, id)
    await work.db.hold(f"collection:{id}")
    if await store.count_items(work.db, id) >= MOST_ITEMS:
        raise _too_many_accounts()
    return await _add(work, found, account_id)


async def _add(work: Work, to: AccountCollection, account_id: AccountId) -> CollectionItem:
    """Only who lives here, wants to be found, and is not kept away by a block; themselves too."""
    account = await accounts.find(work.db, account_id)
    if account is None or account.is_gone or not account.is_listed:
        raise NotFound
    if account_id != to.account_id:
        is_willing = account.discoverable and not account.domain
        if not is_willing or await relationships.blocks_between(work.db, to.account_id, account_id):
            raise Forbidden
    known = await store.find_item_of(work.db, to.id, account_id)
    if known is not None:
        if known.state == store.REVOKED:
            raise Forbidden
        raise _invalid(account=Complaint("has already been taken", "taken"))
    new = CollectionItem(work.new_id(), to.id, account_id, store.ACCEPTED, work.now)
    await store.insert_item(work.db, new)
    if account_id != to.account_id:
        work.announce(AddedToCollection(collection_id=to.id, account_id=account_id))
    return new


async def drop(work: Work, me: AccountId, id: int, item_id: int) -> None:
    await find_own(work, me, id)
    item = await _item(work, id, item_id)
    await store.remove_item(work.db, item.id)
    await notifications.forget_keys(work.db, notice_keys(id, item.account_id))


async def revoke(work: Work, me: AccountId, id: int, item_id: int) -> None:
    """Whoever is in a collection takes themselves out, for good."""
    await find(work, me, id)
    item = await _item(work, id, item_id)
    if item.account_id != me:
        raise Forbidden
    await store.revoke_item(work.db, item.id)
    await notifications.forget_keys(work.db, notice_keys(id, item.account_id))


def notice_keys(collection_id: int, account_id: AccountId) -> list[str]:
    """What somebody was told of a collection that they are in: that they are, and that it was changed."""
    return [f"{type}:{collection_id}:{account_id}" for type in ("added_to_collection", "collection_update")]


async def _item(work: Work, id: int, item_id: int) -> CollectionItem:
    found = await store.find_item(work.db, id, item_id)
    if found is None or found.state != store.ACCEPTED:
        raise NotFound
    return found


def _too_many_accounts() -> Invalid:
    words = f"has too many entries (maximum is {MOST_ITEMS})"
    return _invalid(accounts=Complaint(words, "too_many"))


def _invalid(**wrong: Complaint) -> Invalid:
    """As clients of collections read it, one level deeper than elsewhere."""
    problem = Invalid(fields={name: [complaint] for name, complaint in wrong.items()})
    problem.is_nested = True
    return problem


def _drafted(before: AccountCollection, draft: CollectionDraft) -> AccountCollection:
    given = {name: value for name in CollectionDraft.__struct_fields__ if (value := getattr(draft, name)) is not None}
    for name in ("name", "description", "language", "tag_name"):
        if name in given:
            given[name] = given[name].strip()
    if "tag_name" in given:
        given["tag_name"] = given["tag_name"].removeprefix("#") or None
    if "language" in given:
        given["language"] = given["language"] or None
    changed = msgspec.structs.replace(before, **given)
    _check(changed)
    return changed


def _check(one: AccountCollection) -> None:
    wrong: dict[str, Complaint] = {}
    if not one.name:
        wrong["name"] = Complaint("can't be blank", "blank")
    for name, most in (("name", LONGEST_NAME), ("description", LONGEST_DESCRIPTION)):
        if len(getattr(one, name)) > most:
            wrong[name] = Complaint(f"is too long (maximum is {most} characters)", "too_long")
    if one.language and not is_language(one.language):
        wrong["language"] = Complaint("is not a language we know", "inclusion")
    if one.tag_name and not is_tag(one.tag_name):
        wrong["tag"] = Complaint("is invalid")
    if wrong:
        raise _invalid(**wrong)
