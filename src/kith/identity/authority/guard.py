"""Implements `rest.write_guard.WriteGuard` from the table of powers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kith.base.work import Work
from kith.identity.authority.checks import compare_membership
from kith.identity.authority.powers import power_of
from kith.identity.authority.write import RecordWrite, refuse
from kith.identity.caller import ApiCaller
from kith.identity.lasting_rights import ends_of_rights, lasts_longer
from kith.identity.rest import RecordDraft, Resource
from kith.identity.rest.write_guard import RightEnds

__all__ = ["PowerGuard"]

FOR_LONGER = "You may not give yourself for longer what you have until a moment."
_GRANTING = frozenset({"core.user", "core.group", "rbac.role"})  # what people have their rights by


class PowerGuard:
    def __init__(self, resources: Iterable[Resource[Any]]) -> None:
        self._powers = {resource.path: power_of(resource) for resource in resources}

    async def judge(self, resource: Resource[Any], draft: RecordDraft[Any]) -> None:
        before = None if draft.is_new else draft.stored
        after = {**draft.stored, **draft.values}
        await self._run(RecordWrite(draft.work, resource, draft.caller, _held(draft.caller), before, after, draft))

    async def judge_removal(
        self, work: Work, resource: Resource[Any], stored: Mapping[str, Any], caller: ApiCaller
    ) -> None:
        await self._run(RecordWrite(work, resource, caller, _held(caller), stored, None))

    async def judge_membership(self, work: Work, group_uuid: str, caller: ApiCaller) -> None:
        await compare_membership(work, group_uuid, _held(caller))

    async def rights_before(self, work: Work, model: str, caller: ApiCaller) -> RightEnds | None:
        return await ends_of_rights(work.db, caller.id) if model in _GRANTING else None

    async def judge_after(self, work: Work, caller: ApiCaller, before: RightEnds) -> None:
        """Whatever is until a moment stays so: by a role, another group or one of their own making, too."""
        if lasts_longer(before, await ends_of_rights(work.db, caller.id)):
            refuse(FOR_LONGER)

    async def _run(self, write: RecordWrite) -> None:
        for check in self._powers[write.resource.path].checks:
            await check(write)


def _held(caller: ApiCaller) -> frozenset[str]:
    return caller.permissions or frozenset()
