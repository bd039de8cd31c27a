"""`kith import archive`: posts that somebody brings from where they lived before."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from kith.base.import_runs import LeftOutRow
from kith.base.work import Works
from kith.cli.imports.archive.files import OpenedArchive, open_archive
from kith.cli.imports.archive.notes import ArchivedNote, bookmarks_in, notes_in
from kith.cli.imports.archive.writing import ArchiveWriter
from kith.cli.imports.progress import Progress
from kith.cli.imports.reports import end
from kith.cli.imports.running import Batch, RunStep, open_run, source_of
from kith.cli.inputs import WORDS, user_called
from kith.cli.running import as_json, house, run
from kith.social.accounts.tables import Account
from kith.social.accounts.user_accounts import of_user
from kith.social.ids import UserId
from kith.social.statuses import store
from kith.social.statuses.tables import UNLISTED

__all__ = ["archive"]

AT_ONCE = 50


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--to", "name", required=True, type=WORDS, help="Whose posts these become: a username or an address.")
@click.option("--rehearse", is_flag=True, help="Read and check everything, write nothing.")
@click.option("--report", type=click.Path(path_type=Path), help="The file for posts that are left out (CSV).")
@as_json
def archive(*, file: Path, name: str, rehearse: bool, report: Path | None, as_json: bool) -> None:
    """Put the posts of an archive on somebody's account, dated as they were.

    FILE is an archive that Mastodon made (ZIP or tar.gz), or one with a statuses.json as tools for GoToSocial write
    it. Nothing is sent to other servers, nobody is notified, and each post says where it came from. If it was
    interrupted, the same command goes on where it stopped.
    """
    run(_import(file, name, rehearse=rehearse, report=report, as_json=as_json))


async def _import(file: Path, name: str, *, rehearse: bool, report: Path | None, as_json: bool) -> None:
    with Progress() as progress:
        progress.begin("reading", None)
        opened_file = await asyncio.to_thread(open_archive, file)
        try:
            notes, left = await asyncio.to_thread(notes_in, opened_file)
            progress.end()
            async with house() as opened:
                owner = await _owner(opened.works, name)
                source = f"{source_of(file)} to {owner.username}"
                async with open_run(opened.works, "archive", source, {}, progress, rehearse=rehearse) as importing:
                    await importing.do(_unfit(left))
                    await importing.do(_posts(notes, ArchiveWriter(owner, opened_file)))
                    await importing.do(_bookmarks(opened_file, owner))
                progress.stop()
                await end(opened, importing, report, as_json=as_json)
        finally:
            opened_file.close()


async def _owner(works: Works, name: str) -> Account:
    async with works.begin() as work:
        user = await user_called(work.db, name)
        return await of_user(work, UserId(user.id))


def _batches(items: list[Any]) -> Any:
    def batches(place: int) -> Iterator[tuple[int, list[Any]]]:
        for start in range(place, len(items), AT_ONCE):
            some = items[start : start + AT_ONCE]
            yield start + len(some), some

    return batches


def _unfit(left: list[tuple[str, str]]) -> RunStep[tuple[str, str]]:
    async def take(batch: Batch[tuple[str, str]]) -> None:
        batch.left += [LeftOutRow("posts", name, reason) for name, reason in batch.items]

    return RunStep("unfit", len(left), _batches(left), take)


def _posts(notes: list[ArchivedNote], writer: ArchiveWriter) -> RunStep[ArchivedNote]:
    return RunStep("posts", len(notes), _batches(notes), writer.take)


def _bookmarks(opened_file: OpenedArchive, owner: Account) -> RunStep[str]:
    uris = list(dict.fromkeys(bookmarks_in(opened_file)))

    async def take(batch: Batch[str]) -> None:
        for uri in batch.items:
            found = await store.find_by_uri(batch.work.db, uri)
            if found is None or (found.visibility > UNLISTED and found.account_id != owner.id):
                batch.leave(uri, "the post is not known here")
                continue
            id = batch.work.new_id()
            about = {"account_id": owner.id, "status_id": found.id}
            batch.rows.add("social_bookmarks", id=id, **about, created_at=batch.work.now)
            batch.taken += 1

    return RunStep("bookmarks", len(uris), _batches(uris), take)
