"""Checking and using invitations in a flow."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, delete, or_, select

from kith.base.db import UID, Instant, query
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.signups import store as signups
from kith.identity.stages.invitations import invitations
from kith.identity.stages.turn import Turn


class Invitation(msgspec.Struct):
    invite_uuid: str
    single_use: bool
    fixed_data: dict[str, Any]
    created_by: int | None


_columns = (invitations.c.invite_uuid, invitations.c.single_use, invitations.c.fixed_data, invitations.c.created_by)
_good = and_(
    invitations.c.invite_uuid == bindparam("invite", type_=UID()),
    or_(invitations.c.expires.is_(None), invitations.c.expires > bindparam("now", type_=Instant())),
    or_(invitations.c.flow.is_(None), invitations.c.flow == bindparam("for_flow", type_=UID())),
)
_find = query(select(*_columns).where(_good), Invitation)
_spend = query(delete(invitations).where(and_(_good, invitations.c.single_use)).returning(*_columns), Invitation)


async def find(work: Work, invite_uuid: str | None, flow_uuid: str) -> Invitation | None:
    if invite_uuid is None:
        return None
    return await work.db.one(_find, invite=invite_uuid, now=work.now, for_flow=flow_uuid)


async def is_still_good(turn: Turn[Any]) -> bool:
    """Checked before anything slow or lasting is done; `use` decides."""
    invite_uuid = turn.context.invitation_uuid
    return invite_uuid is None or await find(turn.work, invite_uuid, turn.flow.flow_uuid) is not None


async def use(turn: Turn[Any], user_id: int | None = None) -> bool:
    """Use the run's invitation, if it has one, for this person; False if it is not valid any more."""
    invite_uuid, turn.context.invitation_uuid = turn.context.invitation_uuid, None
    if invite_uuid is None:
        return True
    return await spend(turn.work, invite_uuid, turn.flow.flow_uuid, user_id)


async def spend(work: Work, invite_uuid: str, flow_uuid: str, user_id: int | None) -> bool:
    """Use an invitation and remember who invited the person; one for several people stays."""
    spent = await work.db.one(_spend, invite=invite_uuid, now=work.now, for_flow=flow_uuid)
    if spent is None:
        spent = await find(work, invite_uuid, flow_uuid)
        if spent is None or spent.single_use:
            return False
    if user_id is not None and spent.created_by is not None:
        await signups.set_inviter(work.db, user_id, spent.created_by)
    await audit.record(work, "invitation_used", "stages.invitation", context={"invitation_uuid": invite_uuid})
    return True
