"""People and groups that are gone from a directory: deleted if it has made them, else only unlinked."""

from __future__ import annotations

from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.sources import left_groups
from kith.identity.sources.ldap import store
from kith.identity.sources.ldap.groups import move
from kith.identity.sources.ldap.progress import SyncProgress
from kith.identity.sources.ldap.settings import DirectorySource
from kith.identity.sources.tables import UserConnection
from kith.identity.users import service
from kith.identity.users import store as users
from kith.identity.users.tables import User

__all__ = ["remove_unseen_groups", "remove_unseen_people"]


async def remove_unseen_people(work: Work, directory: DirectorySource, progress: SyncProgress) -> bool:
    """Delete some of those whom the run has not seen; False once there are no more.

    Whom the directory has not made, staff, and whoever has another way in, are only unlinked.
    """
    await work.db.begin()
    unseen = await store.unseen_users(work.db, directory.source.pbm_uuid, progress.run)
    here = await store.users_by_id(work.db, [one.user for one in unseen])
    for connection in unseen:
        user = here[connection.user]
        await store.forget_user(work.db, connection.connection_uuid)
        if not await _may_delete(work, directory, connection, user):
            progress.note(f"{user.username}: gone from the directory, and kept here")
            continue
        progress.users.delete += 1
        model = {"app": "core", "model_name": "user", "pk": user.id, "name": user.username}
        await audit.record(work, "model_deleted", "sources.ldap", username="ldap", context={"model": model})
        work.announce(service.UserDeleted(user_id=user.id))
        await users.remove(work.db, user.id)
    return bool(unseen)


async def _may_delete(work: Work, directory: DirectorySource, connection: UserConnection, user: User) -> bool:
    if not connection.is_made_here or user.role != "user" or await store.count_connections(work.db, user.id) > 0:
        return False
    return await directory.reach.holds_person(work, user.id)


async def remove_unseen_groups(work: Work, directory: DirectorySource, progress: SyncProgress) -> bool:
    """Delete some of the groups that the run has not seen; False once there are no more.

    One that the directory has not made, or that something here stands on, is only unlinked, and its members from the
    directory leave it.
    """
    await work.db.begin()
    unseen = await store.unseen_groups(work.db, directory.source.pbm_uuid, progress.run)
    here = await store.groups_by_id(work.db, [one.group for one in unseen])
    beyond = await directory.reach.groups_beyond(work, here)
    for connection in unseen:
        group, name = connection.group, here[connection.group].name
        members = await store.members_of(work.db, directory.source.pbm_uuid, group)
        may_delete = connection.is_made_here and group not in beyond
        if not (may_delete and await left_groups.remove(work.db, group)):
            progress.note(f"{name}: gone from the directory, and kept here")
            await move(work, directory, set(), {(user_id, group) for user_id in members})
            await store.forget_group(work.db, connection.connection_uuid)
            continue
        progress.groups.delete += 1
        model = {"app": "core", "model_name": "group", "pk": group, "name": name}
        await audit.record(work, "model_deleted", "sources.ldap", username="ldap", context={"model": model})
        for user_id in members:
            work.announce(service.UserChanged(user_id=user_id))
    return bool(unseen)
