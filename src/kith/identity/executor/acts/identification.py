"""Asks who is there, and never tells whether an account exists."""

from __future__ import annotations

from typing import Any

import structlog

from kith.identity.executor.flow_links import slug_of
from kith.identity.executor.turn import PASSED, Act, Challenge, Outcome, Turn
from kith.identity.factors import passkeys
from kith.identity.policies import scores
from kith.identity.users import store as users
from kith.identity.users.passwords import Passwords
from kith.identity.users.tables import User

UNKNOWN = "Failed to authenticate."
_log = structlog.get_logger()


async def show(turn: Turn) -> Outcome:
    stage = turn.stage
    fields: dict[str, Any] = {
        "user_fields": stage["user_fields"],
        "password_fields": stage["password_stage"] is not None,
        "flow_designation": turn.flow.designation,
        "primary_action": "Continue" if turn.flow.designation == "recovery" else "Log in",
        "sources": [],
        "show_source_labels": stage["show_source_labels"],
        "enable_remember_me": stage["enable_remember_me"],
        "pending_user_identifier": turn.context.get("pending_user_identifier") or turn.plan.query.get("login_hint"),
    }
    if stage["webauthn_stage"] is not None:
        challenge = turn.context["_asserting"] = passkeys.new_challenge()
        fields["passkey_challenge"] = await passkeys.request(turn.work, (), challenge, verification="required")
    for name, flow in (("enroll_url", "enrollment_flow"), ("recovery_url", "recovery_flow")):
        slug = await slug_of(turn.work, stage[flow])
        if slug is not None:
            fields[name] = f"/flows/{slug}/"
    return Challenge("identification", fields)


async def take(turn: Turn, answer: dict[str, Any]) -> Outcome:
    given, asked = answer.get("uid_field"), turn.context.pop("_asserting", None)
    challenge = await show(turn)
    assert isinstance(challenge, Challenge)  # noqa: S101 - identification always asks
    if answer.get("passkey") is not None:
        return await _take_passkey(turn, challenge, asked, answer["passkey"])
    if not isinstance(given, str) or not given.strip():
        return challenge.complain("uid_field", "This field may not be blank.", "blank")
    given = given.strip()[:320]
    user = await _find(turn, given)
    if turn.stage["password_stage"] is not None:
        right = await turn.work.find(Passwords).check(user.password if user else None, str(answer.get("password", "")))
        if user is None or not right or not user.is_active:
            await _lower(turn, user.username if user else given)
            return challenge.complain("non_field_errors", UNKNOWN)
        turn.context["auth_method"] = "password"
    if user is None:
        await _lower(turn, given)
    if user is None and not turn.stage["pretend_user_exists"]:
        return challenge.complain("uid_field", UNKNOWN)
    turn.context["pending_user"] = user.id if user is not None else None
    turn.context["pending_user_identifier"] = given
    return PASSED


async def _lower(turn: Turn, identifier: str) -> None:
    await scores.change(turn.work, identifier=identifier, ip=turn.exchange.address, by=-1)


async def _take_passkey(turn: Turn, challenge: Challenge, asked: str | None, sent: Any) -> Outcome:
    """The device says who is there, and has made sure of it itself: nothing else needs to be asked."""
    if turn.stage["webauthn_stage"] is None or asked is None:
        return challenge.complain("passkey", UNKNOWN)
    try:
        device = await passkeys.verify(turn.work, asked, sent, verified=True)
    except passkeys.Refused as refused:
        _log.info("webauthn.refused", reason=str(refused))
        return challenge.complain("passkey", UNKNOWN)
    user = await users.find_by_id(turn.work.db, device.user_id)
    if user is None or not user.is_active:
        return challenge.complain("passkey", UNKNOWN)
    turn.context.pop("_asserting", None)
    turn.context["pending_user"] = user.id
    turn.context["pending_user_identifier"] = user.username
    turn.context["auth_method"] = "auth_webauthn_pwl"
    turn.context["auth_method_args"] = {"device": {"pk": device.device_uuid, "name": device.name}}
    return PASSED


async def _find(turn: Turn, given: str) -> User | None:
    if "\0" in given:
        return None
    found = await users.find(turn.work.db, given) if "username" in turn.stage["user_fields"] else None
    if found is None and "email" in turn.stage["user_fields"]:
        same = await users.with_email(turn.work.db, given)
        found = same[0] if len(same) == 1 else None
    return found


ACT = Act("identification", show, take)
