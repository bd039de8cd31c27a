"""What pages need of how accounts begin: the first owner, who waits for approval, and confirming an address."""

from kith.identity.signups.addresses import change_own as change_own_address
from kith.identity.signups.addresses import check as check_address
from kith.identity.signups.addresses import confirm as confirm_address
from kith.identity.signups.addresses import find as find_address
from kith.identity.signups.mode import current as current_mode
from kith.identity.signups.service import approve, pending, reject
from kith.identity.users.service import FirstOwner, check_setup, use_setup

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
    "reject",
    "use_setup",
]
