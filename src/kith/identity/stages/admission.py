"""Whether somebody who has proved who they are may come in."""

from __future__ import annotations

from kith.identity.signups import addresses
from kith.identity.signups.service import must_confirm
from kith.identity.stages.turn import Denied, Turn
from kith.identity.standing import Admission, is_turned_away
from kith.identity.users.tables import User

DISABLED = "This account is disabled."
WAITING = "Your account is waiting for approval."
WELCOME = "Thank you. Your account is waiting for approval; you will get a mail."
UNCONFIRMED = "Confirm your address first; we have sent the mail again."
NEW = "Confirm your address first; we have sent you a mail."
ENOUGH = "Confirm your address first, with the link in the mail we have sent you."


async def refused(turn: Turn, user: User, *, has_written: bool = False) -> Denied | None:
    """Why they may not. Asked after the password was right and not before: it tells that the account exists.

    Unless something was written already, the mail that confirms an address is sent again.
    """
    if not user.is_active and not _activates(turn):
        return Denied(DISABLED, "user inactive")
    admission = turn.work.find(Admission)  # type: ignore[type-abstract]
    if not await admission.may_sign_in(turn.work, user.id):
        return Denied(DISABLED, "account is a memorial")
    if await is_turned_away(turn.work, user.email, user.role):
        return Denied(DISABLED, "address is blocked")
    joins = turn.flow.designation == "enrollment"
    if must_confirm(turn.work.settings, user) and not _mails(turn):
        sent = not has_written and await addresses.ask_again(turn.work, user)
        return Denied((NEW if joins else UNCONFIRMED) if sent else ENOUGH, "address not confirmed")
    if user.approved_at is None:
        return Denied(WELCOME if joins else WAITING, "waits for approval")
    return None


def _mails(turn: Turn) -> bool:
    """Whether a stage further on in this walk has the address confirmed."""
    return any(step.kind == "email" for step in turn.plan.steps[1:])


def _activates(turn: Turn) -> bool:
    return turn.flow.designation == "enrollment" and _mails(turn)
