"""Asks who is there, and never tells whether an account exists."""

from __future__ import annotations

from typing import Any

from kith.identity.executor.flow_links import slug_of
from kith.identity.executor.turn import PASSED, Act, Challenge, Outcome, Turn
from kith.identity.users import store as users
from kith.identity.users.passwords import Passwords
from kith.identity.users.tables import User

UNKNOWN = "Failed to authenticate."


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
    for name, flow in (("enroll_url", "enrollment_flow"), ("recovery_url", "recovery_flow")):
        slug = await slug_of(turn.work, stage[flow])
        if slug is not None:
            fields[name] = f"/flows/{slug}/"
    return Challenge("identification", fields)


async def take(turn: Turn, answer: dict[str, Any]) -> Outcome:
    given = answer.get("uid_field")
    challenge = await show(turn)
    assert isinstance(challenge, Challenge)  # noqa: S101 - identification always asks
    if not isinstance(given, str) or not given.strip():
        return challenge.complain("uid_field", "This field may not be blank.", "blank")
    given = given.strip()[:320]
    user = await _find(turn, given)
    if turn.stage["password_stage"] is not None:
        right = await turn.work.find(Passwords).check(user.password if user else None, str(answer.get("password", "")))
        if user is None or not right or not user.is_active:
            return challenge.complain("non_field_errors", UNKNOWN)
        turn.context["auth_method"] = "password"
    if user is None and not turn.stage["pretend_user_exists"]:
        return challenge.complain("uid_field", UNKNOWN)
    turn.context["pending_user"] = user.id if user is not None else None
    turn.context["pending_user_identifier"] = given
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
