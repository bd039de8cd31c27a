"""Signs the pending person in: a new session under a new key."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from kith.identity.audit import service as audit
from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.guessing import allowance as guessing
from kith.identity.messages import service as messages
from kith.identity.policies import scores
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Boolean, Integer, Offset, read_offset
from kith.identity.sessions import service as sessions
from kith.identity.stages import browser_marks, expired_passwords
from kith.identity.stages.admission import refused
from kith.identity.stages.turn import PASSED, Act, Challenge, Denied, Outcome, Turn
from kith.identity.users import store as users

FIELDS = (
    Integer(name="session_duration", default=0, least=0, help="Seconds; 0: until the browser is closed."),
    Offset(
        name="remember_me_offset",
        default="seconds=0",
        least=0,
        help="More than nothing: people may choose to stay that much longer.",
    ),
    Boolean(name="terminate_other_sessions", default=False),
    Offset(name="remember_device", default="days=30", least=0, help="How long a device counts as known."),
)

RESOURCE = Resource(
    path="/stages/user_login/",
    record="UserLoginStage",
    key="stage_uuid",
    family=STAGES,
    kind="userlogin",
    table=kind_table("identity_stages_user_login", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "session_duration", "remember_me_offset", "terminate_other_sessions"),
    removing=forget_stage,
)


async def show(turn: Turn) -> Outcome:
    if read_offset(turn.stage["remember_me_offset"]):
        return Challenge("userlogin", {"pending_user": turn.context.get("pending_user_identifier", "")})
    return await take(turn, {})


async def take(turn: Turn, answer: dict[str, Any]) -> Outcome:
    user = await turn.pending_user()
    if user is None:
        return Denied("Sign-in failed.", "user_login without a pending user")
    refusal = await refused(turn, user)
    if refusal is not None:
        return refusal
    if expired_passwords.must_change(turn, user):
        return Denied(expired_passwords.EXPIRED, "the expired password was not changed on the way")
    known = read_offset(turn.stage["remember_device"]) or 0
    told: dict[str, Any] = dict(turn.context.get("auth_method_args") or {})
    told["known_device"] = bool(known) and browser_marks.has(turn, user, "device", known) is not None
    seconds = _seconds(turn.stage["session_duration"])
    if answer.get("remember_me") in (True, "true", "on", "1"):
        seconds += read_offset(turn.stage["remember_me_offset"]) or 0
    method = str(turn.context.get("auth_method", "flow"))
    turn.held = await sessions.sign_in(
        turn.work, turn.held.session, user.id, method=method,
        life=timedelta(seconds=seconds) if seconds else None, address=turn.exchange.address,
    )  # fmt: skip
    if turn.stage["terminate_other_sessions"]:
        await sessions.end_all(turn.work, user.id, but=turn.held.session.session_uuid)
    await users.change(turn.work.db, user.id, "last_login_at", turn.work.now, turn.work.now)
    await audit.record(
        turn.work, "login", "stages.user_login", user_id=user.id, username=user.username,
        context={"auth_method": method, "auth_method_args": told,
                 "flow": turn.flow.slug},
    )  # fmt: skip
    if known:
        browser_marks.leave(turn, user, "device")
    await guessing.entered(turn.work, turn.exchange, user.id, browser=True)
    await scores.change(turn.work, identifier=user.username, ip=turn.exchange.address, by=1)
    await messages.leave(turn.work, user.id, "Successfully logged in!", "success")
    return PASSED


def _seconds(duration: Any) -> float:
    """Whole seconds in the old shape of the record, an offset text in today's."""
    if isinstance(duration, int):
        return float(duration)
    return read_offset(str(duration)) or 0.0


ACT = Act("userlogin", show, take)
