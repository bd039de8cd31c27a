"""Signs the pending user in, with a new session."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from kith.identity.audit import service as audit
from kith.identity.flows.stages import STAGES, StageRecord
from kith.identity.guessing import guess_limits as guessing
from kith.identity.messages import service as messages
from kith.identity.policies import reputation_scores
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Boolean, Choice, Integer, Offset, read_offset
from kith.identity.sessions import service as sessions
from kith.identity.sessions.binding import NETWORKS, NONE, PLACES, SessionBinding
from kith.identity.stages import browser_marks, expired_passwords, proofs, source_connection
from kith.identity.stages.admission import find_denial
from kith.identity.stages.sign_in_sources import SignInSources
from kith.identity.stages.turn import PASSED, Challenge, Denied, Outcome, StageKind, Turn
from kith.identity.users import store as users
from kith.identity.users.tables import User

FIELDS = (
    Integer(name="session_duration", default=0, least=0, help="Seconds; 0: until the browser is closed."),
    Offset(
        name="remember_me_offset",
        default="seconds=0",
        least=0,
        help="More than nothing: people may choose to stay that much longer.",
    ),
    Boolean(name="terminate_other_sessions", default=False),
    Choice(
        name="network_binding",
        default=NONE,
        choices=NETWORKS,
        help="End sessions that go on from another network (KITH_GEOIP_ASN_FILE) or address.",
    ),
    Choice(
        name="geoip_binding",
        default=NONE,
        choices=PLACES,
        help="End sessions that go on from another place (KITH_GEOIP_FILE).",
    ),
    Offset(name="remember_device", default="days=30", least=0, help="How long a device counts as known."),
)


class UserLoginStage(StageRecord, kw_only=True):
    session_duration: int
    remember_me_offset: str
    terminate_other_sessions: bool
    network_binding: str
    geoip_binding: str
    remember_device: str


RESOURCE = Resource(
    path="/stages/user_login/",
    name="UserLoginStage",
    record=UserLoginStage,
    key="stage_uuid",
    family=STAGES,
    kind="userlogin",
    table=kind_table("identity_stages_user_login", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "session_duration", "remember_me_offset", "terminate_other_sessions"),
)


async def show(turn: Turn[UserLoginStage]) -> Outcome:
    may_stay = bool(read_offset(turn.stage.remember_me_offset))
    if may_stay or not turn.may_act:
        name = turn.context.pending_user_identifier or ""
        return Challenge("userlogin", {"pending_user": name, "offers_remember_me": may_stay})
    return await take(turn, {})


async def take(turn: Turn[UserLoginStage], answer: dict[str, Any]) -> Outcome:
    user = await turn.pending_user()
    if user is None:
        return Denied("Sign-in failed.", "user_login without a pending user")
    if not turn.has_proof:
        return Denied("Sign-in failed.", "nothing in this flow has asked them to prove who they are")
    refusal = await find_denial(turn, user)
    if refusal is not None:
        return refusal
    if expired_passwords.must_change(turn, user):
        return Denied(expired_passwords.EXPIRED, "the expired password was not changed on the way")
    if not await _source_admits(turn, user):
        return Denied(source_connection.GONE, "the source they came from lets them in no more")
    await users.signed_in(turn.work.db, user.id, turn.work.now)  # from here on nobody changes the account beside us
    if not await proofs.still_count(turn.work, turn.context):
        await turn.work.rollback()
        return Denied(proofs.CHANGED, "the account was changed since they proved who they are")
    known = read_offset(turn.stage.remember_device) or 0
    told: dict[str, Any] = dict(turn.context.auth_method_args or {})
    told["known_device"] = bool(known) and browser_marks.has(turn, user, "device", known) is not None
    seconds = _seconds(turn.stage.session_duration)
    if answer.get("remember_me") in (True, "true", "on", "1"):
        seconds += read_offset(turn.stage.remember_me_offset) or 0
    method = str(turn.context.auth_method or "flow")
    turn.held = await sessions.sign_in(
        turn.work,
        turn.held.session,
        user.id,
        method=method,
        life=timedelta(seconds=seconds) if seconds else None,
        address=turn.exchange.address,
        bound=_binding(turn.stage),
    )
    if turn.stage.terminate_other_sessions:
        await sessions.end_all(turn.work, user.id, but=turn.held.session.session_uuid)
    await audit.record(
        turn.work,
        "login",
        "stages.user_login",
        user_id=user.id,
        username=user.username,
        context={"auth_method": method, "auth_method_args": told, "flow": turn.flow.slug},
    )
    if known:
        browser_marks.leave(turn, user, "device")
    await guessing.entered(turn.work, turn.exchange, user.id, browser=True)
    await reputation_scores.change(turn.work, identifier=user.username, ip=turn.exchange.address, by=1)
    await messages.leave(turn.work, user.id, "Successfully logged in!", "success")
    return PASSED


async def _source_admits(turn: Turn[UserLoginStage], user: User) -> bool:
    coming = turn.context.connection
    if coming is None:
        return True
    sources = turn.work.find(SignInSources)  # type: ignore[type-abstract]
    return await sources.admits(turn.work, user, coming, turn.context.public(), client_ip=turn.exchange.address)


def _binding(stage: UserLoginStage) -> SessionBinding | None:
    found = SessionBinding(stage.network_binding, stage.geoip_binding)
    return found if found != SessionBinding() else None


def _seconds(duration: Any) -> float:
    """A number of seconds in older records, a duration as text in newer ones."""
    if isinstance(duration, int):
        return float(duration)
    return read_offset(str(duration)) or 0.0


STAGE = StageKind(RESOURCE, show, take)
