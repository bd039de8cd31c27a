"""Copying a directory: groups first, then people, then who is in which group, then what is gone.

Each page of the directory is read while nothing is written, and written in one transaction, so memory and locks do
not grow with the directory. A run that dies is begun anew by its job; what it did stays, and is found unchanged.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from kith.base.clocks import is_recent
from kith.base.db import Session
from kith.base.work import Work
from kith.identity.sources import store as source_store
from kith.identity.sources.ldap import groups, people, store
from kith.identity.sources.ldap.directory import Directories, DirectoryFailed, OpenDirectory, open_directory
from kith.identity.sources.ldap.entries import DirectoryEntry
from kith.identity.sources.ldap.left_out import see_left_out_groups, see_left_out_people
from kith.identity.sources.ldap.people import DirectoryPerson
from kith.identity.sources.ldap.progress import SyncProgress
from kith.identity.sources.ldap.settings import DirectorySource
from kith.identity.sources.ldap.unseen import remove_unseen_groups, remove_unseen_people
from kith.identity.sources.tables import DirectoryRun

_Identifiers = Callable[[Session, str, str], Awaitable[list[str]]]
STALE = timedelta(minutes=10)
KEPT = timedelta(days=30)


async def begin_run(work: Work, source: str, run_uuid: str) -> DirectoryRun | None:
    """The run of this name, new or taken up again after a sudden end; None while another one is under way."""
    await work.db.hold(f"identity.ldap:{source}")
    for run in await store.last_runs(work.db, source):
        if run.run_uuid == run_uuid:
            return run if run.state == "running" else None
        if run.state == "running":
            if is_recent(run.updated_at, work.now, STALE):
                return None
            run.state, run.finished_at = "failed", work.now
            await store.change_run(work.db, run, work.now)
    run = DirectoryRun(run_uuid, source, "running", "groups", {}, [], work.now, work.now, None)
    await store.add_run(work.db, run)
    await store.forget_runs(work.db, source, work.now - KEPT)
    return run


async def synchronise(work: Work, directory: DirectorySource, run: DirectoryRun) -> None:
    """Raises `DirectoryFailed`; then nothing is deleted."""
    progress = SyncProgress(run.run_uuid)
    try:
        async with _opened(work, directory) as opened:
            if directory.settings.sync_groups:
                await _copy_groups(work, directory, opened, progress, run)
            if directory.settings.sync_users:
                await _copy_people(work, directory, opened, progress, run)
            if directory.settings.sync_groups and not (directory.settings.from_user and progress.said_memberships):
                await _copy_members(work, directory, opened, progress, run)
        await _remove(work, directory, progress, run)
    except DirectoryFailed as error:
        progress.note(str(error))
        await _report(work, run, progress, state="failed")
        raise
    await _report(work, run, progress, state="done")


async def rehearse(work: Work, directory: DirectorySource) -> SyncProgress:
    """What a run would change. Nothing is written."""
    progress = SyncProgress("00000000-0000-0000-0000-000000000000")
    settings = directory.settings
    async with _opened(work, directory) as opened:
        if settings.sync_groups:
            async for page in _pages(work, opened, settings.group_base, settings.group_filter):
                listed, left_out = _groups_in(directory, page, progress)
                await groups.apply_page(work, directory, listed, progress, rehearse=True)
                progress.seen_groups.update(one.first(settings.unique) for one in left_out)
        if settings.sync_users:
            async for page in _pages(work, opened, settings.user_base, settings.user_filter):
                some, left_out = await _people_in(work, directory, page, progress)
                await people.rehearse_page(work, directory, some, progress)
                progress.seen_users.update(one.first(settings.unique) for one in left_out)
    if settings.deletes:
        source = directory.source.pbm_uuid
        if settings.sync_users and progress.seen_users:
            progress.users.delete = await _count_unseen(work, source, store.user_identifiers, progress.seen_users)
        if settings.sync_groups and progress.seen_groups:
            progress.groups.delete = await _count_unseen(work, source, store.group_identifiers, progress.seen_groups)
    return progress


async def _count_unseen(work: Work, source: str, listed: _Identifiers, seen: set[str]) -> int:
    count, after = 0, ""
    while page := await listed(work.db, source, after):
        count += sum(1 for one in page if one not in seen)
        after = page[-1]
    return count


@asynccontextmanager
async def _opened(work: Work, directory: DirectorySource) -> AsyncIterator[OpenDirectory]:
    directories = work.find(Directories)
    source = directory.source.pbm_uuid
    opened = await directories.ask(source, open_directory, directory.settings)
    opened.source = source
    try:
        yield opened
    finally:
        await directories.ask(source, opened.close)


async def _pages(
    work: Work, opened: OpenDirectory, base: str, query: str, attributes: tuple[str, ...] = ("*", "+")
) -> AsyncIterator[list[DirectoryEntry]]:
    directories = work.find(Directories)
    opened.search(base, query, attributes)
    while page := await directories.ask(opened.source, opened.next_page):
        yield page


async def _pages_to_copy(
    work: Work,
    directory: DirectorySource,
    opened: OpenDirectory,
    base: str,
    query: str,
    attributes: tuple[str, ...] = ("*", "+"),
) -> AsyncIterator[list[DirectoryEntry]]:
    """The same, while the source is enabled: a directory may take its time, and has no say after that."""
    async for page in _pages(work, opened, base, query, attributes):
        await _check_enabled(work, directory)
        yield page
    await _check_enabled(work, directory)


async def _check_enabled(work: Work, directory: DirectorySource) -> None:
    source = await source_store.find_source_by_id(work.db, directory.source.pbm_uuid)
    if source is None or not source.enabled:
        raise DirectoryFailed("the source was disabled meanwhile")


async def _copy_groups(
    work: Work, directory: DirectorySource, opened: OpenDirectory, progress: SyncProgress, run: DirectoryRun
) -> None:
    settings = directory.settings
    async for page in _pages_to_copy(work, directory, opened, settings.group_base, settings.group_filter):
        listed, left_out = _groups_in(directory, page, progress)
        async with work.aside() as aside:
            await groups.apply_page(aside, directory, listed, progress)
            if left_out:
                await see_left_out_groups(aside, directory, left_out, progress)
        await _report(work, run, progress)


async def _copy_people(
    work: Work, directory: DirectorySource, opened: OpenDirectory, progress: SyncProgress, run: DirectoryRun
) -> None:
    settings, progress.phase = directory.settings, "users"
    async for page in _pages_to_copy(work, directory, opened, settings.user_base, settings.user_filter):
        listed, left_out = await _people_in(work, directory, page, progress)
        progress.said_memberships = progress.said_memberships or any(one.memberships for one in listed)
        async with work.aside() as aside:
            found = await people.apply_page(aside, directory, listed, progress)
            if settings.sync_groups and settings.from_user and progress.said_memberships:
                await groups.apply_memberships(aside, directory, listed, found)
            if left_out:
                await see_left_out_people(aside, directory, left_out, progress)
        await _report(work, run, progress)


async def _copy_members(
    work: Work, directory: DirectorySource, opened: OpenDirectory, progress: SyncProgress, run: DirectoryRun
) -> None:
    """By what the groups say: where the source has it so, and where nobody says what groups they are in."""
    settings, progress.phase = directory.settings, "members"
    wanted = (settings.unique, settings.members)
    async for page in _pages_to_copy(work, directory, opened, settings.group_base, settings.group_filter, wanted):
        async with work.aside() as aside:
            await groups.apply_members(aside, directory, page)
        await _report(work, run, progress)


async def _remove(work: Work, directory: DirectorySource, progress: SyncProgress, run: DirectoryRun) -> None:
    """Only after everything was read. Where nobody at all was found, the search is wrong, and nobody is deleted."""
    settings, progress.phase = directory.settings, "delete"
    if not settings.deletes:
        return
    if settings.sync_users and progress.read_users:
        while True:
            async with work.aside() as aside:
                if not await remove_unseen_people(aside, directory, progress):
                    break
            await _report(work, run, progress)
    if settings.sync_groups and progress.read_groups:
        while True:
            async with work.aside() as aside:
                if not await remove_unseen_groups(aside, directory, progress):
                    break


def _groups_in(
    directory: DirectorySource, page: list[DirectoryEntry], progress: SyncProgress
) -> tuple[list[groups.DirectoryGroup], list[DirectoryEntry]]:
    """What can be copied, and what cannot."""
    listed: dict[str, groups.DirectoryGroup] = {}
    left_out: list[DirectoryEntry] = []
    for entry in page:
        read = groups.read_group(directory, entry)
        if isinstance(read, str):
            progress.note(read)
            left_out.append(entry)
        else:
            listed[read.identifier] = read
    progress.read_groups += len(listed)
    return list(listed.values()), left_out


async def _people_in(
    work: Work, directory: DirectorySource, page: list[DirectoryEntry], progress: SyncProgress
) -> tuple[list[DirectoryPerson], list[DirectoryEntry]]:
    """Who can be copied, and who cannot."""
    listed: dict[str, DirectoryPerson] = {}
    left_out: list[DirectoryEntry] = []
    for entry in page:
        read = await people.read_person(work, directory, entry)
        if isinstance(read, str):
            progress.note(read)
            left_out.append(entry)
        else:
            listed[read.identifier] = read
    progress.read_users += len(listed)
    return list(listed.values()), left_out


async def _report(work: Work, run: DirectoryRun, progress: SyncProgress, *, state: str = "running") -> None:
    run.state, run.phase, run.counts, run.notes = state, progress.phase, progress.told(), list(progress.notes)
    async with work.aside() as aside:
        run.finished_at = aside.now if state != "running" else None
        await store.change_run(aside.db, run, aside.now)
