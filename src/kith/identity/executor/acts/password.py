"""Asks for the password of whoever was named, and costs the same for a name that nobody has."""

from __future__ import annotations

from typing import Any

from kith.base.limits import Limiter, Rule, address_key
from kith.identity.audit import service as audit
from kith.identity.callers import FAILURES
from kith.identity.executor.turn import PASSED, Act, Challenge, Denied, Outcome, Turn
from kith.identity.policies import scores
from kith.identity.users import store as users
from kith.identity.users.passwords import Passwords

WRONG = "Invalid password"
# Counted for one name from one address, so that nobody can be locked out by somebody else.
BY_NAME = Rule("sign-in-name", most=10, seconds=600)


async def show(turn: Turn) -> Outcome:
    if turn.context.get("auth_method") == "auth_webauthn_pwl":
        return PASSED  # a passkey stands for the password too
    if "pending_user_identifier" not in turn.context and turn.context.get("pending_user") is None:
        return Denied("Nobody was named.", "password stage without a pending user")
    shown = turn.context.get("pending_user_identifier", "")
    return Challenge("password", {"pending_user": shown, "allow_show_password": turn.stage["allow_show_password"]})


async def take(turn: Turn, answer: dict[str, Any]) -> Outcome:
    challenge = await show(turn)
    if not isinstance(challenge, Challenge):
        return challenge
    given = answer.get("password")
    if not isinstance(given, str) or not given:
        return challenge.complain("password", "This field may not be blank.", "blank")
    limiter, who = turn.work.find(Limiter), address_key(turn.exchange.address)
    name = f"{who}:{turn.context.get('pending_user_identifier', '')}"[:150]
    await limiter.refuse_if_spent(FAILURES, who)
    await limiter.refuse_if_spent(BY_NAME, name)
    user = await turn.pending_user()
    passwords = turn.work.find(Passwords)
    usable = "internal" in turn.stage["backends"]
    if await passwords.check(user.password if user is not None and usable else None, given) and user is not None:
        if not user.is_active:
            return Denied("This account is disabled.", "user inactive")
        turn.context["auth_method"] = "password"
        if user.password is not None and passwords.needs_rehash(user.password):
            hashed = await passwords.hash(given)
            await users.rehash(turn.work.db, user.id, user.password, hashed)
        return PASSED
    await _failed(turn, limiter, who, name)
    turn.context["_failed"] = turn.context.get("_failed", 0) + 1
    if turn.context["_failed"] >= turn.stage["failed_attempts_before_cancel"]:
        return Denied("Too many wrong passwords.", "failed attempts")
    return challenge.complain("password", WRONG)


async def _failed(turn: Turn, limiter: Limiter, who: str, name: str) -> None:
    user = await turn.pending_user()
    typed = str(turn.context.get("pending_user_identifier", ""))
    async with turn.work.aside() as aside:
        await scores.change(
            aside, identifier=user.username if user is not None else typed, ip=turn.exchange.address, by=-1
        )
        if user is not None:
            await audit.record(
                aside, "login_failed", "stages.password", user_id=user.id, username=typed,
                context={"username": typed, "stage": turn.stage["name"]},
            )  # fmt: skip
    await limiter.spend_strictly(FAILURES, who)
    await limiter.spend_strictly(BY_NAME, name)


ACT = Act("password", show, take)
