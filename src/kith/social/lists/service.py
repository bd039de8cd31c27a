from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kith.base.errors import Complaint, Invalid, NotFound, Unprocessable
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId
from kith.social.lists import store
from kith.social.lists.facts import ListChanged, ListDeleted, ListJoined, ListLeft
from kith.social.lists.tables import List
from kith.social.relationships import store as relationships

MOST = 50
LONGEST_TITLE = 256
POLICIES = ("followed", "list", "none")


class ListDraft(msgspec.Struct, kw_only=True):
    """What is left out is as it was, or as lists are when nobody says otherwise."""

    title: str | None = None
    replies_policy: str | None = None
    exclusive: bool | None = None


async def create(work: Work, me: AccountId, draft: ListDraft) -> List:
    title = _title(draft.title)
    policy = _policy(draft.replies_policy or "list")
    await work.db.hold(f"lists:{me}")
    if await store.count(work.db, me) >= MOST:
        raise Invalid(fields={"": [Complaint("You have reached the maximum number of lists", "too_many")]})
    new = List(
        id=work.new_id(),
        account_id=me,
        title=title,
        replies_policy=policy,
        exclusive=bool(draft.exclusive),
        created_at=work.now,
    )
    await store.insert(work.db, new)
    return new


def _title(given: str | None) -> str:
    title = (given or "").strip()
    if not title:
        raise Invalid(fields={"title": [Complaint("can't be blank", "blank")]})
    if len(title) > LONGEST_TITLE:
        words = f"is too long (maximum is {LONGEST_TITLE} characters)"
        raise Invalid(fields={"title": [Complaint(words, "too_long")]})
    return title


def _policy(given: str) -> str:
    if given not in POLICIES:
        raise Unprocessable(f"'{given}' is not a valid replies_policy")
    return given


async def find(work: Work, me: AccountId, list_id: int) -> List:
    found = await store.find(work.db, me, list_id)
    if found is None:
        raise NotFound
    return found


async def change(work: Work, me: AccountId, list_id: int, draft: ListDraft) -> List:
    before = await find(work, me, list_id)
    changed = msgspec.structs.replace(
        before,
        title=before.title if draft.title is None else _title(draft.title),
        replies_policy=_policy(draft.replies_policy or before.replies_policy),
        exclusive=before.exclusive if draft.exclusive is None else draft.exclusive,
    )
    if changed == before:
        return before
    await store.change(work.db, changed)
    replies, exclusive = changed.replies_policy != before.replies_policy, changed.exclusive != before.exclusive
    if replies or exclusive:
        work.announce(ListChanged(list_id=changed.id, account_id=me, replies=replies, exclusive=exclusive))
    return changed


async def remove(work: Work, me: AccountId, list_id: int) -> None:
    found = await find(work, me, list_id)
    await work.db.begin()
    kept_out = await store.members_of(work.db, found.id) if found.exclusive else []
    await store.remove(work.db, found.id)
    work.announce(ListDeleted(list_id=found.id, account_id=me, member_ids=tuple(kept_out)))


async def add(work: Work, me: AccountId, list_id: int, ids: Sequence[AccountId]) -> None:
    """All of them or none. Only whom one follows, or asked to, may be on it, and oneself."""
    found = await find(work, me, list_id)
    known = await accounts.find_all(work.db, ids)
    if any(id not in known or not known[id].is_listed or known[id].is_gone for id in ids):
        raise NotFound
    await work.db.begin()
    if set(ids) - await relationships.wanted_among(work.db, me, ids):
        raise Invalid(fields={"account": [Complaint("must be a followed account")]})
    for id in ids:
        if not await store.add(work.db, found.id, id, id=work.new_id()):
            raise Invalid(fields={"account": [Complaint("is already on the list", "taken")]})
        work.announce(ListJoined(list_id=found.id, account_id=me, member_id=id))


async def drop(work: Work, me: AccountId, list_id: int, ids: Sequence[AccountId]) -> None:
    """Who is not on it need not leave."""
    found = await find(work, me, list_id)
    for id in ids:
        if await store.drop(work.db, found.id, id):
            work.announce(ListLeft(list_id=found.id, account_id=me, member_id=id))


async def forget_member(work: Work, me: AccountId, other: AccountId) -> None:
    """Whom one no longer follows leaves one's lists."""
    if await relationships.wanted_among(work.db, me, [other]):
        return
    for one in await store.with_member(work.db, me, other):
        await drop(work, me, one.id, [other])


async def take_along(work: Work, me: AccountId, source: AccountId, target: AccountId) -> None:
    """Somebody has moved: where the old account was on a list, the new one is, too, if it is followed."""
    if not await relationships.wanted_among(work.db, me, [target]):
        return
    for one in await store.with_member(work.db, me, source):
        if await store.add(work.db, one.id, target, id=work.new_id()):
            work.announce(ListJoined(list_id=one.id, account_id=me, member_id=target))
