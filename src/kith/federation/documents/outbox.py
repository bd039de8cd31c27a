"""Lists of somebody's: what they said, who is around them, what they feature."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from kith.base.errors import Forbidden
from kith.base.paging import Cursor
from kith.base.work import Work
from kith.federation.documents import store
from kith.federation.documents.answers import encode
from kith.federation.documents.notes import notes_of
from kith.federation.documents.posts import activities_of
from kith.federation.vocabulary.outgoing import collections, identifiers, tags
from kith.federation.vocabulary.outgoing.contexts import with_context
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.relationships import lists
from kith.social.statuses import store as statuses
from kith.social.statuses.lines import StatusRow
from kith.social.timelines import reading

__all__ = ["featured", "featured_tags", "outbox", "outbox_page", "people", "people_page"]

POSTS = 20
PEOPLE = 12
MOST_PINS = 40
_rows = msgspec.json.Decoder(list[StatusRow])
Reader = Callable[[Work, Account, int, int], Awaitable[list[str]]]
READERS: dict[str, Reader] = {"followers": lists.follower_uris, "following": lists.followed_uris}


def outbox(owner: Account) -> bytes:
    return encode(with_context(collections.outbox(identifiers.outbox(owner.uri), owner.statuses_count)))


async def outbox_page(work: Work, owner: Account, cursor: Cursor, me: AccountId | None) -> bytes:
    found = await reading.of_account(work, me, owner.id, cursor, no_direct=True)
    rows = cursor.newest_first(_rows.decode(found)) if found else []
    posts = await statuses.find_all(work.db, [row.id for row in rows])
    made = await activities_of(work, [posts[row.id] for row in rows if row.id in posts], me)
    id, ids = identifiers.outbox(owner.uri), [row.id for row in rows]
    document = collections.outbox_page(id, _asked(cursor), made.items, ids, most=POSTS)
    return encode(with_context(document, made.terms))


def _asked(cursor: Cursor) -> str:
    moves = [(name, getattr(cursor, name)) for name in ("max_id", "min_id", "since_id")]
    return "&".join([*(f"{name}={id}" for name, id in moves if id is not None), "page=true"])


def people(owner: Account, which: str) -> bytes:
    """How many there are is told to everybody, who they are only as their owner wishes."""
    id, total = identifiers.collection(owner.uri, which), _total(owner, which)
    made = collections.counted(id, total) if owner.hide_collections else collections.numbered(id, total)
    return encode(with_context(made))


async def people_page(work: Work, owner: Account, which: str, page: int) -> bytes:
    if owner.hide_collections:
        raise Forbidden
    id, total, first = identifiers.collection(owner.uri, which), _total(owner, which), (page - 1) * PEOPLE
    # Beyond the last there is nothing to look for.
    found = await READERS[which](work, owner, first, PEOPLE + 1) if first < total else []
    made = collections.numbered_page(id, total, page, found[:PEOPLE], has_more=len(found) > PEOPLE)
    return encode(with_context(made))


def _total(owner: Account, which: str) -> int:
    return owner.followers_count if which == "followers" else owner.following_count


async def featured(work: Work, owner: Account) -> bytes:
    """Pinned posts that everybody may see, whole; newest pin first."""
    rows = await reading.pinned(work, None, owner.id, Cursor(MOST_PINS))
    posts = await statuses.find_all(work.db, [row.id for row in rows])
    made = await notes_of(work, [one for one in posts.values() if one.reblog_of_id is None])
    kept = [made[row.id] for row in rows if row.id in made]
    terms: frozenset[str] = frozenset().union(*(one.terms for one in kept))
    document = collections.whole(identifiers.featured(owner.uri), [one.raw for one in kept])
    return encode(with_context(document, terms))


async def featured_tags(work: Work, owner: Account) -> bytes:
    names = await store.featured_names(work.db, owner.id)
    items = [tags.featured_tag(owner.url or owner.uri, name) for name in names]
    document = collections.whole(identifiers.featured_tags(owner.uri), items, ordered=False)
    return encode(with_context(document))
