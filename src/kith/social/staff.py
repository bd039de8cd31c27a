"""Who may act for the community: `guards=[staff("manage_users", scope="admin:write:accounts")]`.

A role's permissions say what somebody may do, its position to whom: only to people whose role stands lower. The
command line speaks for the operator, who may do everything.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from kith.base.errors import Forbidden
from kith.base.exchange import Exchange
from kith.base.routing import Provided
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.identity import for_staff
from kith.social.accounts import user_accounts
from kith.social.accounts.tables import Account
from kith.social.guards import Caller, Guard, caller_in, member_in, user
from kith.social.ids import AccountId, UserId
from kith.social.roles import store as roles
from kith.social.roles.tables import Role

__all__ = ["OPERATOR", "MaybeStaff", "Staff", "TheStaff", "as_now", "record", "refuse_if_above", "role_of", "staff"]

SUPERUSER = 100  # where somebody stands who may do everything in the identity half, whatever their role is called


class Staff(msgspec.Struct, frozen=True):
    """Somebody of the team; without a role it is the operator, at the command line."""

    name: str
    user_id: UserId | None = None
    account_id: AccountId | None = None
    role: Role | None = None

    def may(self, *permissions: str) -> bool:
        """One of these is enough."""
        return self.role is None or self.role.allows(*permissions)

    def check(self, *permissions: str) -> None:
        if not self.may(*permissions):
            raise Forbidden

    @property
    def permissions(self) -> int:
        return -1 if self.role is None else self.role.all_permissions

    def is_above(self, position: int) -> bool:
        return self.role is None or self.role.position > position


OPERATOR = Staff("command line")


class StaffCaller(Caller, frozen=True):
    staff: Staff | None = None


def staff(*permissions: str, scope: str) -> Guard:
    """Somebody's token with the scope, whose role has one of the permissions."""
    inner = user(scope, by_permission=True)

    async def check(exchange: Exchange) -> None:
        await inner(exchange)
        found = await _staff(exchange)
        found.check(*permissions)
        caller = caller_in(exchange)
        known = {name: getattr(caller, name) for name in Caller.__struct_fields__}
        exchange.caller = StaffCaller(**known, staff=found)

    return Guard((scope,), check)


async def _staff(exchange: Exchange) -> Staff:
    member, work = member_in(exchange), exchange.work
    account = await user_accounts.of_user(work, member.id)
    role = (await roles.load(work.db)).of(member.role, account.role_id)
    return Staff(member.username, member.id, account.id, role)


async def as_now(work: Work, by: Staff) -> Staff:
    """The same person with the role that they have now: who waited for a turn may have lost what they came with."""
    if by.user_id is None:
        return by
    person, account = await identity.find_person(work, by.user_id), await user_accounts.of_user(work, by.user_id)
    if person is None or await identity.is_shut_out(work, by.user_id):
        raise Forbidden
    role = (await roles.load(work.db)).of(person.role, account.role_id)
    return msgspec.structs.replace(by, role=role)


def staff_in(exchange: Exchange) -> Staff:
    """Only behind `staff(...)`."""
    caller = caller_in(exchange)
    if not isinstance(caller, StaffCaller) or caller.staff is None:
        raise Forbidden
    return caller.staff


async def staff_if_any(exchange: Exchange) -> Staff | None:
    """Who looks at a route that is open to all, if it is somebody: their role says what they see of it."""
    return None if caller_in(exchange).member is None else await _staff(exchange)


TheStaff = Annotated[Staff, Provided(staff_in)]
MaybeStaff = Annotated[Staff | None, Provided(staff_if_any)]


async def role_of(work: Work, account: Account) -> Role | None:
    """Somebody's role as their record stands now; None for whoever lives elsewhere."""
    person = None if account.user_id is None else await identity.find_person(work, account.user_id)
    if person is None:
        return None
    role = (await roles.load(work.db)).of(person.role, account.role_id)
    if role.position < SUPERUSER and await for_staff.is_mighty(work, person.id):
        return msgspec.structs.replace(role, position=SUPERUSER)
    return role


async def refuse_if_above(work: Work, by: Staff, account: Account) -> None:
    """Nobody touches themselves, their equals, or whoever stands above them."""
    role = await role_of(work, account)
    if role is not None and not by.is_above(role.position):
        raise Forbidden


async def record(work: Work, by: Staff, action: str, target: Account | None = None, **context: Any) -> None:
    """An event in the audit trail for what the team did."""
    told: dict[str, Any] = dict(context)
    if target is not None:
        told["target"] = {"id": str(target.id), "acct": target.acct}
    await for_staff.record_event(work, action, "social.moderation", user_id=by.user_id, username=by.name, context=told)
