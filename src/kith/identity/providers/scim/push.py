"""Telling a service of one person or one group: what it has is compared with what it should have."""

from __future__ import annotations

import contextlib
from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.providers.scim import group_store, store
from kith.identity.providers.scim.client import ServiceClient, ServiceRefused
from kith.identity.providers.scim.documents import LeftOut, describe_group, describe_person, digest_of
from kith.identity.providers.scim.scope import is_group_in_scope, person_in_scope
from kith.identity.providers.scim.tables import RemoteResource
from kith.identity.providers.scim.target import ScimTarget
from kith.identity.scim.schemas import USER_SCHEMA

AT_ONCE = 100  # members in one PATCH
_NAMES = {"user": "userName", "group": "displayName"}


def _leaving(member: RemoteResource) -> dict[str, Any]:
    return {"op": "remove", "path": f"members[value eq {msgspec.json.encode(member.remote_id).decode()}]"}


class Pusher:
    """Tells one service; what it has answered is kept at once, in a work of its own."""

    def __init__(self, work: Work, target: ScimTarget, client: ServiceClient, *, can_patch: bool) -> None:
        self._work = work
        self._target = target
        self._client = client
        self._can_patch = can_patch

    async def tell(self, kind: str, local_id: str) -> None:
        if kind == "user":
            await self._tell_person(int(local_id))
        else:
            await self._tell_group(local_id)

    # People

    async def _tell_person(self, user_id: int) -> None:
        work, provider = self._work, self._target.provider
        remote = await store.find_remote(work.db, provider, "user", str(user_id))
        person = await person_in_scope(work, self._target, user_id)
        document = None
        if person is not None:
            try:
                document = await describe_person(work, self._target, person)
            except LeftOut:
                document = None
        if document is not None:
            await self._put("user", str(user_id), document, remote)
        elif remote is not None and remote.is_active:
            await self._end_person(remote)
        await self._mark_groups(user_id)

    async def _end_person(self, remote: RemoteResource) -> None:
        """Deleted there, or made inactive, as the provider has it."""
        if self._target.deprovision == "delete":
            groups = await self._leave_groups(remote)
            await self._client.delete("user", remote.remote_id)
            async with self._work.aside() as aside:
                rows = [(self._target.provider, "group", group) for group in groups]
                await store.wait(aside.db, rows, aside.new_id(), aside.now)
                await store.forget_remote(aside.db, self._target.provider, "user", remote.local_id)
                await self._record(aside, "scim_deprovisioned", remote)
            return
        gone = not await self._deactivate(remote)
        async with self._work.aside() as aside:
            if gone:
                await store.forget_remote(aside.db, self._target.provider, "user", remote.local_id)
            else:
                kept = msgspec.structs.replace(remote, digest="", is_active=False, pushed_at=aside.now)
                await store.keep_remote(aside.db, self._target.provider, kept)
            await self._record(aside, "scim_deprovisioned", remote)

    async def _leave_groups(self, remote: RemoteResource) -> set[str]:
        """Not every service takes those whom it deletes out of its groups. The groups that must be told as a whole."""
        db, provider = self._work.db, self._target.provider
        groups = await group_store.remote_groups_of(db, provider, int(remote.local_id))
        if not self._can_patch:
            return groups
        for group in (await store.some_remotes(db, provider, "group", sorted(groups))).values():
            with contextlib.suppress(ServiceRefused):
                await self._client.change("group", group.remote_id, [_leaving(remote)])
        return set()

    async def _deactivate(self, remote: RemoteResource) -> bool:
        """False if they are gone there."""
        try:
            if self._can_patch:
                operation = {"op": "replace", "path": "active", "value": False}
                await self._client.change("user", remote.remote_id, [operation])
            else:
                document = {"schemas": [USER_SCHEMA], "userName": remote.name, "active": False}
                await self._client.replace("user", remote.remote_id, document)
        except ServiceRefused as refused:
            if refused.status not in (404, 410):
                raise
            return False
        return True

    async def _mark_groups(self, user_id: int) -> None:
        """The groups in which the service has them although they are no members, or the other way round."""
        provider, db = self._target.provider, self._work.db
        remote = await store.find_remote(db, provider, "user", str(user_id))
        wanted = await group_store.groups_of(db, user_id) if remote is not None and remote.is_active else set()
        differing = wanted ^ await group_store.remote_groups_of(db, provider, user_id)
        if differing:
            async with self._work.aside() as aside:
                rows = [(provider, "group", group) for group in differing]
                await store.wait(aside.db, rows, aside.new_id(), aside.now)

    # Groups

    async def _tell_group(self, group_uuid: str) -> None:
        work, provider = self._work, self._target.provider
        remote = await store.find_remote(work.db, provider, "group", group_uuid)
        found = await group_store.find_group(work.db, group_uuid)
        document = None
        if found is not None and await is_group_in_scope(work, self._target, group_uuid):
            try:
                document = await describe_group(work, self._target, group_uuid, found[1], found[3])
            except LeftOut:
                document = None
        if document is None:
            if remote is not None:
                await self._client.delete("group", remote.remote_id)
                async with work.aside() as aside:
                    await store.forget_remote(aside.db, provider, "group", group_uuid)
                    await self._record(aside, "scim_deprovisioned", remote)
            return
        if self._can_patch:
            kept = await self._put("group", group_uuid, document, remote)
            await self._tell_members(kept)
        else:
            await self._tell_whole_group(group_uuid, document, remote)

    async def _tell_members(self, remote: RemoteResource) -> None:
        """In parts, each kept when the service has taken it."""
        work, provider, group = self._work, self._target.provider, remote.local_id
        while joining := await group_store.joining(work.db, provider, group, AT_ONCE):
            members = [{"value": remote_id} for _, remote_id in joining]
            await self._client.change("group", remote.remote_id, [{"op": "add", "path": "members", "value": members}])
            async with work.aside() as aside:
                await group_store.keep_members(aside.db, provider, group, [user_id for user_id, _ in joining])
        while leaving := await group_store.leaving(work.db, provider, group, AT_ONCE):
            known = await store.some_remotes(work.db, provider, "user", [str(one) for one in leaving])
            operations = [_leaving(one) for one in known.values()]
            if operations:
                await self._client.change("group", remote.remote_id, operations)
            async with work.aside() as aside:
                await group_store.forget_members(aside.db, provider, group, leaving)

    async def _tell_whole_group(self, group_uuid: str, document: dict[str, Any], remote: RemoteResource | None) -> None:
        """For services that cannot PATCH: with all members, every time one joins or leaves."""
        work, provider = self._work, self._target.provider
        members: list[tuple[int, str]] = []
        while page := await group_store.all_members(work.db, provider, group_uuid, members[-1][0] if members else 0):
            members += page
        whole = {**document, "members": [{"value": remote_id} for _, remote_id in members]}
        await self._put("group", group_uuid, whole, remote)
        async with work.aside() as aside:
            await group_store.forget_group_members(aside.db, provider, group_uuid)
            await group_store.keep_members(aside.db, provider, group_uuid, [user_id for user_id, _ in members])

    # Both

    async def _put(
        self, kind: str, local_id: str, document: dict[str, Any], remote: RemoteResource | None
    ) -> RemoteResource:
        """Make the service have this document; nothing is sent if it has it already."""
        digest = digest_of(document)
        if remote is not None and remote.is_active and remote.digest == digest:
            return remote
        name = str(document[_NAMES[kind]])
        remote_id, is_new = await self._send(kind, document, remote, name)
        async with self._work.aside() as aside:
            kept = RemoteResource(kind, local_id, remote_id, name, digest, True, aside.now)
            if is_new and kind == "group":
                await group_store.forget_group_members(aside.db, self._target.provider, local_id)
            await store.keep_remote(aside.db, self._target.provider, kept)
            if is_new or (remote is not None and not remote.is_active):
                await self._record(aside, "scim_provisioned", kept)
        return kept

    async def _send(
        self, kind: str, document: dict[str, Any], remote: RemoteResource | None, name: str
    ) -> tuple[str, bool]:
        """The id there, and whether it was not known before."""
        if remote is not None:
            try:
                await self._update(kind, remote.remote_id, document)
            except ServiceRefused as refused:
                if refused.status not in (404, 410):
                    raise
            else:
                return remote.remote_id, False
        try:
            return await self._client.create(kind, document), True
        except ServiceRefused as refused:
            if refused.status != 409:
                raise
            found = await self._client.find(kind, _NAMES[kind], name)
            if found is None:
                raise
        await self._update(kind, found, document)
        return found, True

    async def _update(self, kind: str, id: str, document: dict[str, Any]) -> None:
        """A group is changed by PATCH where that is possible: PUT would end the memberships."""
        if kind == "group" and "members" not in document:
            values = {name: value for name, value in document.items() if name != "schemas"}
            await self._client.change(kind, id, [{"op": "replace", "value": values}])
        else:
            await self._client.replace(kind, id, document)

    async def _record(self, work: Work, action: str, remote: RemoteResource) -> None:
        context = {
            "provider": {"pk": self._target.provider, "name": self._target.name},
            "resource": {"kind": remote.kind, "pk": remote.local_id, "name": remote.name, "id": remote.remote_id},
        }
        await audit.record(work, action, "providers.scim", context=context)
