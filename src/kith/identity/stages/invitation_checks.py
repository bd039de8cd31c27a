"""Checking and using invitations in a flow."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, delete, or_, select, update

from kith.base.db import UID, Instant, any_row, query
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.stages.invitations import invitations
from kith.identity.stages.turn import Turn
from kith.identity.users.tables import is_active, users


class Invitation(msgspec.Struct):
    invite_uuid: str
    single_use: bool
    fixed_data: dict[str, Any]
    created_by: int
    autofollow: bool


_columns = tuple(invitations.c[name] for name in Invitation.__struct_fields__)
# The word of somebody who may not come in themselves any more lets nobody in.
_good = and_(
    invitations.c.invite_uuid == bindparam("invite", type_=UID()),
    or_(invitations.c.expires.is_(None), invitations.c.expires > bindparam("now", type_=Instant())),
    or_(invitations.c.flow.is_(None), invitations.c.flow == bindparam("for_flow", type_=UID())),
    or_(invitations.c.max_uses.is_(None), invitations.c.uses < invitations.c.max_uses),
    any_row(users, and_(users.c.id == invitations.c.created_by, is_active())),
)
_find = query(select(*_columns).where(_good), Invitation)
_spend = query(delete(invitations).where(and_(_good, invitations.c.single_use)).returning(*_columns), Invitation)
_count_use = query(
    update(invitations)
    .where(and_(_good, ~invitations.c.single_use))
    .values(uses=invitations.c.uses + 1)
    .returning(*_columns),
    Invitation,
)


async def find(work: Work, invite_uuid: str | None, flow_uuid: str) -> Invitation | None:
    if invite_uuid is None:
        return None
    return await work.db.one(_find, invite=invite_uuid, now=work.now, for_flow=flow_uuid)


async def is_still_good(turn: Turn[Any]) -> bool:
    """Checked before anything slow or lasting is done; `use` decides."""
    invite_uuid = turn.context.invitation_uuid
    return invite_uuid is None or await find(turn.work, invite_uuid, turn.flow.flow_uuid) is not None


async def use(turn: Turn[Any]) -> bool:
    """Use the run's invitation, if it has one; False if it is not valid any more."""
    invite_uuid, turn.context.invitation_uuid = turn.context.invitation_uuid, None
    if invite_uuid is None:
        return True
    return await spend(turn.work, invite_uuid, turn.flow.flow_uuid)


async def spend(work: Work, invite_uuid: str, flow_uuid: str) -> bool:
    """Use an invitation; one for several people stays, and counts them."""
    given = {"invite": invite_uuid, "now": work.now, "for_flow": flow_uuid}
    if await work.db.one(_spend, **given) is None and await work.db.one(_count_use, **given) is None:
        return False
    await audit.record(work, "invitation_used", "stages.invitation", context={"invitation_uuid": invite_uuid})
    return True
