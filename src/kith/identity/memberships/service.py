"""Memberships that are made and ended one at a time, until a moment or for good."""

from __future__ import annotations

from datetime import datetime

from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.caller import ApiCaller
from kith.identity.groups import store
from kith.identity.groups.facts import announce_group
from kith.identity.groups.tables import Membership
from kith.identity.memberships.facts import MembershipEnded
from kith.identity.memberships.store import names_of
from kith.identity.rest.facts import AccessChanged, EndPlanned
from kith.identity.users.service import UserChanged


async def join(
    work: Work, group: tuple[str, str], person: tuple[int, str], expires: datetime | None, by: ApiCaller
) -> None:
    """Make somebody a member; whoever is one already gets the new end. `group` and `person` are ids and names."""
    await store.join(work.db, group[0], person[0], expires=expires)
    await _joined(work, group, person, expires, by)


async def _joined(
    work: Work, group: tuple[str, str], person: tuple[int, str], expires: datetime | None, by: ApiCaller
) -> None:
    await _record(work, "membership_added", group, person, by, expires)
    if expires is not None:
        work.announce(EndPlanned(at=expires))
    _announce(work, group[0], person[0])


async def join_for_longer(
    work: Work, group: tuple[str, str], person: tuple[int, str], expires: datetime, by: ApiCaller
) -> None:
    """The same, unless somebody is a member for good or for longer."""
    if await store.join_for_longer(work.db, group[0], person[0], expires):
        await _joined(work, group, person, expires, by)


async def leave(work: Work, group: tuple[str, str], person: tuple[int, str], by: ApiCaller) -> bool:
    """False if they were no member."""
    if not await store.leave(work.db, group[0], person[0]):
        return False
    await _record(work, "membership_removed", group, person, by, None)
    work.announce(MembershipEnded(user_id=person[0], group_uuid=group[0]))
    _announce(work, group[0], person[0])
    return True


async def end_due(work: Work, most: int) -> int:
    """End memberships whose end has come, and say so to whoever was told of them."""
    found = await store.over(work.db, work.now, most=most)
    names = await names_of(work.db, [one.group_uuid for one in found], [one.user_id for one in found])
    for one in found:
        await _end(work, one, names)
    return len(found)


async def _end(work: Work, one: Membership, names: dict[str | int, str]) -> None:
    if not await store.end(work.db, one.group_uuid, one.user_id, work.now):
        return
    group, person = (one.group_uuid, names.get(one.group_uuid, "")), (one.user_id, names.get(one.user_id, ""))
    await _record(work, "membership_expired", group, person, None, one.expires)
    work.announce(MembershipEnded(user_id=one.user_id, group_uuid=one.group_uuid))
    work.announce(UserChanged(user_id=one.user_id))
    announce_group(work, one.group_uuid, [one.user_id])


def _announce(work: Work, group_uuid: str, user_id: int) -> None:
    work.announce(UserChanged(user_id=user_id))
    announce_group(work, group_uuid, [user_id])
    work.announce(AccessChanged())


async def _record(
    work: Work,
    action: str,
    group: tuple[str, str],
    person: tuple[int, str],
    by: ApiCaller | None,
    expires: datetime | None,
) -> None:
    context = {
        "model": {"app": "core", "model_name": "group", "pk": group[0], "name": group[1]},
        "member": {"pk": person[0], "username": person[1]},
        "expires": expires,
    }
    by_id, by_name = (None, "") if by is None else (by.id, by.username)
    await audit.record(work, action, "core.groups", user_id=by_id, username=by_name, context=context)
