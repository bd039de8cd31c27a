"""Asking for the password once more before a change to what protects an account: password, factors, tokens, address.

A recent sign-in is enough, but not one with an app password, and not during an impersonation. Otherwise the current
password is required. Whoever has none signs in again.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from kith.base.clocks import is_recent
from kith.base.errors import Complaint, Forbidden, Invalid
from kith.base.limits import Limiter, LimitRule
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.caller import ApiCaller
from kith.identity.sessions.tables import LoginSession
from kith.identity.users import store as users
from kith.identity.users.passwords import Passwords
from kith.identity.users.tables import User

FRESH = timedelta(minutes=15)
GUESSES = LimitRule("confirm", most=10, seconds=600)
FIELD = "current_password"
BY_APP_PASSWORD = "token"  # noqa: S105 - how a session names this way of signing in
_CODE = "confirmation_needed"


class ReauthenticationNeeded(Forbidden):
    code = _CODE
    message = (
        f"Show that it is you: send your password as `{FIELD}`, or sign in again "
        f"and repeat this within {FRESH.seconds // 60} minutes."
    )

    def __init__(self) -> None:
        super().__init__(extra={"code": _CODE})


class NotByAppPassword(Forbidden):
    code = "app_password"
    message = "An app password cannot be used for this. Sign in, or use your password."

    def __init__(self) -> None:
        super().__init__(extra={"code": "app_password"})


def is_fresh(session: LoginSession, now: datetime) -> bool:
    """Whether the session's person has authenticated recently."""
    if session.by_id is not None or session.auth_method == BY_APP_PASSWORD:
        return False
    return is_recent(session.created_at, now, FRESH)


async def is_password(work: Work, user: User, given: str) -> bool:
    """Whether this is their password; tries are limited."""
    paid = await work.find(Limiter).pay((GUESSES, str(user.id)))
    if await work.find(Passwords).check(user.password, given):
        await paid.give_back()
        return True
    async with work.aside() as aside:
        await audit.record(
            aside,
            "login_failed",
            "core.confirmation",
            user_id=user.id,
            username=user.username,
            context={"username": user.username, "stage": "confirmation"},
        )
    return False


def refuse_app_password(caller: ApiCaller) -> None:
    """An app password cannot be used to change what protects an account, whoever's it is."""
    if caller.way == "app_password":
        raise NotByAppPassword


async def require_current_password(work: Work, caller: ApiCaller, given: object) -> None:
    """Raise unless the caller has authenticated recently or `given` is their password."""
    refuse_app_password(caller)
    if caller.way == "system" or caller.is_fresh:
        return
    user = await users.get(work.db, caller.id)
    if given is None or user.password is None:
        raise ReauthenticationNeeded
    if not isinstance(given, str) or not await is_password(work, user, given):
        raise Invalid(fields={FIELD: [Complaint("This is not your password.", "wrong_password")]})
