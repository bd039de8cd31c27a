"""Posts, boosts and what hangs on them, for whoever may see them."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

import msgspec

from kith.base.errors import NotFound
from kith.base.routing.parameters import number
from kith.base.work import Work
from kith.federation.documents import store
from kith.federation.documents.answers import encode, explained
from kith.federation.documents.notes import KeptNote, notes_of
from kith.federation.documents.signers import check_asker
from kith.federation.vocabulary.outgoing import activities, collections, identifiers, quotes
from kith.federation.vocabulary.outgoing.contexts import Doc, terms_in, with_context
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId, StatusId
from kith.social.statuses import store as statuses
from kith.social.statuses.tables import PRIVATE, PUBLIC, UNLISTED, Status

__all__ = [
    "Items",
    "activities_of",
    "activity_document",
    "context_document",
    "find_own_post",
    "find_post",
    "is_for_all",
    "note_document",
    "original_of",
    "quote_stamp",
    "replies_document",
    "tombstone_of",
]

REPLIES = 60


class Items(msgspec.Struct):
    """Things to put into a list, some of them JSON already, with the terms of those."""

    items: list[Doc]
    terms: frozenset[str]


async def find_post(work: Work, author: Account, id: int, me: AccountId | None) -> Status:
    """What this server's own people said, as far as whoever asks may see it; a boost is one, too."""
    found = await statuses.find_visible(work.db, StatusId(id), me)
    if found is None or not found.local or found.account_id != author.id:
        raise NotFound
    return found


async def tombstone_of(work: Work, author: Account, id: int) -> bytes | None:
    """The Tombstone of a deleted post, if everybody could see the post; else None, so that nobody learns of it."""
    known = await statuses.find(work.db, StatusId(id))
    if known is None or known.deleted_at is None or not known.local:
        return None
    if known.account_id != author.id or not is_for_all(known):
        return None
    return encode(with_context(activities.tombstone(known.uri)))


async def find_own_post(work: Work, author: Account, id: int, me: AccountId | None) -> Status:
    """The same, but for boosts, which nothing hangs on."""
    found = await find_post(work, author, id, me)
    if found.reblog_of_id is not None:
        raise NotFound
    return found


async def original_of(work: Work, boost: Status, me: AccountId | None) -> Status:
    found = await statuses.find_visible(work.db, boost.reblog_of_id or StatusId(0), me)
    if found is None:
        raise NotFound
    return found


def is_for_all(status: Status) -> bool:
    return status.visibility <= UNLISTED


async def note_document(work: Work, status: Status) -> bytes:
    made = (await notes_of(work, [status]))[status.id]
    return explained(made.json, made.terms)


async def activity_document(work: Work, status: Status, me: AccountId | None) -> bytes:
    """What it is made known by: a Create, or the Announce that a boost is."""
    found = await activities_of(work, [status], me)
    if not found.items:
        raise NotFound
    return encode(with_context(found.items[0], found.terms))


async def activities_of(work: Work, rows: Sequence[Status], me: AccountId | None) -> Items:
    """In the order they came. A boost of what may not be seen is left out."""
    boosted = await statuses.find_all(work.db, [row.reblog_of_id for row in rows if row.reblog_of_id is not None])
    own = {
        one.id: one for one in boosted.values() if one.local and one.visibility == PRIVATE and one.deleted_at is None
    }
    made = await notes_of(work, [*(row for row in rows if row.reblog_of_id is None), *own.values()])
    wanted = {row.account_id for row in rows} | {one.account_id for one in boosted.values()}
    people = await accounts.find_all(work.db, list(wanted))
    items: list[Doc] = []
    terms: frozenset[str] = frozenset()
    for row in rows:
        if row.reblog_of_id is None:
            items.append(activities.create(made[row.id].head) | {"object": made[row.id].raw})
            terms |= made[row.id].terms
            continue
        original = boosted.get(row.reblog_of_id)
        told = None if original is None else _announced(row, original, made.get(original.id), people, me)
        if told is not None:
            items.append(told)
            terms |= made[row.reblog_of_id].terms if row.reblog_of_id in made else frozenset()
    return Items(items, terms)


def _announced(
    row: Status, original: Status, whole: KeptNote | None, people: dict[AccountId, Account], me: AccountId | None
) -> Doc | None:
    """One's own post for followers is told whole, to them: who was sent the boost may not be able to ask for it."""
    author = people.get(original.account_id)
    if original.deleted_at is not None or author is None or author.is_gone:
        return None
    is_own = whole is not None and original.account_id == row.account_id
    if not is_for_all(original) and (me is None or not is_own):
        return None
    made = activities.announce(
        people[row.account_id].uri, row.uri, original.uri, author.uri, row.visibility, row.created_at
    )
    return made | {"object": whole.raw} if whole is not None and is_own else made


async def replies_document(work: Work, status: Status, *, page: bool, by_others: bool, after: int) -> bytes:
    """The whole names its first page; pages go on from an id, first by the author, then by the others."""
    if not page:
        own = await store.own_answers(work.db, [status.id], collections.REPLIES_BY_AUTHOR + 1)
        first, last = _cut(own.get(status.id, []), collections.REPLIES_BY_AUTHOR)
        return encode(with_context(collections.replies(status.uri, first, last)))
    found = await store.replies_to(work.db, status.id, status.account_id, after, REPLIES + 1, by_others=by_others)
    items, last = _cut(found, REPLIES)
    asked = {"min_id": str(after)} if after else {}
    asked |= {"only_other_accounts": "true"} if by_others else {}
    query = urlencode(asked | {"page": "true"})
    return encode(with_context(collections.replies_page(status.uri, query, items, last, by_others=by_others)))


async def context_document(work: Work, name: str, me: AccountId | None, *, page: bool, after: int) -> bytes:
    """All of a thread that began here, by the account and the id of its first post."""
    account, _, first = name.partition("-")
    root = await statuses.find_visible(work.db, StatusId(number(first)), None)
    if root is None or not root.local or root.account_id != number(account) or root.conversation_id != root.id:
        raise NotFound
    author = await accounts.find(work.db, root.account_id)
    if author is not None:
        await check_asker(work, author, me)
    id = identifiers.context(work.settings, root.account_id, root.id)
    found = await store.said_in(work.db, root.conversation_id, after if page else 0, REPLIES + 1)
    items, last = _cut(found, REPLIES)
    asked = f"min_id={after}&page=true" if after else "page=true"
    made = collections.context_page(id, asked, items, last) if page else collections.context(id, items, last)
    return encode(with_context(made))


def _cut(found: Sequence[store.Reply], most: int) -> tuple[list[str], int | None]:
    """The addresses, and the last id where there are more."""
    return [one.uri for one in found[:most]], found[most - 1].id if len(found) > most else None


async def _is_of_asker(work: Work, quoting: Status, me: AccountId | None) -> bool:
    """Whether they may see it, or speak for the server that it is of."""
    if me is None:
        return False
    if await statuses.find_visible(work.db, quoting.id, me) is not None:
        return True
    found = await accounts.find_all(work.db, [me, quoting.account_id])
    return len({one.domain for one in found.values()}) == 1


async def quote_stamp(work: Work, author: Account, quoting_id: int, me: AccountId | None) -> bytes:
    """The document that says that `author` allows this quote of their post; NotFound once they have taken it back.

    Who may not see the quoting post is not told that it is there, but for the server that it is of.
    """
    quoting = await statuses.find(work.db, StatusId(quoting_id))
    if quoting is None or quoting.deleted_at is not None or quoting.quote_state != "accepted":
        raise NotFound
    if quoting.visibility not in (PUBLIC, UNLISTED) and not await _is_of_asker(work, quoting, me):
        raise NotFound
    quoted = await statuses.find(work.db, quoting.quoted_id) if quoting.quoted_id is not None else None
    if quoted is None or quoted.deleted_at is not None or quoted.account_id != author.id:
        raise NotFound
    made = quotes.authorization(author.uri, quoting.uri, quoting.id, quoted.uri)
    return explained(encode(made), terms_in(made))
