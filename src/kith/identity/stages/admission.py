"""Whether a person who has authenticated may sign in."""

from __future__ import annotations

from typing import Any

from kith.identity.admission import Admission, is_turned_away
from kith.identity.signups import addresses
from kith.identity.signups.service import must_confirm
from kith.identity.stages.turn import Denied, Turn
from kith.identity.users.tables import User

DISABLED = "This account is disabled."
WAITING = "Your account is waiting for approval."
WELCOME = "Thank you. Your account is waiting for approval. You will receive an e-mail."
UNCONFIRMED = "Please confirm your e-mail address first. We have sent you the e-mail again."
NEW = "Please confirm your e-mail address first. We have sent you an e-mail."
ENOUGH = "Please confirm your e-mail address first, using the link in the e-mail we have sent you."


async def find_denial(turn: Turn[Any], user: User, *, has_written: bool = False) -> Denied | None:
    """Why the person may not sign in, None if they may.

    Call it only after the password was right, as it tells that the account exists.

    The mail that confirms an address is sent again, unless something was written before.
    """
    if not user.is_active and not (user.awaits_link and _mails(turn)):
        return Denied(DISABLED, "user inactive")
    admission = turn.work.find(Admission)  # type: ignore[type-abstract]
    if not await admission.may_sign_in(turn.work, user.id):
        return Denied(DISABLED, "account is a memorial")
    if await is_turned_away(turn.work, user.id, user.email, user.role):
        return Denied(DISABLED, "address is blocked")
    joins = turn.flow.designation == "enrollment"
    if must_confirm(turn.work.settings, user) and not _mails(turn):
        sent = not has_written and await addresses.ask_again(turn.work, user)
        return Denied((NEW if joins else UNCONFIRMED) if sent else ENOUGH, "address not confirmed")
    if user.approved_at is None:
        return Denied(WELCOME if joins else WAITING, "waits for approval", waits=True)
    return None


def _mails(turn: Turn[Any]) -> bool:
    """Whether a later stage of this run confirms the address."""
    return any(step.kind == "email" for step in turn.plan.steps[1:])
