"""Archives are made by jobs: a ZIP with profile, posts, favourites and bookmarks as ActivityStreams, and the files."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
import zipfile
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from kith.base.blobs import Blobs
from kith.base.errors import NotFound
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts import store as accounts
from kith.social.accounts.facts import AccountDeleted
from kith.social.accounts.tables import Account
from kith.social.archives import mails, store
from kith.social.archives.documents import ArchiveDocuments
from kith.social.media import store as media
from kith.social.statuses import store as statuses
from kith.social.transfers import held

__all__ = ["END_ALL", "MAKE", "SWEEP", "MakeArchive", "SweepArchives"]

POSTS = 100  # read at a time
MOST_MARKS = 200_000
KEPT_FOR = timedelta(days=7)
SWEPT = 20  # in one round
_encode = msgspec.json.encode


class MakeArchive(msgspec.Struct):
    archive_id: int


class SweepArchives(msgspec.Struct):
    """Those whose time is over."""


async def make(work: Work, payload: MakeArchive) -> None:
    """All is read and stored before the first write."""
    found = await store.find(work.db, payload.archive_id)
    owner = None if found is None or found.account_id is None else await accounts.find(work.db, found.account_id)
    if found is None or found.state != "making" or owner is None or owner.deleted_at is not None:
        return
    file = f"archives/{found.id}-{secrets.token_hex(16)}.zip"
    with tempfile.TemporaryDirectory(prefix="kith-archive-") as folder:
        path = Path(folder) / "archive.zip"
        await _write(work, owner, path)
        size = path.stat().st_size
        await work.find(Blobs).put(file, path, "application/zip", "private, no-store")
    until = work.now + KEPT_FOR
    await store.finish(work.db, found.id, file=file, size=size, expires_at=until)
    await mails.tell_ready(work, owner, size=size, until=until)
    if owner.user_id is not None:
        words = "Your archive is ready. You find it under Export in your settings."
        await identity.leave_message(work, owner.user_id, words, "success")


async def _write(work: Work, owner: Account, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        documents = work.find(ArchiveDocuments)  # type: ignore[type-abstract]
        archive.writestr("actor.json", await documents.person(work, owner))
        files = [owner.avatar, owner.header, *await _write_posts(work, owner, documents, archive)]
        liked = await store.favourite_uris(work.db, owner.id, MOST_MARKS)
        kept = [one.name async for one in held.every(work, owner.id, "bookmarks", MOST_MARKS)]
        for name, uris in (("likes.json", liked), ("bookmarks.json", kept)):
            await asyncio.to_thread(archive.writestr, name, _encode(_collection(name, uris)))
        await _write_files(work, archive, files)


def _collection(name: str, uris: list[str]) -> dict[str, Any]:
    return {
        "@context": "https://www.w3.org/ns/activitystreams",
        "id": name,
        "type": "OrderedCollection",
        "totalItems": len(uris),
        "orderedItems": uris,
    }


async def _write_posts(work: Work, owner: Account, documents: ArchiveDocuments, archive: zipfile.ZipFile) -> list[str]:
    """All posts in one document, written bit by bit: what explains them stands at its end. The files they have."""
    files: list[str] = []
    terms: frozenset[str] = frozenset()
    total, after = 0, 0
    with archive.open("outbox.json", "w", force_zip64=True) as out:
        out.write(b'{"id":"outbox.json","type":"OrderedCollection","orderedItems":[')
        while ids := await store.post_ids(work.db, owner.id, after, POSTS):
            after = ids[-1]
            rows = await statuses.find_all(work.db, ids)
            made = await documents.posts(work, owner, [rows[id] for id in ids if id in rows])
            for item in made.items:
                out.write(b",\n" if total else b"\n")
                out.write(item)
                total += 1
            terms |= made.terms
            attached = [id for row in rows.values() for id in row.media_ids]
            files += [one.file for one in (await media.of_ids(work.db, attached)).values() if one.file]
        out.write(b'],"totalItems":%d,"@context":%b}' % (total, documents.context(terms)))
    return files


async def _write_files(work: Work, archive: zipfile.ZipFile, files: Iterable[str]) -> None:
    """Where they are on this server, too: `media/…` as in the addresses of the documents."""
    blobs = work.find(Blobs)
    for key in dict.fromkeys(one for one in files if one and not one.startswith("http")):
        try:
            pieces = await blobs.stream(key)
        except NotFound:
            continue
        entry = zipfile.ZipInfo(f"media/{key}", date_time=work.now.timetuple()[:6])
        with archive.open(entry, "w", force_zip64=True) as out:
            async for piece in pieces:
                await asyncio.to_thread(out.write, piece)


async def sweep(work: Work, _payload: SweepArchives) -> None:
    found = await store.over(work.db, work.now, SWEPT)
    await work.find(Blobs).delete([one.file for one in found if one.file])
    if found:
        await store.remove(work.db, [one.id for one in found])


async def end_all(work: Work, fact: AccountDeleted) -> None:
    """The file goes with the next round."""
    await store.end_all(work.db, fact.account_id, work.now)


MAKE: JobKind[MakeArchive] = JobKind(
    name="archives.make", payload=MakeArchive, handler=make, outside=True, concurrency=1, attempts=4,
    patience=timedelta(hours=2),
)  # fmt: skip
SWEEP: JobKind[SweepArchives] = JobKind(name="archives.sweep", payload=SweepArchives, handler=sweep, outside=True)
END_ALL: JobKind[AccountDeleted] = JobKind(name="archives.end_all", payload=AccountDeleted, handler=end_all)
