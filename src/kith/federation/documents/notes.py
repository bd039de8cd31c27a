"""Posts as documents, made once per version. A page of them costs as many queries as one."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime

import msgspec

from kith.base.caches import ByVersion
from kith.base.settings import Settings
from kith.base.work import Work
from kith.federation.documents import store
from kith.federation.documents.answers import encode
from kith.federation.posts.store import stamps_of
from kith.federation.vocabulary.outgoing import identifiers
from kith.federation.vocabulary.outgoing.collections import REPLIES_BY_AUTHOR
from kith.federation.vocabulary.outgoing.contexts import Doc, terms_in
from kith.federation.vocabulary.outgoing.notes import NoteParts, Quoted, note
from kith.federation.vocabulary.outgoing.tags import Mentioned
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.emojis import service as emojis
from kith.social.ids import AccountId, StatusId
from kith.social.media import store as media
from kith.social.relationships import store as relationships
from kith.social.statuses import polls
from kith.social.statuses import store as statuses
from kith.social.statuses.cards import store as card_store
from kith.social.statuses.tables import UNLISTED, Poll, Status
from kith.social.versions import without_counts

__all__ = ["KeptNote", "NoteDocuments", "notes_of", "parts_of"]

MOST_BYTES = 16 << 20
_HEAD = ("id", "attributedTo", "published", "to", "cc")
_SHOWN_QUOTES = ("accepted", "pending")


class KeptNote(msgspec.Struct, frozen=True):
    """A post as JSON, without its context; `head` is what an activity about it says of it."""

    json: bytes
    terms: frozenset[str]
    head: Doc

    @property
    def raw(self) -> msgspec.Raw:
        return msgspec.Raw(self.json)


class NoteDocuments(ByVersion[KeptNote]):
    def __init__(self) -> None:
        super().__init__("note_documents", MOST_BYTES)


class _Around(msgspec.Struct):
    """What a post is shown with that has no part in its version."""

    authors: Mapping[AccountId, Account]
    polls: Mapping[int, Poll]
    quoted: Mapping[StatusId, Status]


async def notes_of(work: Work, rows: Sequence[Status]) -> dict[StatusId, KeptNote]:
    """Posts of people here, by id; none of them is a boost."""
    around = await _around(work, rows)
    kept = work.find(NoteDocuments)
    found: dict[StatusId, KeptNote] = {}
    keys = {row.id: _key(row, around, work.now) for row in rows}
    for id, key in keys.items():
        one = kept.get(key)
        if one is not None:
            found[id] = one
    missing = [row for row in rows if row.id not in found]
    for id, parts in (await _parts(work, missing, around)).items():
        document = note(work.settings, parts, work.now)
        json = encode(document)
        found[id] = made = KeptNote(json, terms_in(document), {name: document[name] for name in _HEAD})
        if not work.db.is_writing and parts.author.silenced_at is None:
            kept.put(keys[id], made, 2 * len(json))
    return found


async def parts_of(work: Work, rows: Sequence[Status]) -> dict[StatusId, NoteParts]:
    """All that is told of posts, for whoever makes a document of them."""
    return await _parts(work, rows, await _around(work, rows))


async def _around(work: Work, rows: Sequence[Status]) -> _Around:
    return _Around(
        await accounts.find_all(work.db, list({row.account_id for row in rows})),
        await polls.find_all(work.db, [row.poll_id for row in rows if row.poll_id is not None]),
        await statuses.find_all(work.db, [row.quoted_id for row in rows if row.quoted_id is not None]),
    )


def _key(row: Status, around: _Around, now: datetime) -> Hashable:
    """Votes are counted, and what is quoted is deleted, without another version of the post."""
    author = around.authors[row.account_id]
    poll = around.polls.get(row.poll_id or 0)
    votes = None
    if poll is not None:
        is_over = poll.expires_at is not None and poll.expires_at <= now
        votes = (tuple(poll.tallies), poll.voters_count, is_over)
    quoted = around.quoted.get(row.quoted_id) if row.quoted_id is not None else None
    return row.id, row.version, without_counts(author.version), votes, quoted is not None and quoted.deleted_at is None


async def _parts(work: Work, rows: Sequence[Status], around: _Around) -> dict[StatusId, NoteParts]:
    if not rows:
        return {}
    ids = [row.id for row in rows]
    parents = await statuses.find_all(work.db, [row.in_reply_to_id for row in rows if row.in_reply_to_id is not None])
    # A thread begins with the post that has its id.
    roots = await statuses.find_all(work.db, [StatusId(row.conversation_id) for row in rows])
    cards = await card_store.find_shown(work.db, [row.card_id for row in rows if row.card_id is not None])
    links = {id: data.get("url") for id, data, _ in cards}
    named = await store.mentions_in(work.db, ids)
    attached = await media.of_ids(work.db, [id for row in rows for id in row.media_ids])
    texts = {row.id: _texts(row, around) for row in rows}
    used = await emojis.find_named(work, [code for text in texts.values() for code in emojis.codes_in(text)])
    answers = await store.own_answers(work.db, ids, REPLIES_BY_AUTHOR + 1)
    quoted_authors = await accounts.find_all(work.db, [one.account_id for one in around.quoted.values()])
    told = await _told(work, rows, around, named)
    stamps = await stamps_of(work.db, [one.id for one in rows if _quotes_elsewhere(one, around)])
    made: dict[StatusId, NoteParts] = {}
    for row in rows:
        parent = parents.get(row.in_reply_to_id) if row.in_reply_to_id is not None else None
        own = answers.get(row.id, [])
        made[row.id] = NoteParts(
            status=row,
            author=around.authors[row.account_id],
            parent=None if parent is None else parent.uri,
            mentioned=[_mentioned(one, told.get(row.id)) for one in named.get(row.id, [])],
            media=[attached[id] for id in row.media_ids if id in attached],
            emojis=[used[code] for code in emojis.codes_in(texts[row.id]) if code in used],
            poll=around.polls.get(row.poll_id or 0),
            quotes=row.quote_state in _SHOWN_QUOTES,
            quoted=_quoted(row, around, quoted_authors, stamps),
            answers=[one.uri for one in own[:REPLIES_BY_AUTHOR]],
            context=_context(work.settings, roots.get(StatusId(row.conversation_id))),
            link=links.get(row.card_id or 0),
            has_more_answers=own[REPLIES_BY_AUTHOR - 1].id if len(own) > REPLIES_BY_AUTHOR else None,
        )
    return made


def _context(settings: Settings, root: Status | None) -> str | None:
    """Of a thread that began elsewhere we do not have all."""
    if root is None or not root.local or root.visibility > UNLISTED or root.deleted_at is not None:
        return None
    return identifiers.context(settings, root.account_id, root.id)


def _texts(row: Status, around: _Around) -> list[str]:
    poll = around.polls.get(row.poll_id or 0)
    return [row.content, row.spoiler_text, *(poll.options if poll is not None else ())]


async def _told(
    work: Work, rows: Sequence[Status], around: _Around, named: Mapping[StatusId, Sequence[store.MentionRow]]
) -> dict[StatusId, set[AccountId]]:
    """Whom those who are limited may address: who follows them, or asked to. The others address whom they like."""
    found: dict[StatusId, set[AccountId]] = {}
    by_author: dict[AccountId, list[Status]] = {}
    for row in rows:
        if around.authors[row.account_id].silenced_at is not None and row.id in named:
            by_author.setdefault(row.account_id, []).append(row)
    for author_id, posts in by_author.items():  # of a page there is one author, or few
        meant = [one.account_id for post in posts for one in named[post.id]]
        wanting = await relationships.wanting_among(work.db, author_id, meant)
        found |= {post.id: wanting for post in posts}
    return found


def _quotes_elsewhere(row: Status, around: _Around) -> bool:
    quoted = around.quoted.get(row.quoted_id) if row.quoted_id is not None else None
    return quoted is not None and not quoted.local


def _mentioned(row: store.MentionRow, told: set[AccountId] | None) -> Mentioned:
    is_addressed = told is None or row.account_id in told
    return Mentioned(
        row.uri, row.username, row.domain, is_named=not row.silent, is_addressed=is_addressed, group=row.group
    )


def _quoted(
    row: Status, around: _Around, authors: Mapping[AccountId, Account], stamps: Mapping[StatusId, str]
) -> Quoted | None:
    """With the word of whoever is quoted: one of ours has given it here, others on their own server."""
    quoted = around.quoted.get(row.quoted_id) if row.quoted_id is not None else None
    if quoted is None or quoted.deleted_at is not None or row.quote_state not in _SHOWN_QUOTES:
        return None
    stamp = stamps.get(row.id) if row.quote_state == "accepted" else None
    if quoted.local and quoted.account_id != row.account_id and row.quote_state == "accepted":
        stamp = identifiers.quote_stamp(authors[quoted.account_id].uri, row.id)
    return Quoted(quoted.uri, quoted.url or quoted.uri, stamp)
