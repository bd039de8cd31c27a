"""Checking a password in a flow, at the same cost for unknown users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.flows.stages import StageRecord
from kith.identity.guessing import guess_limits as guessing
from kith.identity.policies import reputation_scores
from kith.identity.scopes import IDENTITY
from kith.identity.security_stamp import stamp_of
from kith.identity.stages import expired_passwords, proofs, reauthentication
from kith.identity.stages.admission import find_denial
from kith.identity.stages.sign_in_sources import SignInSources
from kith.identity.stages.turn import Denied, Turn
from kith.identity.tokens import store as tokens
from kith.identity.tokens.service import hash_key, scopes_of
from kith.identity.tokens.tables import ApiToken
from kith.identity.users import store as users
from kith.identity.users.passwords import Passwords
from kith.identity.users.tables import User

if TYPE_CHECKING:
    from kith.identity.stages.kinds.password import PasswordStage


async def try_password(
    turn: Turn[Any], user: User | None, typed: str, given: str, stage: PasswordStage
) -> Denied | bool:
    """Whether the password is right; `Denied` ends the run. `stage` is the password stage with the settings."""
    paid = await guessing.pay(turn.exchange, turn.work.db, user.id if user is not None else None, typed)
    stamp = await stamp_of(turn.work, user.id) if user is not None else ""
    taken = await _taken(turn, user, given, stage)
    if taken is not None and user is not None:
        await paid.give_back()
        if await stamp_of(turn.work, user.id) != stamp:  # hashing takes a while, and a directory as long as it likes
            return Denied(proofs.CHANGED, "the account was changed while the password was checked")
        return await _right(turn, user, given, stage, taken, stamp)
    async with turn.work.aside() as aside:
        await write_failure(aside, turn, user, typed, model("passwordstage", stage))
    turn.context.failed_passwords = (turn.context.failed_passwords or 0) + 1
    if turn.context.failed_passwords >= stage.failed_attempts_before_cancel:
        return Denied("Too many wrong passwords.", "failed attempts")
    return False


class _Taken(msgspec.Struct, frozen=True):
    """How a password was found to be right, and the source whose directory said so, if it was one."""

    method: str
    source: str = ""


async def _taken(turn: Turn[Any], user: User | None, given: str, stage: PasswordStage) -> _Taken | None:
    """By the first of the stage's backends that takes the password. The slow check is always made."""
    usable = user is not None and "internal" in stage.backends
    right = await turn.work.find(Passwords).check(user.password if user is not None and usable else None, given)
    by = {"internal": _Taken("password")} if right else {}
    if "app_password" in stage.backends:
        token = await tokens.find_live(turn.work.db, hash_key(given), turn.work.now)
        if token is not None and user is not None and token.user_id == user.id and _stands_for_owner(token):
            by[token.intent] = _Taken("token")
    if "ldap" in stage.backends and user is not None and not right:
        source = await turn.work.find(SignInSources).try_password(turn.work, user, given)  # type: ignore[type-abstract]
        if source is not None:
            by["ldap"] = _Taken("ldap", source)
    return next((by[backend] for backend in stage.backends if backend in by), None)


def _stands_for_owner(token: ApiToken) -> bool:
    return token.intent == "app_password" and IDENTITY in scopes_of(token.scopes, token.intent)


async def _right(
    turn: Turn[Any], user: User, given: str, stage: PasswordStage, taken: _Taken, stamp: str
) -> Denied | bool:
    refusal = await find_denial(turn, user)
    if refusal is None and taken.method == "password":
        refusal = await expired_passwords.ask(turn, user, stage)
    if refusal is not None:
        return refusal
    turn.context.auth_method = taken.method
    if taken.source:
        sources = turn.work.find(SignInSources)  # type: ignore[type-abstract]
        kept = await sources.keep_password(turn.work, user, taken.source, given, stamp)
        if kept is not None:
            turn.context.security_stamp = (user.id, kept)
    if taken.method in ("password", "ldap"):
        reauthentication.proved(turn, user.id)
    if taken.method == "password":
        await _rehash(turn, user, given)
    return True


async def _rehash(turn: Turn[Any], user: User, given: str) -> None:
    """A hash that cost less than those of today is replaced, unless the password is about to be changed anyway:
    that step knows the old password by its hash."""
    passwords = turn.work.find(Passwords)
    if turn.context.expired_password is None and user.password is not None and passwords.needs_rehash(user.password):
        hashed = await passwords.hash(given)
        await users.rehash(turn.work.db, user.id, user.password, hashed)


async def write_failure(work: Work, turn: Turn[Any], user: User | None, typed: str, stage: dict[str, Any]) -> None:
    """Record a wrong password; for an unknown user only the reputation score."""
    name = user.username if user is not None else typed
    await reputation_scores.change(work, identifier=name, ip=turn.exchange.address, by=-1)
    if user is not None:
        await audit.record(
            work,
            "login_failed",
            f"stages.{turn.step.kind}",
            user_id=user.id,
            username=typed,
            context={"username": typed, "password": audit.MASK, "stage": stage},
        )


def model(name: str, stage: StageRecord) -> dict[str, Any]:
    """A stage, as the audit trail describes records."""
    return {"app": "stages", "model_name": name, "pk": stage.pk, "name": stage.name}
