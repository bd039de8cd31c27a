"""How far a source reaches: it does nothing to people and groups that whoever set it up may not do themselves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.group_grants import groups_beyond
from kith.identity.rest import RecordDraft
from kith.identity.sources.store import Source
from kith.identity.users.privileges import OWNER, find_caller, is_above, may_give_address

__all__ = ["BEYOND", "HARMLESS", "SourceReach", "reach_of", "remember_setter"]

HARMLESS = ("name", "icon", "promoted")  # fields of a source that say nothing about whom it vouches for
BEYOND = "may do more than whoever set this source up, and stays as they are here"
_NOBODY = ApiCaller(id=-1, username="", role="user", permissions=frozenset())
_OPERATOR = ApiCaller(id=0, username="kith", role=OWNER, permissions=None, way="system")


def remember_setter(draft: RecordDraft[Any]) -> None:
    """Whoever says what a source is, has set it up; 0 is the operator, by a blueprint or a command."""
    if draft.is_new or any(draft.sets(name) for name in draft.values if name not in HARMLESS):
        draft.columns["set_up_by"] = draft.caller.id


class SourceReach(msgspec.Struct, frozen=True):
    """What the source may do is what its `setter` may do now."""

    setter: ApiCaller

    async def holds_person(self, work: Work, user_id: int) -> bool:
        """Whether the source may change this person."""
        if self.setter.role == OWNER and self.setter.permissions is None:
            return True
        return not await is_above(work, self.setter, user_id)

    async def gives_address(self, work: Work, address: str, user_id: int) -> bool:
        """Whether the source's word makes the address this person's; 0 is a person who is new."""
        return await may_give_address(work, self.setter, address, user_id)

    async def groups_beyond(self, work: Work, group_uuids: Iterable[str]) -> set[str]:
        """Those groups that the source may neither fill nor change."""
        held = self.setter.permissions
        return await groups_beyond(work.db, group_uuids, held) if held is not None else set()


async def reach_of(work: Work, source: Source) -> SourceReach:
    """Of a source whose setter is not known, disabled or not here any more: it reaches nobody who has any rights."""
    if source.set_up_by == _OPERATOR.id:
        return SourceReach(_OPERATOR)
    setter = await find_caller(work, source.set_up_by) if source.set_up_by is not None else None
    return SourceReach(setter or _NOBODY)
