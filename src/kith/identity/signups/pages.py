"""What pages need of how accounts begin: the first owner, who waits for approval, and confirming an address."""

from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.rights import rights_of
from kith.identity.signups.addresses import change_own as change_own_address
from kith.identity.signups.addresses import check as check_address
from kith.identity.signups.addresses import confirm as confirm_address
from kith.identity.signups.addresses import find as find_address
from kith.identity.signups.mode import current as current_mode
from kith.identity.signups.service import approve, pending, reject
from kith.identity.users.privileges import refuse_if_above
from kith.identity.users.service import FirstOwner, check_setup, use_setup
from kith.identity.users.tables import User

__all__ = [
    "FirstOwner",
    "approve",
    "change_own_address",
    "check_address",
    "check_setup",
    "confirm_address",
    "current_mode",
    "find_address",
    "pending",
    "refuse_to_decide",
    "reject",
    "use_setup",
]


async def refuse_to_decide(work: Work, staff: User, user: User) -> None:
    """Raise if the person who waits stands higher than whoever decides."""
    permissions = await rights_of(work.db, staff.id, staff.role)
    caller = ApiCaller(staff.id, staff.username, staff.role, permissions=permissions, way="session")
    await refuse_if_above(work, caller, user.id, "let in or turn down")
