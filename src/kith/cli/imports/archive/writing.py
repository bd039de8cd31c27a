"""Archived posts as rows: dated as they were, with new ids of those moments, told to nobody."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import and_, bindparam, select, update

from kith.base.db import any_of, command, query
from kith.base.ids import id_at
from kith.base.work import Work
from kith.cli.imports.archive.files import OpenedArchive
from kith.cli.imports.archive.notes import ArchivedNote, UnfitForImport
from kith.cli.imports.archive.pictures import Finder, made_ready
from kith.cli.imports.running import Batch
from kith.social.accounts.tables import Account, accounts
from kith.social.addresses import status_uri, status_url
from kith.social.ids import AccountId, StatusId
from kith.social.media.tables import Media
from kith.social.search.tasks import learn_posted
from kith.social.statuses import store
from kith.social.statuses.facts import StatusPosted
from kith.social.statuses.tables import DIRECT, NOT_KNOWN, PUBLIC, UNLISTED, imported, statuses
from kith.social.tags import store as tags
from kith.social.text.html import kept, plain
from kith.social.text.parts import is_tag, normal_tag
from kith.social.versions import FIRST, changed

__all__ = ["ArchiveWriter"]

MOST_HTML = 60_000
_known = query(
    select(imported.c.original_uri, imported.c.status_id).where(
        and_(imported.c.account_id == bindparam("owner"), any_of(imported.c.original_uri, "uris"))
    ),
    tuple,
)
_taken = query(select(statuses.c.id).where(any_of(statuses.c.id, "ids")), int)
_count = command(
    update(accounts)
    .where(accounts.c.id == bindparam("owner"))
    .values(statuses_count=accounts.c.statuses_count + bindparam("many"), version=changed(accounts))
)


class _Post(NamedTuple):
    """A post that others of the archive may answer."""

    id: StatusId
    conversation_id: int
    account_id: AccountId


class ArchiveWriter:
    """Puts notes on one account. What it came to hold before is not taken a second time."""

    def __init__(self, owner: Account, archive: OpenedArchive) -> None:
        self._owner = owner
        self._archive = archive
        self._finder = Finder(archive)
        self._posts: dict[str, _Post] = {}  # by their old names

    async def take(self, batch: Batch[ArchivedNote]) -> None:
        work, owner = batch.work, self._owner
        notes = await self._new(work, batch.items)
        media = {note.uri: await self._files(batch, note) for note in notes}
        ids = await self._choose_ids(work, notes)
        await self._look_up_parents(work, notes)
        counted = 0
        for note, id in zip(notes, ids, strict=True):
            values = self._row(work, note, id, media[note.uri])
            self._remember(note, _Post(id, values["conversation_id"], owner.id))
            batch.rows.add("social_statuses", **values)
            batch.rows.add(
                "social_imported_statuses",
                status_id=id,
                account_id=owner.id,
                original_uri=note.uri,
                imported_at=work.now,
            )
            counted += note.visibility != DIRECT
            batch.taken += 1
        for note, id in zip(notes, ids, strict=True):
            for row in media[note.uri]:
                batch.rows.add("social_media", **msgspec.structs.asdict(row) | {"status_id": id})
            _add_poll(batch, note, id, owner)
        await batch.rows.write(work.db)
        await self._tag(work, notes, ids)
        if counted:
            await work.db.run(_count, owner=owner.id, many=counted)
        await learn_posted(work, [StatusPosted(status_id=id, account_id=owner.id) for id in ids])

    async def _new(self, work: Work, notes: Sequence[ArchivedNote]) -> list[ArchivedNote]:
        known: dict[str, StatusId] = dict(
            await work.db.all(_known, owner=self._owner.id, uris=[note.uri for note in notes])
        )
        for note in notes:
            if note.uri in known:
                found = await store.find(work.db, known[note.uri])
                if found is not None:
                    self._remember(note, _Post(found.id, found.conversation_id, found.account_id))
        unique = {note.uri: note for note in notes if note.uri not in known}
        return list(unique.values())

    def _remember(self, note: ArchivedNote, post: _Post) -> None:
        self._posts[note.uri] = post
        if note.number is not None:
            self._posts[note.number] = post

    async def _files(self, batch: Batch[ArchivedNote], note: ArchivedNote) -> list[Media]:
        """A post comes without a file that cannot be had."""
        made: list[Media] = []
        for file in note.files:
            try:
                made.append(
                    await made_ready(
                        batch.work, self._archive, self._finder, file, self._owner.id, rehearsed=batch.is_rehearsed
                    )
                )
            except UnfitForImport as unfit:
                batch.leave(note.uri, str(unfit), step="media")
        return made

    async def _choose_ids(self, work: Work, notes: Sequence[ArchivedNote]) -> list[StatusId]:
        """Ids of the moments at which they were written; those of one second follow each other."""
        chosen: list[StatusId] = []
        last: datetime | None = None
        for note in notes:
            at = note.published if last is None or note.published > last else last + timedelta(milliseconds=1)
            last = at
            chosen.append(StatusId(id_at(at, secrets.randbelow(1 << 16))))
        while taken := set(await work.db.all(_taken, ids=chosen)):
            chosen = [StatusId(id >> 16 << 16 | secrets.randbelow(1 << 16)) if id in taken else id for id in chosen]
        return chosen

    async def _look_up_parents(self, work: Work, notes: Sequence[ArchivedNote]) -> None:
        own = {note.uri for note in notes}
        for note in notes:
            parent = note.parent
            if parent is None or parent in self._posts or parent in own or parent.startswith("#"):
                continue
            [*before] = await work.db.all(_known, owner=self._owner.id, uris=[parent])
            found = await store.find(work.db, before[0][1]) if before else await store.find_by_uri(work.db, parent)
            if found is not None and (before or found.visibility <= UNLISTED):
                self._posts[parent] = _Post(found.id, found.conversation_id, found.account_id)

    def _row(self, work: Work, note: ArchivedNote, id: StatusId, media: Sequence[Media]) -> dict[str, Any]:
        content = kept(note.html[:MOST_HTML])
        owner, parent = self._owner, None
        if note.parent is not None:
            parent = self._posts.get(note.parent, _Post(StatusId(NOT_KNOWN), id, AccountId(NOT_KNOWN)))
        return {
            "id": id,
            "version": FIRST,
            "account_id": owner.id,
            "local": True,
            "uri": status_uri(owner.uri, id),
            "url": status_url(work.settings, owner.username, id),
            "visibility": note.visibility,
            "in_reply_to_id": None if parent is None else parent.id,
            "in_reply_to_account_id": None if parent is None else parent.account_id,
            "conversation_id": id if parent is None else parent.conversation_id,
            "text": plain(content),
            "content": content,
            "spoiler_text": note.warning[:5000],
            "sensitive": note.is_sensitive,
            "language": note.language,
            "media_ids": [row.id for row in media],
            "tag_names": _names(note),
            "poll_id": id if note.options else None,
            "quote_policy": "nobody",
            "application": {"name": f"Imported from {note.domain}", "website": note.url or note.uri},
            "replies_count": 0,
            "reblogs_count": 0,
            "favourites_count": 0,
            "quotes_count": 0,
            "created_at": note.published,
        }

    async def _tag(self, work: Work, notes: Sequence[ArchivedNote], ids: Sequence[StatusId]) -> None:
        for note, id in zip(notes, ids, strict=True):
            spelled = {normal_tag(name): name for name in note.tags if is_tag(name)}
            found = await tags.note(work.db, spelled, ids=[work.new_id() for _ in spelled], now=work.now)
            if found:
                await tags.link(work.db, id, self._owner.id, [tag.id for tag in found.values()])
                if note.visibility in (PUBLIC, UNLISTED):
                    await tags.note_open_use(work.db, self._owner.id, [tag.id for tag in found.values()], work.now)


def _names(note: ArchivedNote) -> list[str]:
    return list(dict.fromkeys(normal_tag(name) for name in note.tags if is_tag(name)))


def _add_poll(batch: Batch[ArchivedNote], note: ArchivedNote, id: StatusId, owner: Account) -> None:
    """Over, whenever it was to end: those who could vote are elsewhere."""
    if note.options:
        ended = min(note.ended_at or note.published, batch.work.now)
        batch.rows.add(
            "social_polls",
            id=id,
            status_id=id,
            account_id=owner.id,
            options=note.options,
            tallies=note.tallies,
            voters_count=None,
            multiple=note.multiple,
            hide_totals=False,
            expires_at=ended,
            ended_at=ended,
        )
