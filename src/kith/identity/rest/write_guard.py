"""A port by which every write of a record is judged; `identity/authority` knows what each collection guards."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.rest.record_draft import RecordDraft
from kith.identity.rest.resource import Resource

__all__ = ["RightEnds", "WriteGuard", "judge", "judge_after", "judge_membership", "judge_removal", "rights_before"]

RightEnds = Mapping[str, datetime]  # by permission: when it ends


class WriteGuard(Protocol):
    """Raises where the caller, who is no superuser, may not write this whatever permissions they have."""

    async def judge(self, resource: Resource[Any], draft: RecordDraft[Any]) -> None: ...

    async def judge_removal(
        self, work: Work, resource: Resource[Any], stored: Mapping[str, Any], caller: ApiCaller
    ) -> None: ...

    async def judge_membership(self, work: Work, group_uuid: str, caller: ApiCaller) -> None:
        """For somebody who joins or leaves a group."""

    async def rights_before(self, work: Work, model: str, caller: ApiCaller) -> RightEnds | None:
        """Until when the caller may do what, where a write of this model could change it."""

    async def judge_after(self, work: Work, caller: ApiCaller, before: RightEnds) -> None:
        """Refuse what has given the caller a right for longer."""


async def judge(resource: Resource[Any], draft: RecordDraft[Any]) -> None:
    if draft.caller.permissions is not None:
        await draft.work.find(WriteGuard).judge(resource, draft)  # type: ignore[type-abstract]


async def judge_removal(work: Work, resource: Resource[Any], stored: Mapping[str, Any], caller: ApiCaller) -> None:
    if caller.permissions is not None:
        await work.find(WriteGuard).judge_removal(work, resource, stored, caller)  # type: ignore[type-abstract]


async def judge_membership(work: Work, group_uuid: str, caller: ApiCaller) -> None:
    if caller.permissions is not None:
        await work.find(WriteGuard).judge_membership(work, group_uuid, caller)  # type: ignore[type-abstract]


async def rights_before(work: Work, model: str, caller: ApiCaller) -> RightEnds | None:
    """Ask this before a write, and `judge_after` what became of it, in the same transaction."""
    if caller.permissions is None:
        return None
    return await work.find(WriteGuard).rights_before(work, model, caller)  # type: ignore[type-abstract]


async def judge_after(work: Work, caller: ApiCaller, before: RightEnds | None) -> None:
    if before is not None:
        await work.find(WriteGuard).judge_after(work, caller, before)  # type: ignore[type-abstract]
