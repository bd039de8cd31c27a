"""Checking and using invitations in a flow."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, delete, or_, select, update

from kith.base.db import UID, Instant, any_row, query
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.rights import rights_of
from kith.identity.stages.gateway_attributes import CHANGES_GATEWAYS, GatewayAttributes
from kith.identity.stages.invitations import invitations, told_of_invitation
from kith.identity.stages.turn import Turn
from kith.identity.users import store
from kith.identity.users.identifying_attributes import identifying_names
from kith.identity.users.privileges import find_caller, may_give_address
from kith.identity.users.tables import is_active, users

ADDS_PEOPLE = "core.add_user"


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


async def vouches(work: Work, created_by: int | None) -> bool:
    """Whether what an invitation says of who somebody is counts: its maker can use it themselves, so only if they may
    add people anyway."""
    return ADDS_PEOPLE in await _rights_of_maker(work, created_by)


async def names_without_say(work: Work, created_by: int | None, fixed: Mapping[str, Any]) -> set[str]:
    """Names in an invitation that its maker may not set, as of now: they are left out of what it says."""
    return await names_beyond(work, await _rights_of_maker(work, created_by), fixed)


async def names_beyond(work: Work, held: Container[str], names: Iterable[str]) -> set[str]:
    """Find which of `names`, as `attributes.upn`, nobody with just these rights may set."""
    given, found = set(names), set[str]()
    if ADDS_PEOPLE not in held:
        found |= identifying_names(given)
    if CHANGES_GATEWAYS not in held:
        believed = await work.find(GatewayAttributes).names(work)  # type: ignore[type-abstract]
        found |= {name for name in given if name.removeprefix("attributes.").partition(".")[0] in believed}
    return found


async def _rights_of_maker(work: Work, created_by: int | None) -> Container[str]:
    login = await store.find_login_by_id(work.db, created_by) if created_by is not None else None
    if login is None or not login.is_active:
        return ()
    held = await rights_of(work.db, login.id, login.role)
    return (ADDS_PEOPLE, CHANGES_GATEWAYS) if held is None else held


async def gives_address(work: Work, created_by: int | None, address: str) -> bool:
    """Whether it also makes an address the confirmed one of a new person: nobody above its maker loses it by that."""
    maker = await find_caller(work, created_by) if created_by is not None else None
    return maker is not None and maker.may("core.add_user") and await may_give_address(work, maker, address, 0)


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
    await audit.record(work, "invitation_used", "stages.invitation", context=told_of_invitation(invite_uuid))
    return True
