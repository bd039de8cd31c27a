"""Asks for the password again before a stage changes what protects the account of somebody who is signed in.

It is asked whatever stages the flow has. The rule is in `identity.reauthentication`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import msgspec

from kith.base.clocks import is_recent
from kith.identity import reauthentication
from kith.identity.factors import store as factors
from kith.identity.stages.factor_setup import is_set_up
from kith.identity.stages.turn import Challenge, Turn
from kith.identity.users.tables import User

WRONG = "Invalid password"
_SETS_UP = {"otptime": "totp", "otpstatic": "static", "webauthn": "webauthn"}


class SignInAgain(msgspec.Struct, frozen=True):
    """The person has no password, so they sign in again at `to` and come back."""

    to: str


def proved(turn: Turn[Any], user_id: int) -> None:
    """Store in the plan that they have authenticated in this run: by password, or by a link in their mail."""
    turn.context.reauthenticated = (user_id, turn.work.now.timestamp())


async def ask(turn: Turn[Any], kind: str, answer: dict[str, Any] | None) -> Challenge | SignInAgain | bool:
    """The question before the stage's turn; False if none is needed, True if it was just answered."""
    session, now = turn.held.session, turn.work.now
    if session.user_id is None or turn.context.user_id != session.user_id:
        return False
    if reauthentication.is_fresh(session, now) or _has_proved(turn, session.user_id):
        return False
    user = await turn.pending_user()
    if user is None or not await _is_guarded(turn, kind, user):
        return False
    if user.password is None:
        here = {"again": "true", "next": f"/flows/{turn.flow.slug}/"}
        return SignInAgain(f"/flows/-/default/authentication/?{urlencode(here)}")
    challenge = Challenge("password", {"pending_user": user.username, "allow_show_password": False})
    if answer is None or answer.get("component", challenge.component) != challenge.component:
        return challenge
    given = answer.get("password")
    if not isinstance(given, str) or not given:
        return challenge.complain("password", "This field may not be blank.", "blank")
    if not await reauthentication.is_password(turn.work, user, given):
        return challenge.complain("password", WRONG)
    proved(turn, user.id)
    return True


def _has_proved(turn: Turn[Any], user_id: int) -> bool:
    if turn.context.reauthenticated is None:
        return False
    who, at = turn.context.reauthenticated
    return who == user_id and is_recent(datetime.fromtimestamp(at, UTC), turn.work.now, reauthentication.FRESH)


async def _is_guarded(turn: Turn[Any], kind: str, user: User) -> bool:
    """Whether the stage is about to change something that is protected in this way."""
    match kind:
        case "userdelete":
            return True
        case "userwrite":
            data = turn.context.answers
            renamed = any(data.get(name) and data[name] != getattr(user, name) for name in ("username", "email"))
            return renamed or bool(data.get("password"))
        case "otp":
            has_one = any(one.kind in ("static", "totp") for one in await factors.of_user(turn.work.db, user.id))
            return turn.flow.designation == "stage_setup" or (not has_one and bool(turn.stage.enforced))
        case _:
            return kind in _SETS_UP and not await is_set_up(turn, _SETS_UP[kind])
