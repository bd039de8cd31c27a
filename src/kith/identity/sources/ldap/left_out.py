"""Entries that cannot be copied any more, of people and groups that were: they are still in the directory."""

from __future__ import annotations

from collections.abc import Sequence

from kith.base.work import Work
from kith.identity.sources.ldap import store
from kith.identity.sources.ldap.entries import DirectoryEntry, is_disabled
from kith.identity.sources.ldap.progress import SyncProgress
from kith.identity.sources.ldap.settings import DirectorySource
from kith.identity.users import service

__all__ = ["see_left_out_groups", "see_left_out_people"]


async def see_left_out_people(
    work: Work, directory: DirectorySource, entries: Sequence[DirectoryEntry], progress: SyncProgress
) -> None:
    """They are not deleted; and whoever is disabled there is disabled here, whatever else their entry says."""
    source = directory.source.pbm_uuid
    by_identifier = _by_identifier(directory, entries)
    known = await store.connections(work.db, source, list(by_identifier))
    here = await store.users_by_id(work.db, [one.user for one in known.values()])
    for identifier, connection in known.items():
        user = here[connection.user]
        is_over = is_disabled(by_identifier[identifier]) and user.is_active
        if is_over and await directory.reach.holds_person(work, user.id):
            await service.set_active(work, user, False, by_name="ldap", source=source)
            work.announce(service.UserChanged(user_id=user.id))
            progress.users.update += 1
    await store.see_users(work.db, source, list(known), progress.run)


async def see_left_out_groups(
    work: Work, directory: DirectorySource, entries: Sequence[DirectoryEntry], progress: SyncProgress
) -> None:
    identifiers = list(_by_identifier(directory, entries))
    await store.see_groups(work.db, directory.source.pbm_uuid, identifiers, progress.run)


def _by_identifier(directory: DirectorySource, entries: Sequence[DirectoryEntry]) -> dict[str, DirectoryEntry]:
    found = {entry.first(directory.settings.unique): entry for entry in entries}
    found.pop("", None)
    return found
