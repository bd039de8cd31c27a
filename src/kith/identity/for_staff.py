"""What the team's part of the social half may know of identity and do with it: people's records, roles, sign-ups."""

from __future__ import annotations

from datetime import datetime

import msgspec

from kith.base.work import Work
from kith.identity import staff_people, staff_view
from kith.identity.admission import PeopleGate, is_turned_away
from kith.identity.audit.service import record as record_event
from kith.identity.invites import Invite, find_invite, invite, invites, withdraw_invite
from kith.identity.mail_texts import TEXTS as MAIL_TEXTS
from kith.identity.providers.oauth2.logout.propagation import end_entries_of
from kith.identity.rights import hold_rights
from kith.identity.sessions.service import end_all as end_all_sessions
from kith.identity.signups import service as signups
from kith.identity.signups.mode import began_at, reopen, want_approval
from kith.identity.signups.service import NotWaiting
from kith.identity.staff_view import PersonRecord
from kith.identity.team_rights import TeamRights
from kith.identity.users import service as people
from kith.identity.users import store as users
from kith.identity.users import team
from kith.identity.users.privileges import is_mighty
from kith.identity.users.service import LastSuperuser, Role, UserDeleted

__all__ = [
    "MAIL_TEXTS",
    "Invite",
    "NotWaiting",
    "PeopleGate",
    "PersonRecord",
    "Role",
    "TeamMember",
    "TeamRights",
    "approve_signup",
    "began_at",
    "delete_person",
    "find_invite",
    "find_team",
    "hold_rights",
    "invite",
    "invites",
    "is_mighty",
    "is_turned_away",
    "let_in_again",
    "record_event",
    "reject_signup",
    "reopen",
    "set_active",
    "set_role",
    "shut_out",
    "staff_people",
    "staff_view",
    "want_approval",
    "withdraw_invite",
]


async def set_role(work: Work, user_id: int, role: Role, *, by: int | None, by_name: str) -> None:
    """What somebody is to the identity half; the last who administers this server stays what they are."""
    await people.set_role(work, await users.get(work.db, user_id), role, by=by, by_name=by_name)


class TeamMember(msgspec.Struct, frozen=True):
    user_id: int
    username: str
    email: str
    role: str
    locale: str


async def find_team(work: Work) -> list[TeamMember]:
    """Moderators and administrators who may come in; `email` is empty while it does not count as theirs."""
    found = await team.find_all(work.db)
    return [TeamMember(one.id, one.username, one.counted_email, one.role, one.locale) for one in found]


async def set_active(work: Work, user_id: int, active: bool, *, by: int | None, by_name: str) -> None:
    """Whoever is not active does nothing anywhere, from the next request on."""
    await people.set_active(work, await users.get(work.db, user_id), active, by=by, by_name=by_name)


async def shut_out(work: Work, user_id: int, *, by: int | None, by_name: str) -> bool:
    """Disable somebody, and end every sign-in in this transaction. Whether they had been active.

    Their apps keep their tokens, which are refused until somebody lets them in again.
    """
    user = await users.get(work.db, user_id)
    await people.set_active(work, user, False, by=by, by_name=by_name)
    await end_all_sessions(work, user_id)
    await end_entries_of(work, user_id)
    return user.is_active


async def let_in_again(work: Work, user_id: int, *, since: datetime, by: int | None, by_name: str) -> None:
    """Enable somebody who was shut out at that moment, unless they were disabled or locked later."""
    user = await users.get(work.db, user_id)
    if user.disabled_at is None or user.disabled_at <= since:
        await people.set_active(work, user, True, by=by, by_name=by_name)


async def approve_signup(work: Work, user_id: int, *, by: int | None, by_name: str) -> None:
    """Raises `NotWaiting` where nobody has to say yes."""
    await signups.approve(work, await users.get(work.db, user_id), by=by, by_name=by_name)


async def reject_signup(work: Work, user_id: int, *, by: int | None, by_name: str) -> None:
    await signups.reject(work, await users.get(work.db, user_id), by=by, by_name=by_name)
    work.announce(UserDeleted(user_id=user_id))


async def delete_person(work: Work, user_id: int, *, by: int | None, by_name: str) -> None:
    """Their record goes, and with it whatever is theirs in either half."""
    user = await users.get(work.db, user_id)
    if await team.is_last_superuser(work.db, user_id):
        raise LastSuperuser
    model = {"app": "core", "model_name": "user", "pk": user.id, "name": user.username}
    await record_event(work, "model_deleted", "core.users", user_id=by, username=by_name, context={"model": model})
    await users.remove(work.db, user_id)
    work.announce(UserDeleted(user_id=user_id))
