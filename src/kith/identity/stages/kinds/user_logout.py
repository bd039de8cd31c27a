"""Ends the session."""

from __future__ import annotations

from typing import Any

from kith.identity.audit import service as audit
from kith.identity.flows.stages import STAGES, StageRecord
from kith.identity.rest import Resource
from kith.identity.sessions import store
from kith.identity.sessions.impersonation_record import record_end
from kith.identity.sessions.service import SessionEnded
from kith.identity.stages.turn import PASSED, Challenge, Outcome, StageKind, Turn
from kith.identity.users import store as users


class UserLogoutStage(StageRecord, kw_only=True):
    """No settings of its own."""


RESOURCE = Resource(
    path="/stages/user_logout/",
    name="UserLogoutStage",
    record=UserLogoutStage,
    key="stage_uuid",
    family=STAGES,
    kind="userlogout",
    table=None,
    fields=(),
    exact=("name",),
)


async def show(turn: Turn[UserLogoutStage]) -> Outcome:
    if turn.may_act:
        return await take(turn, {})
    return Challenge("userlogout", {}) if turn.held.session.user_id is not None else PASSED


async def take(turn: Turn[UserLogoutStage], _answer: dict[str, Any]) -> Outcome:
    user_id = turn.held.session.user_id
    if user_id is not None:
        login = await users.find_login_by_id(turn.work.db, user_id)
        await audit.record(
            turn.work, "logout", "stages.user_logout", user_id=user_id, username=login.username if login else ""
        )
    await record_end(turn.work, turn.held.session)
    await store.end(turn.work.db, turn.held.session.session_uuid)
    turn.work.announce(SessionEnded(session_uuid=turn.held.session.session_uuid))
    turn.signed_out = True
    return PASSED


STAGE = StageKind(RESOURCE, show, take)
